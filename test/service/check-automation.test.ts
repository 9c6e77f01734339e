import { afterAll, describe, expect, it } from "vitest";
import type { AutomationInput } from "../../service/src/automations/automation.js";
import { checkAutomation, keySetRules } from "../../service/src/automations/check-automation.js";
import { createExpressions } from "../../service/src/automations/expressions.js";

const expressions = createExpressions();
afterAll(() => expressions.stop());

const good: AutomationInput = {
  displayName: "Offboarding",
  trigger: { jwt: { jwksUrl: "https://keys.example.com/jwks.json" } },
  allowedCidrs: ["203.0.113.0/24", "2001:db8::/32"],
  published: true,
  enabled: true,
  steps: [{ name: "find", condition: "ctx.trigger.a == 1", templates: { id: "{{ ctx.trigger.id }}" } }],
};
const fieldsOf = async (change: Partial<AutomationInput>, allowInsecure = false) =>
  (await checkAutomation({ ...good, ...change }, expressions, keySetRules(allowInsecure))).map(
    ({ field }) => field,
  );
const steps = (...changes: object[]) => ({
  steps: changes.map((change) => ({ name: "a", condition: "", templates: {}, ...change })),
});

describe("an automation", () => {
  it("that is right has no problems", async () => {
    expect(await fieldsOf({})).toEqual([]);
    expect(await fieldsOf({ trigger: { hmac: {} }, allowedCidrs: [], steps: [] })).toEqual([]);
  });

  it.each(["http://keys.example.com/jwks.json", "https://127.0.0.1/jwks", "not a url", "file:///etc/passwd"])(
    "has a key set at a public address over HTTPS, not at %s",
    async (jwksUrl) => {
      expect(await fieldsOf({ trigger: { jwt: { jwksUrl } } })).toEqual(["trigger.jwt.jwksUrl"]);
    },
  );

  it("may have a key set on loopback where the service is told so", async () => {
    const trigger = { jwt: { jwksUrl: "http://127.0.0.1:4300/jwks.json" } };
    expect(await fieldsOf({ trigger }, true)).toEqual([]);
    expect(await fieldsOf({ trigger: { jwt: { jwksUrl: "http://keys.example.com/" } } }, true)).toHaveLength(
      1,
    );
  });

  it.each<[what: string, change: Partial<AutomationInput>, fields: string[]]>([
    ["ranges", { allowedCidrs: ["10.0.0.0/8", "10.0.0.1/8", "x"] }, ["allowedCidrs[1]", "allowedCidrs[2]"]],
    ["a name twice", steps({}, {}), ["steps[1].name"]],
    [
      "names that cannot follow ctx.",
      steps(...["trigger", "in", "true", "1a", "a-b", "", "x".repeat(65)].map((name) => ({ name }))),
      [0, 1, 2, 3, 4, 5, 6].map((index) => `steps[${index}].name`),
    ],
    ["a condition", steps({ condition: "ctx.trigger." }), ["steps[0].condition"]],
    ["a template", steps({ templates: { to: ["x", "{{ 1 + }}"] } }), ["steps[0].templates.to[1]"]],
    ["an open template", steps({ templates: { mail: { to: "{{ a" } } }), ["steps[0].templates.mail.to"]],
    ["a long expression", steps({ condition: `"${"x".repeat(2_000)}"` }), ["steps[0].condition"]],
    ["too many", steps({ templates: { all: new Array(201).fill("{{ 1 }}") } }), ["steps"]],
    [
      "everything at once",
      { ...steps({ name: "in", condition: "(" }), allowedCidrs: ["x"] },
      ["allowedCidrs[0]", "steps[0].name", "steps[0].condition"],
    ],
  ])("with mistakes is told where they are: %s", async (_what, change, fields) => {
    expect(await fieldsOf(change)).toEqual(fields);
  });
});

