// The command that runs an automation of a running local service step by step.
import type { Command, Context } from "../command.js";
import { nextStep } from "../config/next-step.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { jsonMistake } from "../input/json-mistake.js";
import { payloadOf } from "../send/payload.js";
import { askControl, CONTROL_EXITS, CONTROL_FLAGS } from "../serve/control-client.js";

/** What the service tells of a run: `DebugAutomationResponse`. */
interface DebuggedRun {
  readonly status: string;
  readonly steps: readonly {
    readonly name: string;
    readonly status: string;
    readonly result?: object;
    readonly failure?: Failure;
    readonly expressions: readonly DebuggedExpression[];
  }[];
}

interface DebuggedExpression {
  readonly path: string;
  readonly expression: string;
  readonly value?: string;
  readonly failure?: Failure;
  readonly failed?: { readonly expression: string; readonly place: string; readonly on: readonly Value[] };
  readonly usedMs: number;
  readonly parts: readonly (Value & { readonly place: string; readonly times: number })[];
}

interface Failure {
  readonly code: string;
  readonly message: string;
}

interface Value {
  readonly expression: string;
  readonly value: string;
}

export const serviceAutomation: Command = {
  name: "service automation",
  details:
    "Shows what each expression saw, gave and took. No webhook is sent, nothing is kept, and it need not be published.",
  positionals: [
    { name: "action", describe: "what to do", required: true, choices: ["run", "list"] },
    { name: "id", describe: "the automation's id", required: false, completes: "automation" },
  ],
  flags: {
    event: {
      type: "string",
      alias: "d",
      value: "<json|@file|->",
      describe: "the event's body: JSON text, a file, or standard input",
      completes: "file",
    },
    ...CONTROL_FLAGS,
  },
  examples: [
    ["hookproof service automation list", "the automations and their ids"],
    [
      'hookproof service automation run leaver --event \'{"type":"user.offboarded","userId":"u_1"}\'',
      "what its steps make of an event",
    ],
  ],
  exits: [...CONTROL_EXITS, [7, "a step of the run failed"]],
  async run(context) {
    const { args } = context;
    const [action, id] = [args.text("action"), args.text("id")];
    if (action === "list") return list(context);
    if (id === undefined)
      throw usageError(
        "service automation run needs an id.",
        nextStep(args, "hookproof service automation list"),
      );
    const data = args.text("event");
    if (data === undefined) throw usageError("--event is missing.", "Such as --event @event.json");
    const event = await eventOf(context, data);
    const path = `automations/${encodeURIComponent(id)}/debug`;
    const run = (await askControl(
      context,
      "POST",
      path,
      { event },
      { leastTimeoutMs: RUN_MS },
    )) as unknown as DebuggedRun;
    return shown(context, id, run);
  },
};

/** The service ends a run after 30 s, when no expression begins any more, and an evaluation after 5 s. */
const RUN_MS = 45_000;

async function eventOf({ io }: Context, data: string): Promise<unknown> {
  const payload = await payloadOf(io, data);
  const text = typeof payload === "string" ? payload : new TextDecoder().decode(payload);
  try {
    return JSON.parse(text);
  } catch {
    const place = jsonMistake(text);
    throw usageError(
      `--event is not JSON${place === undefined ? "" : `: ${place}`}.`,
      "Such as --event @event.json",
    );
  }
}

async function list(context: Context): Promise<number> {
  const { out } = context;
  for (let pageToken = ""; ; ) {
    const query = new URLSearchParams({ page_size: "100", page_token: pageToken });
    const page = (await askControl(context, "GET", `automations?${query}`)) as {
      list: { id: string; displayName: string; steps: object[]; published: boolean; enabled: boolean }[];
      nextPageToken: string;
    };
    for (const { id, displayName, steps, published, enabled } of page.list) {
      out.document({
        type: "automation",
        ok: true,
        id,
        displayName,
        steps: steps.length,
        published,
        enabled,
      });
      out.line(`${id}  ${displayName}`);
    }
    pageToken = page.nextPageToken;
    if (pageToken === "") return EXIT.ok;
  }
}

function shown({ out }: Context, id: string, run: DebuggedRun): number {
  const isOk = run.status === "RUN_STATUS_SUCCEEDED";
  out.document({ type: "automation-run", ok: isOk, id, ...run });
  for (const { name, status, result, failure, expressions } of run.steps) {
    const state = status.replace("STEP_STATUS_", "").toLowerCase();
    out.line(
      `${out.paint(state === "failed" ? "red" : state === "succeeded" ? "green" : "dim", state)}  ${name}`,
    );
    for (const one of expressions) showExpression(out, one);
    if (result !== undefined) out.line(`  gave  ${JSON.stringify(result)}`);
    if (failure !== undefined && expressions.at(-1)?.failure === undefined)
      out.line(`  ${failure.code}  ${failure.message}`);
  }
  if (isOk) return EXIT.ok;
  const { name, failure } = run.steps.at(-1) ?? {};
  throw new CliError(
    EXIT.checkFailed,
    failure?.code ?? "EXPRESSION_FAILED",
    `The step ${name} failed: ${failure?.message}.`,
  );
}

function showExpression(out: Context["out"], one: DebuggedExpression): void {
  const { path, expression, value, failure, failed, usedMs, parts } = one;
  out.line(`  ${path}  ${expression}`);
  for (const part of parts) {
    // The last one is the expression itself, whose value comes next.
    if (part.value === value && part === parts.at(-1)) continue;
    const times = part.times > 1 ? `  (${part.times} times; the last)` : "";
    out.line(`    ${part.place.padEnd(6)}  ${part.expression}  is  ${short(part.value)}${times}`);
  }
  const took = out.paint("dim", `${usedMs.toFixed(1)} ms`);
  if (value !== undefined) out.line(`    gave    ${value}  ${took}`);
  if (failure === undefined) return;
  out.line(`    ${out.paint("red", failure.code)}  ${failure.message}  ${took}`);
  if (failed === undefined) return;
  out.line(`    at ${failed.place}  ${failed.expression}`);
  for (const on of failed.on) out.line(`    where   ${on.expression}  is  ${short(on.value)}`);
}

/** A line of a terminal is no place for a whole user; `--json` has more of it. */
function short(value: string): string {
  return value.length > 120 ? `${value.slice(0, 120)}…` : value;
}
