import { expect, it } from "vitest";
import { classify } from "../../src/schemes/access-governance/answers.js";
import { readVectors } from "./vector-file.js";

interface Vector {
  name: string;
  result: { status?: number; headers?: [string, string][]; resent?: boolean; failure?: string };
  attempt: number;
  outcome: string;
  code?: string;
  earlier?: boolean;
  warns?: boolean;
  /** null: nothing that can be obeyed was asked for. */
  retryAfterMs?: number | null;
}

const { now, cases } = readVectors<{ now: number; cases: Vector[] }>("retry.json");

it.each(cases)("$name", ({ result, attempt, ...wanted }) => {
  const given = result.failure === undefined ? { headers: [], ...result } : result;
  const seen = classify(given as Parameters<typeof classify>[0], attempt, now);
  expect(seen.outcome).toBe(wanted.outcome);
  if (wanted.code !== undefined) expect(seen).toHaveProperty("code", wanted.code);
  if (wanted.earlier !== undefined) expect(seen).toHaveProperty("earlier", wanted.earlier);
  if (wanted.warns !== undefined) expect("warning" in seen).toBe(wanted.warns);
  if (wanted.retryAfterMs === null) expect(seen).not.toHaveProperty("retryAfterMs");
  else if (wanted.retryAfterMs !== undefined)
    expect(seen).toHaveProperty("retryAfterMs", wanted.retryAfterMs);
  // Hints say where to look.
  if ("hints" in seen && result.status !== undefined) expect(seen.hints).not.toEqual([]);
});

it("covers every status, each with exactly one outcome", () => {
  const outcomes = new Set<string>();
  for (let status = 200; status < 600; status++)
    outcomes.add(classify({ status, headers: [] }, 1, now).outcome);
  expect([...outcomes].sort()).toEqual(["accepted", "duplicate", "final", "retry", "setup"]);
});
