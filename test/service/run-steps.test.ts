import { fixedClock } from "hookproof/testing";
import { afterAll, describe, expect, it } from "vitest";
import { createExpressions } from "../../service/src/automations/expressions.js";
import { type RunInput, runSteps, type Step } from "../../service/src/automations/run-steps.js";

const expressions = createExpressions();
afterAll(() => expressions.stop());

const BODY = '{"user":{"email":"ada@example.com","active":false},"__proto__":{"x":1}}';
const step = (name: string, templates: Step["templates"], condition = ""): Step => ({
  name,
  condition,
  templates,
});

async function run(steps: Step[], input: Partial<RunInput> = {}) {
  const clock = fixedClock(1_000);
  const results = [];
  const whole = { automationId: "any", steps, body: BODY, finished: [], ...input };
  for await (const result of runSteps(whole, expressions, clock)) {
    results.push(result);
    clock.advance(5);
  }
  return results;
}

describe("the steps of a run", () => {
  it("read the trigger and what earlier steps gave, and record when they ran", async () => {
    const results = await run([
      step("find", { email: "{{ ctx.trigger.user.email }}", fixed: 7 }),
      step("tell", { text: "Dear {{ ctx.find.email }} ({{ ctx.find.fixed }})", all: "{{ ctx.find }}" }),
    ]);
    expect(results).toEqual([
      {
        name: "find",
        status: "STEP_STATUS_SUCCEEDED",
        result: '{"email":"ada@example.com","fixed":7}',
        startedAt: 1_000,
        finishedAt: 1_000,
      },
      {
        name: "tell",
        status: "STEP_STATUS_SUCCEEDED",
        result: '{"text":"Dear ada@example.com (7)","all":{"email":"ada@example.com","fixed":7}}',
        startedAt: 1_005,
        finishedAt: 1_005,
      },
    ]);
  });

  it("are skipped where their condition is false, and give nothing", async () => {
    const results = await run([
      step("only_active", { a: 1 }, "ctx.trigger.user.active"),
      step("inactive", { b: 2 }, "!ctx.trigger.user.active"),
      step("asks", { given: "{{ has(ctx.only_active) }}" }),
    ]);
    expect(results.map(({ status, result }) => [status, result])).toEqual([
      ["STEP_STATUS_SKIPPED", ""],
      ["STEP_STATUS_SUCCEEDED", '{"b":2}'],
      ["STEP_STATUS_SUCCEEDED", '{"given":false}'],
    ]);
  });

  it.each<[what: string, failing: Step, code: string, message: string]>([
    [
      "a missing field",
      step("bad", { x: "{{ ctx.trigger.absent }}" }),
      "FIELD_MISSING",
      "ctx.trigger.absent",
    ],
    ["a step that gave nothing", step("bad", { x: "{{ ctx.skipped.x }}" }), "FIELD_MISSING", "ctx.skipped.x"],
    ["a condition over a missing field", step("bad", {}, "ctx.trigger.absent"), "FIELD_MISSING", "absent"],
    ["a template nobody checked", step("bad", { x: "{{ 1" }), "EXPRESSION_INVALID", "templates.x"],
    ["a condition that is a text", step("bad", {}, "'yes'"), "CONDITION_NOT_BOOLEAN", "neither"],
  ])("end with the first that fails: %s", async (_what, failing, code, message) => {
    const results = await run([step("skipped", { x: 1 }, "false"), failing, step("after", {})]);
    expect(results).toMatchObject([
      { status: "STEP_STATUS_SKIPPED" },
      { name: "bad", status: "STEP_STATUS_FAILED", result: "", failure: { code } },
    ]);
    expect(results[1]?.failure?.message).toContain(message);
  });

  it("go on after the results from before a crash", async () => {
    const steps = [step("a", { n: 1 }), step("b", { n: "{{ ctx.a.n }}" }), step("c", { n: "{{ ctx.b.n }}" })];
    const [first, second] = await run(steps);
    const finished = [{ ...first, result: '{"n":41}' }] as RunInput["finished"];
    expect((await run(steps, { finished })).map(({ result }) => result)).toEqual(['{"n":41}', '{"n":41}']);
    const failed = [{ ...second, name: "a", status: "STEP_STATUS_FAILED" }] as RunInput["finished"];
    expect(await run(steps, { finished: failed })).toEqual([]);
  });

  it("over a body deeper than anybody reads fail", async () => {
    const body = `${"[".repeat(32_000)}${"]".repeat(32_000)}`;
    expect(await run([step("a", { x: "{{ 1 }}" })], { body })).toMatchObject([
      { failure: { code: "CONTEXT_TOO_DEEP" } },
    ]);
  });

  it("take a body's members for what they are, whatever their names", async () => {
    const results = await run([
      step("a", { x: "{{ ctx.trigger.__proto__ }}" }),
      step("b", { y: "{{ ctx.a }}" }),
    ]);
    expect(results[1]?.result).toBe('{"y":{"x":{"x":1}}}');
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });
});
