import { readdirSync, readFileSync } from "node:fs";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { createExpressions } from "../../service/src/automations/expressions.js";
import fc from "../kit/fast-check.js";
import { itWith } from "../kit/needs.js";

const expressions = createExpressions();
afterAll(() => expressions.stop());

const TRIGGER = JSON.stringify({
  email: "ada@example.com",
  count: 5,
  half: 0.5,
  tags: ["a", "b"],
  nothing: null,
  "with space": true,
  nested: { deep: { value: "x" } },
});
const CONTEXT = `{"trigger":${TRIGGER},"lookup":{"id":"u1"}}`;

/** What the expressions' processes of this one have held at most so far, in kB. */
function peaksOfCelProcesses(): number[] {
  return readdirSync("/proc")
    .filter((pid) => /^[0-9]+$/.test(pid))
    .flatMap((pid) => {
      try {
        const status = readFileSync(`/proc/${pid}/status`, "utf8");
        const isOurs = new RegExp(`^PPid:\\s+${process.pid}$`, "m").test(status);
        if (!isOurs || !readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("cel-process")) return [];
        return [Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0)];
      } catch {
        return []; // it has ended meanwhile
      }
    });
}

/** An evaluation for an automation of its own, which nothing is known of. */
let automations = 0;
const evaluation = (context = CONTEXT) => ({ context, automationId: `automation-${automations++}`, now: 0 });

async function value(expression: string, context = CONTEXT, by = expressions): Promise<unknown> {
  const outcome = await by.values(evaluation(context), [expression]);
  return outcome.ok ? JSON.parse(outcome.value[0] as string) : outcome.failure.code;
}

describe("an expression", () => {
  it.each<[expression: string, value: unknown]>([
    ["ctx.trigger.email", "ada@example.com"],
    ["ctx.trigger['with space']", true],
    ["ctx.trigger.nested.deep.value + '!'", "x!"],
    ["ctx.lookup.id", "u1"],
    ["ctx.trigger.count", 5],
    ["ctx.trigger.count + 1.0", 6],
    ["ctx.trigger.count == 5", true],
    ["ctx.trigger.half", 0.5],
    ["ctx.trigger.nothing", null],
    ["ctx.trigger.tags.map(t, t + t)", ["aa", "bb"]],
    ["has(ctx.trigger.absent)", false],
    ["ctx.trigger.email.lowerAscii().split('@')[1]", "example.com"],
    ["ctx.trigger.email.matches('^[a-z]+@example[.]com$')", true],
    // Values that JSON has no type for are written as protobuf's mapping to JSON writes them.
    ["timestamp('2026-01-02T03:04:05Z')", "2026-01-02T03:04:05Z"],
    ["duration('1h')", "3600s"],
    ["b'abc'", "YWJj"],
    ["9007199254740993", "9007199254740993"],
    ["7u", 7],
    ["1.0 / 0.0", "Infinity"],
    ["{1: 'a', 'b': [1]}", { "1": "a", b: [1] }],
    ["type(1)", "int"],
  ])("%s gives %j", async (expression, expected) => {
    expect(await value(expression)).toEqual(expected);
  });

  it.each<[expression: string, code: string]>([
    ["ctx.trigger.absent", "FIELD_MISSING"],
    ["ctx.trigger['absent']", "FIELD_MISSING"],
    ["ctx.later.id", "FIELD_MISSING"],
    ["ctx.trigger.email.length", "FIELD_MISSING"],
    ["ctx.trigger.tags[2]", "FIELD_MISSING"],
    ["ctx.trigger.count + 1", "EXPRESSION_FAILED"],
    ["1 / 0", "EXPRESSION_FAILED"],
    ["other", "EXPRESSION_FAILED"],
    ["nothing(1)", "EXPRESSION_FAILED"],
    ["ctx.trigger.email.matches('(')", "EXPRESSION_FAILED"],
    ["ctx.trigger.", "EXPRESSION_INVALID"],
    ["", "EXPRESSION_INVALID"],
    ["(".repeat(50_000), "EXPRESSION_TOO_LARGE"],
  ])("%s fails with %s", async (expression, code) => {
    expect(await value(expression)).toBe(code);
  });

  it("is checked without being evaluated", async () => {
    expect(await expressions.check("ctx.trigger.absent")).toEqual({ ok: true, value: undefined });
    expect(await expressions.check("ctx.trigger.")).toMatchObject({
      ok: false,
      failure: { code: "EXPRESSION_INVALID", message: expect.stringContaining("1:12") },
    });
  });

  it("that is a condition is true or false, and nothing else", async () => {
    expect(await expressions.condition(evaluation(), "ctx.trigger.count > 4")).toEqual({
      ok: true,
      value: true,
    });
    expect(await expressions.condition(evaluation(), "ctx.trigger.count > 5")).toEqual({
      ok: true,
      value: false,
    });
    for (const expression of ["ctx.trigger.count", "null", "'true'", "type(1)"])
      expect(await expressions.condition(evaluation(), expression)).toMatchObject({
        failure: { code: "CONDITION_NOT_BOOLEAN" },
      });
  });
});

