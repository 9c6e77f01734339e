import type { HandledRequest } from "../server/webhook-router.js";
import { LIMITS, type RequestRow } from "./contract.js";
import { type Entry, onlyHeader } from "./entry.js";
import { withoutSecrets } from "./mask-secrets.js";
import { reasonOf } from "./reason.js";
import type { WatchedListener } from "./watched-listener.js";

/** An entry that has no number yet. */
export type Draft = Omit<Entry, "row"> & { readonly row: Omit<RequestRow, "n"> };

/** A request that reached a listener, or none. */
export type SeenRequest = Omit<HandledRequest, "listenerId"> & { readonly listenerId?: string | undefined };

/** What is known of a request beside itself. */
export interface RequestContext {
  readonly watched: WatchedListener | undefined;
  /** Secrets of all listeners: whatever one was sent in, it is not kept. */
  readonly secrets: readonly string[];
  readonly replay: RequestRow["replay"];
  duplicateOf(eventId: string): number | undefined;
}

/** Makes an entry of a request and its verdict. */
export function entryOf(seen: SeenRequest, context: RequestContext): { entry: Draft; unmasked: Draft } {
  const { request, verdict, status, receivedAt, listenerId, answer, durationMs } = seen;
  const { watched, replay } = context;
  const headers = request.headers as Entry["headers"];
  const eventId = onlyHeader(headers, "Webhook-Event-Id");
  const code = verdict.ok ? undefined : verdict.code;
  const verdictStatus = verdict.ok ? 200 : verdict.status;
  const duplicateOf =
    code === "EVENT_DUPLICATE" && eventId !== undefined ? context.duplicateOf(eventId) : undefined;
  const unmasked: Draft = {
    row: {
      at: receivedAt,
      ...(listenerId === undefined ? {} : { listenerId }),
      ...(watched === undefined ? {} : { auth: watched.info.auth }),
      method: request.method,
      status,
      ...(code === undefined ? {} : { code }),
      ...(verdictStatus === status ? {} : { verdictStatus }),
      ...(eventId === undefined ? {} : { eventId }),
      bodyBytes: request.body.length,
      durationMs: Math.round(durationMs * 10) / 10,
      reason: reasonOf(code, undefined),
      ...(duplicateOf === undefined ? {} : { duplicateOf }),
      ...(replay === undefined ? {} : { replay }),
    },
    target: request.url,
    sourceAddress: request.sourceAddress,
    headers,
    body: request.body,
    checks: verdict.checks,
    answer: { headers: answer.headers, body: answer.body.slice(0, LIMITS.answerCharacters) },
    demanded: watched?.demanded({ headers, body: request.body, at: watched.now() }),
  };
  return { entry: withoutSecrets(unmasked, context.secrets), unmasked };
}
