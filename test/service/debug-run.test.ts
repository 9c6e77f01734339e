import { readFileSync } from "node:fs";
import { createService } from "hookproof-service";
import { afterAll, describe, expect, it } from "vitest";
import { createExpressions } from "../../service/src/automations/expressions.js";
import fc from "../kit/fast-check.js";
import { ask, startService } from "./running-service.js";

const service = await createService({
  fixture: {
    users: [{ id: "ada", displayName: "Ada", email: "ada@example.com" }],
    automations: [
      {
        id: "leaver",
        trigger: { hmac: {} },
        published: false,
        steps: [
          {
            name: "lookup",
            condition: "ctx.trigger.type == 'left'",
            templates: { user: "{{ acme.directory.users.v1.GetByID(ctx.trigger.id) }}" },
          },
          {
            name: "mail",
            templates: {
              to: ["{{ ctx.lookup.user.email }}"],
              text: "Until {{ time.format(now(), 'date') }}, {{ ctx.lookup.user.displayName.upperAscii() }}",
            },
          },
          { name: "count", templates: { n: "{{ ctx.trigger.tags.map(tag, tag.name).size() }}" } },
        ],
      },
    ],
  },
  celNamespace: "acme",
  clock: { now: () => Date.parse("2026-11-27T00:00:00Z") },
  validateAnswers: true,
});
afterAll(() => service.stop());

async function post(path: string, body: unknown, method = "POST") {
  const answer = await fetch(`${service.url}/local/v1/${path}`, {
    method,
    headers: { Authorization: `Bearer ${service.controlToken}`, "Content-Type": "application/json" },
    ...(method === "POST" ? { body: typeof body === "string" ? body : JSON.stringify(body) } : {}),
  });
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what it asked for
  return { status: answer.status, body: (await answer.json()) as any };
}
const run = (event: unknown) => post("automations/leaver/debug", { event });

describe("a run that is looked at", () => {
  it("tells what each expression saw, gave and took", async () => {
    const { status, body } = await run({ type: "left", id: "ada", tags: [{ name: "a" }] });
    expect(status).toBe(200);
    expect(body.status).toBe("RUN_STATUS_SUCCEEDED");
    const [lookup, mail, count] = body.steps;
    expect(lookup.expressions[0]).toEqual({
      path: "condition",
      expression: "ctx.trigger.type == 'left'",
      value: "true",
      usedMs: expect.any(Number),
      parts: [
        { expression: "ctx.trigger.type", place: "1:12", times: 1, value: '"left"' },
        { expression: 'ctx.trigger.type == "left"', place: "1:18", times: 1, value: "true" },
      ],
    });
    expect(lookup.expressions[1].parts.map(({ expression }: { expression: string }) => expression)).toEqual([
      "ctx.trigger.id",
      "acme.directory.users.v1.GetByID(ctx.trigger.id)",
    ]);
    expect(mail.result).toEqual({ to: ["ada@example.com"], text: "Until 2026-11-27, ADA" });
    expect(mail.expressions.map(({ path }: { path: string }) => path)).toEqual([
      "templates.to[0]",
      "templates.text",
      "templates.text",
    ]);
    expect(count.expressions[0].parts).toContainEqual({
      expression: "tag.name",
      place: "1:30",
      times: 1,
      value: '"a"',
    });
  });

  it("that fails tells which part failed, and on which value", async () => {
    const { body } = await run({ type: "left", id: "ada", tags: [{ name: "a" }, { nmae: "b" }] });
    expect(body.status).toBe("RUN_STATUS_FAILED");
    expect(body.steps).toHaveLength(3);
    const [one] = body.steps[2].expressions;
    expect(one.failure).toEqual({ code: "FIELD_MISSING", message: "field not found: name" });
    expect(one.failed).toEqual({
      expression: "tag.name",
      place: "1:30",
      on: [{ expression: "tag", value: '{"nmae":"b"}' }],
    });
  });

  it("ends with the step that fails, and skips one whose condition is false", async () => {
    const missing = await run({ type: "left", id: "nobody" });
    expect(missing.body.steps).toHaveLength(1);
    expect(missing.body.steps[0].expressions[1].failed.on).toEqual([
      { expression: "ctx.trigger.id", value: '"nobody"' },
    ]);
    const skipped = await run({ type: "joined", id: "ada" });
    expect(skipped.body.steps[0]).toMatchObject({
      status: "STEP_STATUS_SKIPPED",
      expressions: [{ value: "false" }],
    });
    expect(skipped.body.steps[1].expressions[0].failed).toEqual({
      expression: "ctx.lookup",
      place: "1:4",
      on: expect.any(Array),
    });
  });

  it("keeps nothing: no run, and no entry of the journal", async () => {
    await run({ type: "left", id: "ada", tags: [] });
    expect((await post("automations/leaver/runs", undefined, "GET")).body.list).toEqual([]);
    expect(
      (await post("journal/search", {})).body.list.map(({ path }: { path: string }) => path),
    ).not.toContain("/local/v1/automations/leaver/debug");
  });
});

