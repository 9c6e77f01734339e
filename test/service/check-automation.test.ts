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
