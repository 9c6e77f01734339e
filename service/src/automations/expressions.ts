import { type ChildProcess, fork } from "node:child_process";
import type { Outcome, StepFailure } from "./step-failure.js";

/** An expression ends after this long, whatever it is doing. */
const TIMEOUT_MS = 5_000;
/** A process that does not answer by then is ended: it is short of memory, or stopped. */
const PATIENCE_MS = 10_000;
const MAX_HEAP_MB = 128;
/** All that the process may hold at once; Node itself takes 80 of them. */
const MAX_MEMORY_MB = 320;
/** The JSON of all values of a step, in characters: as much as four of the largest bodies. */
const MAX_RESULT_LENGTH = 262_144;

/** Evaluates CEL, in a process of its own that is started when it is first needed. */
export interface Expressions {
  /** Whether an expression is one. */
  check(expression: string): Promise<Outcome<undefined>>;
  /** @param context the JSON of `ctx` */
  condition(context: string, expression: string): Promise<Outcome<boolean>>;
  /** The JSON of each expression's value; all of them, or the failure of one. */
  values(context: string, expressions: readonly string[]): Promise<Outcome<string[]>>;
  stop(): Promise<void>;
}

interface Job {
  readonly request: Readonly<Record<string, unknown>>;
  resolve(outcome: Outcome<never>): void;
  reject(error: Error): void;
}

/**
 * Evaluates expressions one at a time. CEL has no endless loops, but loops in loops over a large body, and texts
 * that double, take longer and more memory than anybody has; so they run where ending them harms nobody.
 */
export function createExpressions({ timeoutMs = TIMEOUT_MS } = {}): Expressions {
  const waiting: Job[] = [];
  let current: Job | undefined;
  let child: ChildProcess | undefined;
  let patience: NodeJS.Timeout | undefined;
  let isStopped = false;

  function ask<Value>(request: Job["request"]): Promise<Outcome<Value>> {
    return new Promise((resolve, reject) => {
      if (isStopped) return reject(stoppedError());
      waiting.push({ request, resolve, reject });
      startNext();
    });
  }

  function startNext(): void {
    if (current) return;
    current = waiting.shift();
    if (!current) {
      child?.channel?.unref();
      return;
    }
    child ??= startProcess();
    child.channel?.ref();
    patience = setTimeout(() => child?.kill("SIGKILL"), timeoutMs + PATIENCE_MS);
    child.send({ ...current.request, timeoutMs, maxLength: MAX_RESULT_LENGTH });
  }

  function startProcess(): ChildProcess {
    const started = fork(new URL("./cel-process.js", import.meta.url), [String(MAX_MEMORY_MB * 2 ** 20)], {
      execArgv: [`--max-old-space-size=${MAX_HEAP_MB}`],
      env: {},
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    started.unref();
    started.on("message", (answer) => settle((job) => job.resolve(outcomeOf(answer))));
    const gone = (tell: (job: Job) => void) => {
      if (child !== started) return;
      child = undefined;
      settle(tell);
    };
    started.on("error", (error) => gone((job) => job.reject(error)));
    started.on("exit", () => gone((job) => job.resolve({ ok: false, failure: OUT_OF_MEMORY })));
    return started;
  }

  function settle(tell: (job: Job) => void): void {
    clearTimeout(patience);
    const done = current;
    current = undefined;
    if (done) tell(done);
    startNext();
  }

  return {
    check: (expression) => ask({ ask: "check", expression }),
    condition: (context, expression) => ask({ ask: "condition", context, expression }),
    values: (context, expressions) => ask({ ask: "values", context, expressions }),
    async stop() {
      isStopped = true;
      const stopping = child;
      child = undefined;
      for (const job of waiting.splice(0)) job.reject(stoppedError());
      settle((job) => job.reject(stoppedError()));
      if (!stopping || stopping.exitCode !== null || stopping.signalCode !== null) return;
      const gone = new Promise((resolve) => stopping.once("exit", resolve));
      stopping.ref();
      stopping.kill("SIGKILL");
      await gone;
    },
  };
}

function stoppedError(): Error {
  return new Error("The service has stopped.");
}

const OUT_OF_MEMORY: StepFailure = {
  code: "EXPRESSION_TOO_LARGE",
  message: `more than ${MAX_HEAP_MB} MB, or more time than it takes to tell`,
};

function outcomeOf(answer: unknown): Outcome<never> {
  const { value, failure } = answer as { value?: never; failure?: StepFailure };
  return failure ? { ok: false, failure } : { ok: true, value: value as never };
}
