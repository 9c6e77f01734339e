import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { createExpressions } from "../../service/src/automations/expressions.js";

interface Case {
  file: string;
  section: string;
  name: string;
  expression: string;
  value?: unknown;
  /** True where there must be no value. */
  error?: true;
}

const file = new URL("../vectors/data/cel_spec_cases.json", import.meta.url);
const { cases, count } = JSON.parse(readFileSync(file, "utf8")) as { cases: Case[]; count: number };
const expressions = createExpressions();
afterAll(() => expressions.stop());

/** What an expression gives, as JSON, which has no zero below zero; no value where it fails. */
async function given(expression: string): Promise<unknown> {
  const outcome = await expressions.values({ context: "{}", automationId: "any", now: 0 }, [expression]);
  return outcome.ok ? { value: asJson(JSON.parse(outcome.value[0] as string)) } : { error: true };
}

const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));

describe("cel-spec's conformance cases", () => {
  it("are all here", () => {
    expect(cases).toHaveLength(1301);
    expect(count).toBe(1301);
  });

  it.each([...new Set(cases.map(({ file }) => file))])("are right: %s", async (file) => {
    const ofFile = cases.filter((each) => each.file === file);
    const wrong = [];
    for (const { section, name, expression, value, error } of ofFile) {
      const expected = error ? { error } : { value: asJson(value) };
      const actual = await given(expression);
      if (!isDeepStrictEqual(actual, expected)) wrong.push({ section, name, expression, actual });
    }
    expect(wrong).toEqual([]);
  });
});
