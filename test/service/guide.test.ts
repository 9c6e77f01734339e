import { readFileSync } from "node:fs";
import { fixedClock } from "hookproof/testing";
import { afterAll, describe, expect, it } from "vitest";
import { createExpressions } from "../../service/src/automations/expressions.js";
import { runSteps } from "../../service/src/automations/run-steps.js";

const guide = readFileSync(new URL("../../docs/guides/automations.md", import.meta.url), "utf8");
const [, body = ""] = /```json\n([\s\S]*?)```/.exec(guide) ?? [];
const rows = [...guide.matchAll(/^\| `(.*\{\{.*)` +\| `(.*)` +\|$/gm)].map(
  ([, template, gives]) => [template, gives] as [string, string],
);
const expressions = createExpressions();
afterAll(() => expressions.stop());

describe("the guide to automations", () => {
  it("shows templates", () => expect(rows.length).toBeGreaterThan(5));

  it.each(rows)("is right about %s", async (template, gives) => {
    const steps = [{ name: "shown", condition: "", templates: { value: JSON.parse(template) } }];
    const input = { automationId: "any", steps, body, finished: [] };
    for await (const { result } of runSteps(input, expressions, fixedClock(0)))
      expect(JSON.parse(result)).toEqual({ value: JSON.parse(gives) });
    expect.assertions(1);
  });
});