describe("a mistake that can be known before there is an event", () => {
  /** What is said of an expression of a step that comes behind a step named find. */
  const mistakeOf = async (expression: string, field: "condition" | "templates") => {
    const change =
      field === "condition" ? { condition: expression } : { templates: { x: `{{${expression}}}` } };
    const problems = await checkAutomation(
      { ...good, ...steps({ name: "find" }, { name: "tell", ...change }, { name: "later" }) },
      expressions,
      keySetRules(false),
    );
    const paths = problems.map(({ field }) => field);
    expect(new Set(paths)).toEqual(
      new Set(problems.length === 0 ? [] : [`steps[1].${field === "condition" ? field : "templates.x"}`]),
    );
    return problems[0]?.description ?? "none";
  };

  it.each<[expression: string, mistake: string]>([
    ["undeclared", "is wrong at 1:1: nothing is named undeclared"],
    ["ctx.trigger.a && b.c.d", "1:18: nothing is named b"],
    ["ctx.trigger.list.map(x, y)", "1:25: nothing is named y"],
    ["[1].map(x, x)[0] == x", "1:21: nothing is named x"],
    ["[1].all(i, v, i == w)", "1:20: nothing is named w"],
    ["true || constructor", "nothing is named constructor"],
    ["nofunc(1)", "1:1: no function is named nofunc"],
    ["ctx.trigger.email.length()", "1:18: no function is named length"],
    ["size()", "size() with 0 arguments is no function"],
    ["substring('abc', 1)", "substring() with 2 arguments is no function"],
    ["google.protobuf.Nothing{}", "unknown type: google.protobuf.Nothing"],
    ["has(1)", "1:1: has() takes one field"],
    ["has(ctx)", "has() takes one field"],
    ["[1, 2].map(1, 2)", "1:7: the first argument of map() is a name"],
    ["[1].exists(a.b, true)", "the first argument of exists() is a name"],
    ["[1].all(x)", "all() does not take 1 arguments"],
    ["[1].all(i, i, true)", "the first two arguments of all() are two names"],
    ["ctx.later.id", "1:10: ctx has no later"],
    ["ctx['later']", "ctx has no later"],
    ["has(ctx.nobody)", "ctx has no nobody"],
    ["ctx.tell", "ctx has no tell"],
    ["'abc'.matches('(')", "1:6: error parsing regexp"],
    ["ctx.trigger.email.matches('[')", "error parsing regexp"],
    ["matches(ctx.trigger.email, 'a**')", "error parsing regexp"],
    ["timestamp('2023-02-30T00:00:00Z') < timestamp(ctx.trigger.at)", "is no timestamp"],
    ["duration('1 day')", "1:1: Failed to parse duration"],
    ["int('0x10')", "is no int"],
    ["a +\n b", "1:1: nothing is named a; 2:2: nothing is named b"],
  ])("is refused with its path and its place: %s", async (expression, mistake) => {
    expect(await mistakeOf(expression, "condition")).toContain(mistake);
    expect(await mistakeOf(expression, "templates")).toMatch(/^is wrong at [0-9]+:[0-9]+: /);
  });

  it.each([
    "ctx.find.id",
    "ctx['find'].id",
    "ctx[ctx.trigger.name]",
    "has(ctx.find) && ctx.trigger.absent",
    "ctx.trigger.list.map(ctx, ctx.own)",
    "ctx.trigger.list.exists(x, x.list.exists(y, x == y))",
    "ctx.trigger.m.transformList(k, v, k != '', [k, v])",
    "ctx.trigger.email.matches(ctx.trigger.pattern)",
    "type(ctx.trigger.a) == int || type(timestamp(1)) == google.protobuf.Timestamp",
    "google.protobuf.Duration{seconds: 1} < duration('2s')",
    "strings.quote(ctx.trigger.text)",
    "'%s'.format([ctx.trigger])",
    "int(ctx.trigger.text)",
  ])("is not seen in what may be right: %s", async (expression) => {
    expect(await mistakeOf(expression, "condition")).toBe("none");
    expect(await mistakeOf(expression, "templates")).toBe("none");
  });
});
