import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A step of delivery.pml as a trace has it: its name, the worker (0 or 1) and the event (0 or 1). */
export type ModelStep = readonly [name: string, worker: number, event: number];

/** Whose step it is, in each of the model's processes. */
const OWNERS = {
  Worker: ["PWorker->w", "PWorker->e"],
  Crashes: ["PCrashes->w", "0"],
  Time: ["0", "PTime->e"],
  Automation: ["0", "PAutomation->e"],
} as const;

/** Stands after the last step of a trace, and is no step. */
const END = "{255,0,0}";

/** Nothing is seen of it: the worker that comes too late asks the store, which does nothing. */
const UNSEEN = new Set(["RELEASE_LATE"]);

/**
 * How far the model goes with each trace: its length, where the model allows all of it. Each step of the model that has
 * a name happens only when it is the trace's next one; requests arrive, leases end and runs fail in between as they may.
 */
export function replayed(model: string, traces: readonly (readonly ModelStep[])[]): number[] {
  const folder = mkdtempSync(join(tmpdir(), "hookproof-traces-"));
  const run = (program: string, ...given: string[]) =>
    execFileSync(program, given, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  try {
    writeFileSync(join(folder, "traces.pml"), following(model, traces));
    run("spin", "-a", "traces.pml");
    run("gcc", "-O1", "-w", "-DNOREDUCE", "-DSAFETY", "-DNOCLAIM", "-o", "pan", "pan.c");
    const report = run("./pan", "-m1000000");
    if (!report.includes("errors: 0")) throw new Error(report);
    const found = new Map(
      [...report.matchAll(/^trace (\d+): (\d+)$/gm)].map(([, n, far]) => [n, Number(far)]),
    );
    return traces.map((_, index) => found.get(String(index)) ?? 0);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The model as it is, with the traces beside it and its named steps bound to them. */
function following(model: string, traces: readonly (readonly ModelStep[])[]): string {
  const names = [...new Set([...model.matchAll(/STEP\(([A-Z_]+), /g)].map(([, name = ""]) => name))];
  for (const [name] of traces.flat())
    if (!names.includes(name) || UNSEEN.has(name)) throw new Error(`the model has no step ${name}`);
  const numbers = traces.map((steps) =>
    steps.map(([name, ...of]) => `{${names.indexOf(name)},${of}}`).concat(END),
  );
  const longest = Math.max(...traces.map(({ length }) => length)) + 1;
  let owner: keyof typeof OWNERS | undefined;
  const bound = model.split("\n").map((line) => {
    const [, begun] = /^proctype (\w+)\(/.exec(line) ?? [];
    if (begun !== undefined) owner = begun in OWNERS ? (begun as keyof typeof OWNERS) : undefined;
    return line.replace(/STEP\(([A-Z_]+), /, (_, name: string) => {
      if (UNSEEN.has(name)) return "UNSEEN(";
      if (!owner) throw new Error(`${name} stands in a process without an owner`);
      return `TURN_${owner}(${names.indexOf(name)}, `;
    });
  });
  const turns = Object.entries(OWNERS).map(
    ([name, [worker, event]]) =>
      `#define TURN_${name}(name, may) ((may) && c_expr { NEXT[0] == name && NEXT[1] == ${worker} && NEXT[2] == ${event} }) -> c_code { taken(now.which, ++now.pos); }`,
  );
  return `c_decl {
static const unsigned char steps[][${longest}][3] = { ${numbers.map((one) => `{${one.join()}}`).join(",\n")} };
static int furthest[${traces.length}];
static void report(void) {
  for (int i = 0; i < ${traces.length}; i++) printf("trace %d: %d\\n", i, furthest[i]);
}
static void taken(int which, int pos) {
  static int registered;
  if (!registered++) atexit(report);
  if (pos > furthest[which]) furthest[which] = pos;
}
}
short which = 0;
short pos = 0;
#define NEXT steps[now.which][now.pos]
#define UNSEEN(may) (may)
${turns.join("\n")}
${bound
  .join("\n")
  .replace("#define FAULT (faults > 0)", "#define FAULT true")
  .replace("#define USED faults--", "#define USED skip")
  .replace("init {\n", `init {\n  do\n  :: which < ${traces.length - 1} -> which++\n  :: break\n  od;\n`)}`;
}
