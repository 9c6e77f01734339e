import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { beforeAll, describe, expect } from "vitest";
import { itWith } from "../kit/needs.js";
import { hasTools } from "../kit/outside-tool.js";
import { bundle } from "../simulation/bundle.mjs";
import { type ModelStep, replayed } from "./replayed.js";

const spin = hasTools("spin and gcc");
const model = readFileSync(new URL("delivery.pml", import.meta.url), "utf8");
const SEEDS = 60;
let traces: ModelStep[][] = [];

beforeAll(async () => {
  const file = await bundle(undefined, "model-traces", "model-traces");
  const { stdout } = await promisify(execFile)(process.execPath, [file, "1", String(SEEDS)]);
  const lines = stdout.trim().split("\n");
  traces = lines.map((line) => (JSON.parse(line) as { steps: ModelStep[] }).steps);
});

describe("traces of the simulator, step by step through the model", () => {
  itWith("spin and gcc", spin)("are allowed by it, each step of them", () => {
    expect(replayed(model, traces)).toEqual(traces.map(({ length }) => length));
    const seen = new Set(traces.flat().map(([name]) => name));
    for (const name of ["CLAIM", "SEND", "RUN", "COMPLETE", "RESCHEDULE", "FAIL", "CRASH"])
      expect(seen).toContain(name);
  });

  itWith("spin and gcc", spin)("are refused where two steps of a worker have changed places", () => {
    const broken = traces.filter(({ length }) => length < 40).flatMap(swapped);
    expect(broken.length).toBeGreaterThan(50);
    const far = replayed(
      model,
      broken.map(({ steps }) => steps),
    );
    expect(broken.filter(({ at }, index) => (far[index] ?? 0) > at + 1)).toEqual([]);
  });

  itWith("spin and gcc", spin)("are refused where an event runs twice", () => {
    const run = traces.filter((steps) => steps.some(([name]) => name === "RUN"));
    const broken = run.map((steps) => {
      const runs = steps.findIndex(([name]) => name === "RUN");
      return [...steps.slice(0, runs + 1), ...steps.slice(runs)];
    });
    const far = replayed(model, broken);
    for (const [index, steps] of broken.entries()) expect(far[index]).toBeLessThan(steps.length);
  });
});

/** A trace with two neighbouring steps of one worker about one event in the wrong order, once for each two. */
function swapped(steps: readonly ModelStep[]): { at: number; steps: ModelStep[] }[] {
  return steps.flatMap((step, at) => {
    const next = steps[at + 1];
    const isOfWorker = (one: ModelStep) => !/RUN|CRASH|EXPIRE/.test(one[0]);
    if (!next || !isOfWorker(step) || !isOfWorker(next) || step[1] !== next[1] || step[2] !== next[2])
      return [];
    return [{ at, steps: [...steps.slice(0, at), next, step, ...steps.slice(at + 2)] }];
  });
}