describe("an attempt to reach what is behind the values", () => {
  it.each([
    "ctx.constructor",
    "ctx.__proto__",
    "ctx.trigger.__proto__",
    "ctx.trigger['__proto__']",
    "ctx.trigger['constructor']['constructor']",
    "ctx.trigger.toString",
    "ctx.trigger.email.constructor",
    "ctx.trigger.tags.constructor",
    "ctx.trigger.tags['length']",
    "constructor",
    "globalThis",
    "process",
    "this",
    "require('node:fs')",
    "ctx.trigger.constructor.constructor('return process')()",
  ])("%s fails", async (expression) => {
    expect(["FIELD_MISSING", "EXPRESSION_FAILED", "EXPRESSION_INVALID"]).toContain(await value(expression));
  });

  it("finds members of these names where a body has them, and only those", async () => {
    const context = '{"trigger":{"__proto__":{"polluted":1},"constructor":{"prototype":2},"toString":3}}';
    expect(await value("ctx.trigger.__proto__.polluted", context)).toBe(1);
    expect(await value("ctx.trigger.constructor", context)).toEqual({ prototype: 2 });
    expect(await value("ctx.trigger.toString", context)).toBe(3);
    expect(await value("ctx.trigger.polluted", context)).toBe("FIELD_MISSING");
    expect(await value("has(ctx.trigger.valueOf)", context)).toBe(false);
    const whole = await expressions.values(evaluation(context), ["ctx.trigger", '{"__proto__": {"a": 1}}']);
    expect(whole).toEqual({
      ok: true,
      value: [context.slice('{"trigger":'.length, -1), '{"__proto__":{"a":1}}'],
    });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe("an expression without an end", () => {
  const long = `{"trigger":{"list":[${new Array(20_000).fill(1)}],"text":"${"x".repeat(40_000)}"}}`;
  const doubled = (start: string, times: number) => `[${start}]${".map(a, a + a)".repeat(times)}[0]`;
  const impatient = createExpressions({ timeoutMs: 300 }); // the limit that is tested
  const patient = createExpressions({ timeoutMs: 60_000 });
  afterAll(() => Promise.all([impatient.stop(), patient.stop()]));

  it.each<[what: string, expression: string]>([
    ["loops in loops", "ctx.trigger.list.all(a, ctx.trigger.list.all(b, true))"],
    ["a pattern that tries everything", "ctx.trigger.text.matches('(x?){500}x{500}$')"],
  ])("ends after the time a step has: %s", async (_what, expression) => {
    expect(await impatient.values(evaluation(long), [expression])).toMatchObject({
      failure: {
        code: "EXPRESSION_TIMEOUT",
        message: "not done after 300 ms",
      },
    });
    expect(await value("1 + 1", "{}", patient)).toBe(2);
  });

  it.each<[what: string, expression: string, code: string]>([
    ["a text that doubles", `${doubled("'abcdefgh'", 24)}.size()`, "EXPRESSION_TOO_LARGE"],
    ["a text longer than there are", doubled("'abcdefgh'", 40), "EXPRESSION_TOO_LARGE"],
    ["bytes that double", `${doubled("b'abcdefgh'", 27)}.size()`, "EXPRESSION_TOO_LARGE"],
    ["a list that doubles", `${doubled("[1]", 40)}.size()`, "EXPRESSION_TOO_LARGE"],
    ["many bytes", "ctx.trigger.list.map(i, bytes(ctx.trigger.text)).size()", "EXPRESSION_TOO_LARGE"],
    ["the longest sum of texts", `${doubled("'abcdefgh'", 17)}.size()`, "none"],
    ["one more", `(${doubled("'abcdefgh'", 17)} + 'a').size()`, "EXPRESSION_TOO_LARGE"],
    ["the longest sum of bytes", `${doubled("b'abcdefgh'", 17)}.size()`, "none"],
    ["one more byte", `(${doubled("b'abcdefgh'", 17)} + b'a').size()`, "EXPRESSION_TOO_LARGE"],
    ["the longest sum of lists", `${doubled("[1]", 20)}.size()`, "none"],
    ["one more entry", `(${doubled("[1]", 20)} + [1]).size()`, "EXPRESSION_TOO_LARGE"],
    ["every entry of a long list, twice", "ctx.trigger.list.map(a, a).map(a, a)", "none"],
    ["as much as a step may give", "[0, 1, 2, 3, 4, 5].map(i, ctx.trigger.text)", "none"],
    [
      "a result as long as seven bodies",
      "[0, 1, 2, 3, 4, 5, 6].map(i, ctx.trigger.text)",
      "RESULT_TOO_LARGE",
    ],
  ])("takes no more memory than a step has, and the next one works: %s", async (_what, expression, code) => {
    // Of its own: the garbage of an evaluation before it is memory of the same process.
    const own = createExpressions({ timeoutMs: 60_000 });
    onTestFinished(() => own.stop());
    const given = await value(expression, long, own);
    expect(typeof given === "string" ? given : "none").toBe(code);
    expect(await value("1 + 1", "{}", own)).toBe(2);
  });

  itWith("Linux", process.platform === "linux")(
    "holds less than 512 MB, whatever kind of memory it is",
    async () => {
      let most = 0;
      const timer = setInterval(() => {
        for (const kilobytes of peaksOfCelProcesses()) most = Math.max(most, kilobytes);
      }, 5);
      await value("ctx.trigger.list.map(i, bytes(ctx.trigger.text)).size()", long, patient);
      await value(`${doubled("b'abcdefgh'", 27)}.size()`, long, patient);
      clearInterval(timer);
      expect(most).toBeGreaterThan(0);
      expect(most).toBeLessThan(512 * 1024);
    },
  );

  it("holds nobody else up meanwhile", async () => {
    const own = createExpressions({ timeoutMs: 600_000 });
    const endless = value("ctx.trigger.list.all(a, ctx.trigger.list.all(b, true))", long, own);
    let hasEnded = false;
    const ended = expect(endless.finally(() => (hasEnded = true))).rejects.toThrow("stopped");
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(hasEnded).toBe(false);
    await own.stop();
    await ended;
  });

  it("and a context too deep to read are failures too", async () => {
    const deep = `{"trigger":${"[".repeat(32_000)}${"]".repeat(32_000)}}`;
    expect(await value("1", deep)).toBe("CONTEXT_TOO_DEEP");
    expect(await value("1")).toBe(1);
  });
});

describe("whatever is written between braces", () => {
  const words = fc.constantFrom(
    ..."ctx trigger email tags . [ ] ( ) { } , : ? + - * / % == < in ! && || 0 1.5 2u 'a' b'x' null true map all has size string matches __proto__ \\ \"".split(
      " ",
    ),
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(words, { maxLength: 12 }).map((all) => all.join(" ")),
  );

  it("is a value of JSON or a failure with a code", async () => {
    await fc.assert(
      fc.asyncProperty(text, async (expression) => {
        const outcome = await expressions.values(evaluation(), [expression]);
        if (outcome.ok) expect(() => JSON.parse(outcome.value[0] as string)).not.toThrow();
        else expect(outcome.failure.code).toMatch(/^(EXPRESSION_INVALID|EXPRESSION_FAILED|FIELD_MISSING)$/);
      }),
      { numRuns: 500 },
    );
  });
});

describe("the process", () => {
  it("that has been stopped answers no more, and what waits is told", async () => {
    const own = createExpressions();
    expect(await own.check("1")).toMatchObject({ ok: true });
    const waiting = [own.check("1"), own.check("2")];
    const told = Promise.all(waiting.map((each) => expect(each).rejects.toThrow("stopped")));
    await own.stop();
    await told;
    await expect(own.check("1")).rejects.toThrow("stopped");
    await own.stop();
  });
});
