// Makes an entry of a request and its verdict.
import type { HandledRequest } from "../server/webhook-router.js";
import { type Forwarded, LIMITS, type RequestRow } from "./contract.js";
import { type Entry, isWhole, onlyHeader } from "./entry.js";
import { parsedJson } from "./entry-line.js";
import { forwardedRow, keptForwarded } from "./forwarded.js";
import { withoutSecrets } from "./mask-secrets.js";
import { reasonOf } from "./reason.js";
import { provedBy, type WatchedListener } from "./watched-listener.js";

/** An entry that has no number yet. */
export type Draft = Omit<Entry, "row"> & { readonly row: Omit<RequestRow, "n"> };

/** How the page made a request come. */
export type Origin = Pick<RequestRow, "replay" | "isTest">;

/** A request that reached a listener, or none. */
export type SeenRequest = Omit<HandledRequest, "listenerId"> & { readonly listenerId?: string | undefined };

/** What is known of a request besides what it says itself. */
interface RequestContext {
  readonly watched: WatchedListener | undefined;
  /** Secrets of all listeners: whatever one was sent in, it is not kept. */
  readonly secrets: readonly string[];
  /** What the page did to make it come. */
  readonly origin: Origin | undefined;
  /** What an application answered to it. */
  readonly forwarded: Forwarded | undefined;
  duplicateOf(eventId: string): number | undefined;
}

export function entryOf(seen: SeenRequest, context: RequestContext): { entry: Draft; unmasked: Draft } {
  const { request, verdict, status, receivedAt, listenerId, answer, durationMs } = seen;
  const { watched, origin } = context;
  const forwarded = context.forwarded && keptForwarded(context.forwarded);
  const headers = request.headers as Entry["headers"];
  const eventId = watched?.info.scheme ? schemeEventId(verdict) : onlyHeader(headers, "Webhook-Event-Id");
  const code = verdict.ok ? undefined : verdict.code;
  const verdictStatus = verdict.ok ? (watched?.accepted ?? 200) : verdict.status;
  const duplicateOf =
    code === "EVENT_DUPLICATE" && eventId !== undefined ? context.duplicateOf(eventId) : undefined;
  const unmasked: Draft = {
    row: {
      at: receivedAt,
      ...(listenerId === undefined ? {} : { listenerId }),
      ...(watched === undefined ? {} : provedBy(watched)),
      method: request.method,
      status,
      ...(code === undefined ? {} : { code }),
      ...(verdictStatus === status ? {} : { verdictStatus }),
      ...(eventId === undefined ? {} : { eventId }),
      bodyBytes: request.body.length,
      ...(isWhole({ checks: verdict.checks, headers }) ? {} : { isCut: true }),
      durationMs: Math.round(durationMs * 10) / 10,
      reason: reasonOf(code, undefined),
      ...(duplicateOf === undefined ? {} : { duplicateOf }),
      ...(forwarded && forwardedRow(forwarded, code)),
      ...origin,
    },
    target: request.url,
    sourceAddress: request.sourceAddress,
    headers,
    body: request.body,
    checks: verdict.checks,
    answer: { headers: answer.headers, body: answer.body.slice(0, LIMITS.answerCharacters) },
    ...(forwarded ? { forwarded } : {}),
    ...clockOf(watched, receivedAt),
    demanded: watched?.demanded({ headers, body: request.body, at: watched.now() }),
  };
  return { entry: withoutSecrets(unmasked, context.secrets), unmasked };
}

/** How far the listener's clock is from the machine's: a service's can be moved, and its requests are judged by it. */
function clockOf(watched: WatchedListener | undefined, receivedAt: number): Pick<Entry, "clockAhead"> {
  const now = watched?.now();
  return now === undefined || Math.abs(now - Date.now()) < 1_000 ? {} : { clockAhead: now - receivedAt };
}

/** The event id of another scheme than the service's own: what its checks have seen of it, in quotes. */
function schemeEventId(verdict: SeenRequest["verdict"]): string | undefined {
  if (verdict.ok) return verdict.event.id;
  const { seen } = verdict.checks.find(({ step, ok }) => ok && (step === "event-id" || step === "jti")) ?? {};
  const id = parsedJson(seen ?? "");
  return typeof id === "string" ? id : undefined;
}
