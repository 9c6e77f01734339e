// Receives the events of automations and runs them.
import type { WebhookRouter } from "../server/webhook-router.js";
import type { Run } from "../storage/runs.js";
import { anyReceiver, keySetRules, problemsOf } from "./check-automation.js";
import { type IngestionContext, ingestionRouter } from "./ingestion.js";
import { createRunWorker } from "./run-worker.js";
import type { SaveContext } from "./save-automation.js";

/** What receives the events of automations and runs them. */
export interface AutomationEngine extends Pick<SaveContext, "expressions" | "keySets"> {
  /** Operation 4.10; to be mounted before anything reads a body. */
  readonly router: WebhookRouter;
  /** Ends whatever is under way; the next start goes on behind the last step that is done. */
  stop(): Promise<void>;
}

/** Options of `createService` for automations. */
export interface AutomationOptions {
  /** Lets key sets be on loopback over plain HTTP, and on private addresses. */
  allowInsecure?: boolean | undefined;
  /** Ranges of the proxies in front of the service: only behind them is `X-Forwarded-For` believed. */
  trustedProxies?: readonly string[] | undefined;
  /** Is called with every run of an automation once it has ended; what it throws or rejects with is logged. */
  onRun?: ((run: Run) => void) | undefined;
}

/** Options of `createAutomationEngine`. */
type AutomationEngineOptions = AutomationOptions &
  Pick<IngestionContext, "storage" | "clock" | "baseUrl" | "log" | "inspecting" | "behaviour"> &
  Pick<SaveContext, "expressions">;

/** @throws {TypeError} for a range that is none: it would be met by the first webhook */
export function checkAutomationOptions({ trustedProxies }: AutomationOptions): void {
  const [wrong] = problemsOf("trustedProxies", () => anyReceiver({}, trustedProxies));
  if (wrong) throw new TypeError(`trustedProxies cannot be used. ${wrong.description}`);
}

/** Starts what runs automations, first of all the runs that a crash has left. */
export function createAutomationEngine({
  allowInsecure = false,
  expressions,
  onRun,
  trustedProxies,
  storage,
  clock,
  baseUrl,
  log,
  inspecting,
  behaviour,
}: AutomationEngineOptions): AutomationEngine {
  const keySets = keySetRules(allowInsecure);
  const worker = createRunWorker({ runs: storage.runs, expressions, clock, log, onRun });
  worker.start();
  return {
    expressions,
    keySets,
    router: ingestionRouter({
      storage,
      clock,
      baseUrl,
      log,
      keySets,
      worker,
      trustedProxies,
      inspecting,
      behaviour,
    }),
    async stop() {
      // A step that is evaluated is done again at the next start, however long it would have taken.
      await Promise.all([worker.stop(), expressions.stop()]);
    },
  };
}
