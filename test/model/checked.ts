// Checks the whole of a Promela model with spin.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The model of a delivery, as text. */
export const MODEL = readFileSync(new URL("delivery.pml", import.meta.url), "utf8");

/** What one run of the checker may take of memory, in megabytes, and of time. */
const MAX_MB = 2_000;
const MAX_MS = 120_000;

/** Its assertions in every state, or these of its properties on every endless path that is weakly fair. */
export type Question = "assertions" | readonly string[];

/** What spin says of a model with so many faults: one report for the assertions, and one for each property. */
export function checked(model: string, faults: number, question: Question): string[] {
  const folder = mkdtempSync(join(tmpdir(), "hookproof-model-"));
  const run = (program: string, ...given: string[]) =>
    execFileSync(program, given, {
      ...{ cwd: folder, encoding: "utf8", timeout: MAX_MS },
      stdio: ["ignore", "pipe", "pipe"],
    });
  // A small search is done before the compiler is.
  const level = faults > 3 ? "-O2" : faults > 1 ? "-O1" : "-O0";
  const fixed = [level, "-w", "-DNOREDUCE", "-DCOLLAPSE", `-DMEMLIM=${MAX_MB}`];
  const build = (...options: string[]) => run("gcc", ...fixed, ...options, "-o", "pan", "pan.c");
  try {
    writeFileSync(join(folder, "delivery.pml"), model);
    run("spin", "-a", `-DFAULTS=${faults}`, "delivery.pml");
    if (question === "assertions") {
      build("-DSAFETY", "-DNOCLAIM");
      return [run("./pan", "-m1000000")];
    }
    build("-DNFAIR=6");
    return question.map((property) => run("./pan", "-m200000", "-w20", "-a", "-f", "-N", property));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
