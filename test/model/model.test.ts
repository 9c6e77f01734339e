import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { itWith } from "../kit/needs.js";
import { hasTools } from "../kit/outside-tool.js";

const spin = hasTools("spin and gcc");
const source = readFileSync(new URL("delivery.pml", import.meta.url), "utf8");
const page = readFileSync(new URL("../../docs/proof.md", import.meta.url), "utf8");
const LIMIT = { timeout: 120_000 };
const SAFETY = ["-DSAFETY", "-DNOCLAIM"];

/** Checks the whole of a model, with so many faults; what spin says of it. */
function checked(model: string, faults: number, options: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "hookproof-model-"));
  const run = (program: string, ...given: string[]) =>
    execFileSync(program, given, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  try {
    writeFileSync(join(folder, "delivery.pml"), model);
    run("spin", "-a", `-DFAULTS=${faults}`, "delivery.pml");
    run("gcc", "-O2", "-w", "-DNOREDUCE", "-DCOLLAPSE", ...options, "-o", "pan", "pan.c");
    return run("./pan", "-m1000000", ...(options === SAFETY ? [] : ["-a", "-f"]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("the model of a delivery, every state of it", () => {
  itWith("spin and gcc", spin)(
    "runs once, in order, and loses nothing, with four faults anywhere",
    LIMIT,
    () => {
      const report = checked(source, 4, SAFETY);
      expect(report).toContain("errors: 0");
      const [, states = ""] = /(\d+) states, stored/.exec(report) ?? [];
      expect(page).toContain(`${Number(states).toLocaleString("en-US")} states`);
    },
  );

  itWith("spin and gcc", spin)("comes to its end once two faults have passed", LIMIT, () => {
    expect(checked(source, 2, ["-DNFAIR=6"])).toContain("errors: 0");
  });

  const broken: readonly (readonly [what: string, text: string, instead: string])[] = [
    ["the fence out of reschedule", "phase[i] == UNKNOWN && HOLDS(w, e))", "phase[i] == UNKNOWN)"],
    ["a lease that ends when it begins", "live[e] = true; right[i] = true", "right[i] = true"],
    ["no order of a key", "(!live[1 - e] && (e == 0 || state[0] != PENDING))", "(true)"],
    ["a receiver that forgets", "memory[e] = COMMITTED;", "memory[e] = FREE;"],
  ];
  itWith("spin and gcc", spin).each(broken)("would see %s", LIMIT, (_what, text, instead) => {
    expect(source.split(text)).toHaveLength(2);
    expect(
      checked(
        source.replace(text, () => instead),
        3,
        SAFETY,
      ),
    ).toContain("assertion violated");
  });
});
