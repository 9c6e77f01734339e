// The webhook endpoint over the stored automations (specification 4.10).
import { remoteKeys } from "hookproof/jwks";
import { type BehaviourProfile, behaveAs } from "hookproof/probes";
import type { ListenerOptions } from "hookproof/receiver";
import type { Inspector } from "../inspector/inspector.js";
import type { WatchOptions } from "../inspector/watched-listener.js";
import { loggedError, ServiceFault } from "../server/log.js";
import type { ServiceContext } from "../server/service-context.js";
import {
  type HandledRequest,
  type LocalListener,
  type WebhookRouter,
  webhookRouter,
} from "../server/webhook-router.js";
import type { StoredAutomation } from "../storage/automations.js";
import { newId } from "../storage/ids.js";
import { inspectedRun } from "./inspected-run.js";
import type { RunWorker } from "./run-worker.js";
import type { SaveContext } from "./save-automation.js";

/** More listeners than a list on a page is good for. */
const MAX_NAMED = 100;

/** What the webhook endpoint needs. */
export type IngestionContext = Pick<ServiceContext, "storage" | "clock" | "baseUrl" | "log"> &
  Pick<SaveContext, "keySets"> & {
    readonly worker: Pick<RunWorker, "wake">;
    readonly trustedProxies: readonly string[] | undefined;
    readonly inspecting: Inspecting | undefined;
    readonly behaviour?: BehaviourProfile | undefined;
  };

/** An inspector, and what it has to know of the server. */
interface Inspecting extends WatchOptions {
  readonly inspector: Inspector;
}

/**
 * The webhook endpoint over the automations in the database (specification 4.10). The event's id and its run are
 * committed together before the answer: a crash leaves both or neither.
 */
export function ingestionRouter(context: IngestionContext): WebhookRouter {
  const { storage, clock, worker, inspecting } = context;
  const beforeAnswer = context.behaviour && behaveAs(context.behaviour);
  const known = new Map<string, { of: string; setup: LocalListener }>();

  /** A listener is made again when what it verifies with has changed, as it keeps keys it has fetched. */
  function find(listenerId: string): LocalListener | undefined {
    const automation = storage.automations.ofListener(listenerId);
    if (!automation) {
      known.delete(listenerId);
      return undefined;
    }
    const of = JSON.stringify([automation.hmacSecret, automation.trigger, automation.allowedCidrs]);
    const found = known.get(listenerId);
    if (found?.of === of) return found.setup;
    const setup = watched(setupOf(automation));
    known.set(listenerId, { of, setup });
    return setup;
  }

  function watched(setup: LocalListener): LocalListener {
    if (!inspecting) return setup;
    const { inspector, ...server } = inspecting;
    const runOf = (listenerId: string, eventId: string) => inspectedRun(storage, listenerId, eventId);
    return inspector.watch([setup], { ...server, runOf })[0] ?? setup;
  }

  function setupOf(automation: StoredAutomation): LocalListener {
    const { listenerId } = automation;
    return {
      listener: {
        id: listenerId,
        baseUrl: context.baseUrl,
        auth: authOf(automation, context),
        allowedCidrs: automation.allowedCidrs,
      },
      replayStore: storage.eventIds,
      clock,
      trustedProxies: context.trustedProxies,
      beforeAnswer,
      isTriggerActive() {
        const now = storage.automations.ofListener(listenerId);
        return now?.published === true && now.enabled;
      },
      async run(event, reservation) {
        const automationId = storage.db.transaction(() => {
          const now = storage.automations.ofListener(listenerId);
          if (!now) throw new ServiceFault("The automation has been removed.");
          storage.runs.add({
            id: newId(),
            automationId: now.id,
            eventId: event.id,
            body: new TextDecoder().decode(event.body),
            steps: now.steps,
            createdAt: clock.now(),
          });
          storage.eventIds.commitSync(reservation);
          return now.id;
        });
        worker.wake(automationId);
      },
    };
  }

  // The inspector names the listeners before the first request to one of them.
  if (inspecting) for (const { listenerId } of storage.automations.list([0, ""], MAX_NAMED)) find(listenerId);
  return webhookRouter(
    find,
    (request) => {
      inspecting?.inspector.record(request);
      logged(request, context);
    },
    inspecting?.inspector.record,
  );
}

function authOf(
  { trigger, hmacSecret }: StoredAutomation,
  { keySets, clock }: IngestionContext,
): ListenerOptions["auth"] {
  return trigger.jwt
    ? { method: "jwt", keys: remoteKeys(trigger.jwt.jwksUrl, { ...keySets, clock }) }
    : { method: "hmac", secret: hmacSecret ?? [] };
}

/** The answer tells a stranger no more than a code; the log tells the owner what was seen. */
function logged({ listenerId, status, verdict }: HandledRequest, { log }: IngestionContext): void {
  if (verdict.ok) {
    log.info({ listenerId, status, eventId: verdict.event.id }, "a webhook was accepted");
    return;
  }
  const { code, detail, cause } = verdict;
  const write = status === 503 ? log.error : log.info;
  write.call(
    log,
    { listenerId, status, code, detail, ...(cause === undefined ? {} : { error: loggedError(cause) }) },
    "a webhook was refused",
  );
}
