import type { Clock } from "hookproof";
import { harmless } from "../harmless.js";
import { loggedError, type ServiceLog } from "../log.js";
import type { Run, Runs } from "../storage/runs.js";
import type { Expressions } from "./expressions.js";
import { runSteps } from "./run-steps.js";

/** Works off the runs that are not finished, oldest first. */
export interface RunWorker {
  /** There may be something to do: a run was added, or the service starts after a crash. */
  wake(): void;
  /** Ends after the step under way; the rest is done at the next start. */
  stop(): Promise<void>;
}

/** Options of `createRunWorker`. */
export interface RunWorkerOptions {
  readonly runs: Runs;
  readonly expressions: Expressions;
  readonly clock: Clock;
  readonly log: ServiceLog;
  /** Told of every run once it has ended. */
  readonly onRun?: ((run: Run) => void) | undefined;
}

/**
 * A worker over the table of runs, which is the queue. A step's result is written as soon as the step is done,
 * so that a process that takes over after a crash goes on behind it, and a run ends once.
 */
export function createRunWorker({ runs, expressions, clock, log, onRun }: RunWorkerOptions): RunWorker {
  const told = onRun && harmless(onRun, (error) => log.error({ error: loggedError(error) }, "onRun failed"));
  let isWorking = false;
  let isStopping = false;
  let working = Promise.resolve();

  async function work(): Promise<void> {
    isWorking = true;
    try {
      for (let run = next(); run; run = next()) await perform(run);
    } catch (error) {
      log.error({ error: loggedError(error) }, "the runs cannot be worked off");
    } finally {
      isWorking = false;
    }
  }

  function next(): Run | undefined {
    return isStopping ? undefined : runs.begin(clock.now());
  }

  async function perform(run: Run): Promise<void> {
    const results = [...run.results];
    for await (const result of runSteps({ ...run, finished: run.results }, expressions, clock)) {
      runs.addResult(run.id, results.push(result) - 1, result);
      if (isStopping) return;
    }
    const failed = results.find(({ status }) => status === "STEP_STATUS_FAILED");
    const status = failed ? "RUN_STATUS_FAILED" : "RUN_STATUS_SUCCEEDED";
    const finishedAt = clock.now();
    if (!runs.finish(run.id, status, finishedAt)) return;
    const { id, automationId } = run;
    log.info(
      { runId: id, automationId, status, step: failed?.name, code: failed?.failure?.code },
      "a run ended",
    );
    told?.({ ...run, status, finishedAt, results });
  }

  return {
    wake() {
      if (!isWorking && !isStopping) working = work();
    },
    async stop() {
      isStopping = true;
      await working;
    },
  };
}
