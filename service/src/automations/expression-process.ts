// One process that evaluates expressions, one at a time.
import { type ChildProcess, fork } from "node:child_process";
import { setPriority } from "node:os";
import type { Signature, Wanted } from "./look-ups.js";
import type { Outcome, StepFailure } from "./step-failure.js";
import type { SeenPart } from "./traced.js";

/** A process that does not answer this long after it should have is ended: it is short of memory, or stopped. */
const PATIENCE_MS = 10_000;
const START_MS = 30_000;
const MAX_HEAP_MB = 128;
/** All that the process may hold at once; Node itself takes 80 of them. */
const MAX_MEMORY_MB = 320;

/** What a process is asked; it ends the evaluation itself after `timeoutMs`. */
export type Request = Readonly<Record<string, unknown>> & { readonly timeoutMs: number };

/** What came of a request. */
export interface Answer {
  readonly outcome: Outcome<never>;
  /** What has to be looked up before there is an outcome, by keys: to be asked again with what was found. */
  readonly wanted?: readonly (readonly [key: string, wanted: Wanted])[] | undefined;
  /** What was seen of an evaluation that was traced, and was ended. */
  readonly parts?: readonly SeenPart[] | undefined;
  /** How much processor time it took, in milliseconds; infinite if the process ended over it. */
  readonly usedMs: number;
}

/** A process that evaluates one request at a time. */
export interface ExpressionProcess {
  /** Rejects if the process cannot be started. */
  readonly ready: Promise<void>;
  /** To be called when it is ready and nothing else is asked. It ends the process if that does not answer. */
  ask(request: Request): Promise<Answer>;
  readonly hasEnded: boolean;
  /** Ends it, whatever it is doing; what was asked is answered as if the process had ended by itself. */
  stop(): Promise<void>;
}

/**
 * @param niceness how much the process gives way to others: 0 not at all, 19 always
 * @param signatures the functions that the service answers
 */
export function startExpressionProcess(
  niceness: number,
  signatures: readonly Signature[],
): ExpressionProcess {
  const memory = String(MAX_MEMORY_MB * 2 ** 20);
  const child = fork(new URL("./cel-process.js", import.meta.url), [memory, JSON.stringify(signatures)], {
    execArgv: [`--max-old-space-size=${MAX_HEAP_MB}`],
    // The library reads the parts of a time in the zone of its process.
    env: { TZ: "UTC" },
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  child.unref();
  giveWay(child, niceness);
  const gone = new Promise<undefined>((resolve) => {
    child.on("exit", () => resolve(undefined));
    child.on("error", () => resolve(undefined));
  });

  /** The next message; undefined if the process ends before, as it does when it takes longer than it may. */
  async function message(withinMs: number): Promise<unknown> {
    child.channel?.ref();
    const patience = setTimeout(() => child.kill("SIGKILL"), withinMs);
    const next = new Promise((resolve) => child.once("message", resolve));
    try {
      return await Promise.race([next, gone]);
    } finally {
      clearTimeout(patience);
      child.channel?.unref();
    }
  }

  const ready = message(START_MS).then((isReady) => {
    if (!isReady) throw new Error("The process that evaluates expressions ended while it started.");
  });
  ready.catch(() => {}); // it is looked at later
  return {
    ready,
    async ask(request) {
      const answer = message(request.timeoutMs + PATIENCE_MS);
      child.send(request, () => {}); // if it cannot be sent, the process has ended
      return answerOf(await answer);
    },
    get hasEnded() {
      return !isRunning(child);
    },
    async stop() {
      if (!isRunning(child)) return;
      child.ref();
      child.kill("SIGKILL");
      await gone;
    },
  };
}

function giveWay({ pid }: ChildProcess, niceness: number): void {
  try {
    if (pid !== undefined) setPriority(pid, niceness);
  } catch {
    // Where the system does not allow it, or the process has ended, it has the priority that it has.
  }
}

function isRunning({ exitCode, pid, signalCode }: ChildProcess): boolean {
  return pid !== undefined && exitCode === null && signalCode === null;
}

const TOO_MUCH: StepFailure = {
  code: "EXPRESSION_TOO_LARGE",
  message: `more than ${MAX_HEAP_MB} MB of values, or ${MAX_MEMORY_MB} MB in all`,
};

function answerOf(message: unknown): Answer {
  if (message === undefined)
    return { outcome: { ok: false, failure: TOO_MUCH }, usedMs: Number.POSITIVE_INFINITY };
  const { value, failure, wanted, parts, usedMs } = message as {
    value?: never;
    failure?: StepFailure;
    wanted?: Answer["wanted"];
    parts?: Answer["parts"];
    usedMs: number;
  };
  return {
    outcome: failure ? { ok: false, failure } : { ok: true, value: value as never },
    wanted,
    parts,
    usedMs,
  };
}