describe("a bad request", () => {
  it.each<[body: unknown, field: string]>([
    [{}, "event"],
    [{ event: null }, "event"],
    [{ evnt: {} }, "did you mean event?"],
    [{ event: "x".repeat(65_536) }, "larger than 65536 bytes"],
    ["[]", ""],
    ["{", "not valid JSON"],
    ['{"event":1,"event":', "not valid JSON"],
  ])("is 400: %j", async (body, says) => {
    const { status, body: answer } = await post("automations/leaver/debug", body);
    expect({ status, message: answer.message }).toEqual({
      status: 400,
      message: expect.stringContaining(says),
    });
  });

  it("for an automation that is not there is 404", async () => {
    expect((await post("automations/nobody/debug", { event: {} })).status).toBe(404);
  });

  it("of any shape is no 5xx", async () => {
    const member = fc.constantFrom(
      "event",
      "Event",
      "evnt",
      "events",
      "event_",
      "ctx",
      "__proto__",
      "constructor",
    );
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constant({ type: "left", id: "ada", tags: null }),
      fc.constant({ type: "left", id: null }),
    );
    const doubled = fc
      .array(fc.tuple(member, value), { maxLength: 4 })
      .map(
        (members) =>
          `{${members.map(([name, one]) => `${JSON.stringify(name)}:${JSON.stringify(one)}`).join(",")}}`,
      );
    await fc.assert(
      fc.asyncProperty(doubled, async (body) => {
        const { status } = await post("automations/leaver/debug", body);
        expect([200, 400, 429]).toContain(status);
      }),
      { numRuns: 300 },
    );
  });
});

interface Case {
  expression: string;
  error?: true;
}

describe("an expression that is followed", () => {
  const file = new URL("../vectors/data/cel_spec_cases.json", import.meta.url);
  const { cases } = JSON.parse(readFileSync(file, "utf8")) as { cases: Case[] };
  const expressions = createExpressions();
  afterAll(() => expressions.stop());

  it("gives what it gives otherwise: cel-spec's 1,301 cases", async () => {
    const evaluation = { context: "{}", now: 0, automationId: "any" };
    const wrong = [];
    for (const { expression } of cases) {
      const plain = await expressions.values(evaluation, [expression]);
      const { json, failure } = await expressions.trace(evaluation, expression);
      const [expected, given] = plain.ok ? [plain.value[0], json] : [plain.failure.code, failure?.code];
      if (expected !== given) wrong.push({ expression, expected, given });
    }
    expect(wrong).toEqual([]);
  });

  it.each<[expression: string, failed: string, on: string[]]>([
    ["ctx.trigger.n + 1", "ctx.trigger.n + 1", ["ctx.trigger.n is 3"]],
    ["ctx.trigger.user.email", "ctx.trigger.user.email", ['ctx.trigger.user is {"name":"x"}']],
    ["ctx.trigger.tags[5]", "ctx.trigger.tags[5]", ['ctx.trigger.tags is ["a","bb"]']],
    ["size(ctx.trigger.tags[7].x)", "ctx.trigger.tags[7]", ['ctx.trigger.tags is ["a","bb"]']],
    [
      "ctx.trigger.tags.map(t, t)[9]",
      "ctx.trigger.tags.map(t, t)[9]",
      ['ctx.trigger.tags.map(t, t) is ["a","bb"]'],
    ],
    ["ctx.trigger.user['email']", 'ctx.trigger.user["email"]', ['ctx.trigger.user is {"name":"x"}']],
    ["true && ctx.trigger.n.matches('a')", 'ctx.trigger.n.matches("a")', ["ctx.trigger.n is 3"]],
    ["ctx.trigger.users.all(i, u, u.id > 0)", "u.id", ['u is {"di":2}']],
    [
      "time.parse(ctx.trigger.user.name, 'date')",
      'time.parse(ctx.trigger.user.name, "date")',
      ['ctx.trigger.user.name is "x"'],
    ],
  ])("%s fails at %s", async (expression, failed, on) => {
    const trigger = { tags: ["a", "bb"], user: { name: "x" }, n: 3, users: [{ id: 1 }, { di: 2 }] };
    const evaluation = { context: JSON.stringify({ trigger }), now: 0, automationId: "any" };
    const traced = await expressions.trace(evaluation, expression);
    expect(traced.failed?.expression).toBe(failed);
    expect(traced.failed?.on.map((one) => `${one.expression} is ${one.value}`)).toEqual(on);
  });

  it.each<[expression: string, value: string, parts: string[]]>([
    [
      "type(timestamp(ctx.trigger.t)) == google.protobuf.Timestamp",
      "true",
      [
        "ctx.trigger.t",
        "timestamp(ctx.trigger.t)",
        "type(timestamp(ctx.trigger.t))",
        "google.protobuf.Timestamp",
        "type(timestamp(ctx.trigger.t)) == google.protobuf.Timestamp",
      ],
    ],
    // What stands in a text is none of the names that macros are expanded to.
    [
      "ctx.trigger.t + 'a@result.com' != ''",
      "true",
      ["ctx.trigger.t", 'ctx.trigger.t + "a@result.com"', 'ctx.trigger.t + "a@result.com" != ""'],
    ],
  ])("%s gives %s, part by part", async (expression, value, parts) => {
    const context = JSON.stringify({ trigger: { t: "2026-01-01T00:00:00Z" } });
    const traced = await expressions.trace({ context, now: 0, automationId: "any" }, expression);
    expect(traced.json).toBe(value);
    expect(traced.parts.map((part) => part.expression)).toEqual(parts);
  });

  it("that never ends tells what was seen until it was ended", async () => {
    const list = JSON.stringify({ trigger: { list: Array.from({ length: 3_000 }, (_, n) => n) } });
    const expression =
      "ctx.trigger.list.all(a, ctx.trigger.list.all(b, ctx.trigger.list.all(c, a + b + c >= 0.0)))";
    let parts: string[] = [];
    // It never ends whatever it is given; how far it gets is the machine's affair, so a busy one gives it more.
    for (const timeoutMs of [500, 4_000, 32_000]) {
      const own = createExpressions({ timeoutMs });
      const traced = await own.trace({ context: list, now: 0, automationId: "any" }, expression);
      await own.stop();
      expect(traced.failure?.code).toBe("EXPRESSION_TIMEOUT");
      parts = traced.parts.map((part) => part.expression);
      if (parts.includes("a + b + c >= 0.0")) break;
    }
    expect(parts).toContain("a + b + c >= 0.0");
  });

  it("with values of any size tells of them in few characters", async () => {
    const context = JSON.stringify({
      trigger: { text: "a".repeat(60_000), deep: JSON.parse(`${"[".repeat(400)}${"]".repeat(400)}`) },
    });
    const expression =
      "[ctx.trigger.text, ctx.trigger.text + 'b'].map(t, t + t).size() + size(ctx.trigger.deep)";
    const { parts, json } = await expressions.trace({ context, now: 0, automationId: "any" }, expression);
    expect(json).toBe("3");
    expect(parts.length).toBeGreaterThan(5);
    for (const { value } of parts) expect(value.length).toBeLessThanOrEqual(301);
  });
});

