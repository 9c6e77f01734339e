// Performs the runs that are not finished, also those of before a crash.
import type { Clock } from "hookproof";
import { harmless } from "../server/harmless.js";
import { loggedError, type ServiceLog } from "../server/log.js";
import type { Run, Runs } from "../storage/runs.js";
import type { Expressions } from "./expressions.js";
import { runSteps } from "./run-steps.js";

/** How many automations run at the same time; each of them has one run under way. */
const MAX_PARALLEL = 100;

/** Performs the runs that are not finished: the runs of one automation in order, several automations in parallel. */
export interface RunWorker {
  /** Begins the runs that a crash has left. */
  start(): void;
  /** To be called when a run of this automation was added. */
  wake(automationId: string): void;
  /** Waits for the steps under way, which end early when `Expressions` stop. The next start does the rest. */
  stop(): Promise<void>;
}

/** Options of `createRunWorker`. */
interface RunWorkerOptions {
  readonly runs: Runs;
  readonly expressions: Expressions;
  readonly clock: Clock;
  readonly log: ServiceLog;
  /** Is called with every run once it has ended. */
  readonly onRun?: ((run: Run) => void) | undefined;
}

/**
 * A worker over the table of runs, which is the queue. A step's result is written as soon as the step is done,
 * so that a process that takes over after a crash goes on behind it, and a run ends once. Automations take turns: after
 * a run, an automation waits behind all others.
 */
export function createRunWorker({ runs, expressions, clock, log, onRun }: RunWorkerOptions): RunWorker {
  const report =
    onRun && harmless(onRun, (error) => log.error({ error: loggedError(error) }, "onRun failed"));
  const waiting = new Set<string>();
  const working = new Map<string, Promise<void>>();
  let isStopping = false;

  function startNext(): void {
    for (const automationId of waiting) {
      if (isStopping || working.size >= MAX_PARALLEL) return;
      if (working.has(automationId)) continue;
      waiting.delete(automationId);
      const work = Promise.resolve()
        .then(() => performNext(automationId))
        .finally(() => {
          working.delete(automationId);
          startNext();
        });
      working.set(automationId, work);
    }
  }

  async function performNext(automationId: string): Promise<void> {
    try {
      const run = runs.begin(automationId, clock.now());
      if (!run) return;
      await perform(run);
      waiting.add(automationId);
    } catch (error) {
      if (isStopping) return; // the expressions end with the service, and the step is done at the next start
      log.error(
        { automationId, error: loggedError(error) },
        "the runs of an automation cannot be worked off",
      );
    }
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
    report?.({ ...run, status, finishedAt, results });
  }

  return {
    start() {
      for (const automationId of runs.unfinished()) waiting.add(automationId);
      startNext();
    },
    wake(automationId) {
      waiting.add(automationId);
      startNext();
    },
    async stop() {
      isStopping = true;
      await Promise.all(working.values());
    },
  };
}