describe("the look-ups of a step's templates", () => {
  const sixty = (from: number) =>
    Array.from({ length: 60 }, (_, n) => `acme.score(${from + n}) > 0`).join(" && ");
  const step = (one: string, other: string) => ({
    name: "one",
    templates: { a: `{{ ${one} }}`, b: `{{ ${other} }}` },
  });

  it("are made once, and counted together, as in a run", async () => {
    const asked: unknown[] = [];
    await using own = await createService({
      celFunctions: {
        "acme.score": {
          takes: ["int"],
          gives: "int",
          call: (n) => {
            asked.push(n);
            return 1;
          },
        },
      },
      fixture: {
        automations: [
          { id: "same", trigger: { hmac: {} }, steps: [step(sixty(0), sixty(0))] },
          { id: "many", trigger: { hmac: {} }, steps: [step(sixty(0), sixty(60))] },
        ],
      },
    });
    const debug = async (id: string) => {
      const answer = await fetch(`${own.url}/local/v1/automations/${id}/debug`, {
        method: "POST",
        headers: { Authorization: `Bearer ${own.controlToken}`, "Content-Type": "application/json" },
        body: '{"event": {}}',
      });
      // biome-ignore lint/suspicious/noExplicitAny: the test knows what it asked for
      return (await answer.json()) as any;
    };
    expect((await debug("same")).status).toBe("RUN_STATUS_SUCCEEDED");
    expect(asked.toSorted((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 60 }, (_, n) => n));
    const { steps } = await debug("many");
    expect(steps[0].expressions[1].failure.message).toContain("more than 100 look-ups");
  });
});

it("a user that an earlier step looked up has both spellings, and the event its sender's own", async () => {
  const users = [
    { id: "ada", displayName: "Ada", email: "ada@example.com", profile: { home_office: "Rome" } },
  ];
  const steps = [
    { name: "find", templates: { user: "{{ directory.users.v1.GetByID('ada') }}" } },
    {
      name: "tell",
      condition: "has(ctx.find.user.display_name) && !has(ctx.find.user.display_nam)",
      templates: {
        text: "{{ ctx.find.user.display_name }}, {{ ctx.find.user.displayName }}",
        home: "{{ ctx.find.user.profile.home_office }}",
      },
    },
    { name: "sent", templates: { id: "{{ ctx.trigger.user_id }}" } },
  ];
  const service = await startService({
    fixture: { users, automations: [{ id: "two", trigger: { hmac: {} }, steps }] },
  });
  const body = { event: { userId: "ada" } };
  const ran = (await ask(service, "POST", "/local/v1/automations/two/debug", { body })).body.steps;
  expect(ran[1].result).toEqual({ text: "Ada, Ada", home: "Rome" });
  expect(ran[2].failure).toMatchObject({ code: "FIELD_MISSING" });
});
