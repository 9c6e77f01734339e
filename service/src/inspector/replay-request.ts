// Makes the request that an order from the page stands for.
import { createEvent, type HeaderPair, newEventId, signRequest, type WebhookEvent } from "hookproof";
import { InspectorError } from "../page/inspector-error.js";
import { orderInvalid } from "../page/order-schema.js";
import { endToEndHeaders } from "../server/end-to-end-headers.js";
import type { ReplayOrder } from "./contract.js";
import { type Entry, isWhole, onlyHeader } from "./entry.js";
import { EXAMPLES, FIRST_EXAMPLE } from "./example-events.js";
import type { RawRequest } from "./post-raw.js";
import type { WatchedListener } from "./watched-listener.js";

const IDENTITY = ["webhook-timestamp", "webhook-event-id"];
const PROOF = ["webhook-signature", "authorization"];

/** The request that an order makes of a recorded one; it goes to the listener's own server and nowhere else. */
export async function replayRequest(
  entry: Entry,
  order: ReplayOrder,
  listener: WatchedListener,
): Promise<RawRequest> {
  const { serverUrl, certificate } = listener;
  const where = { serverUrl, certificate, method: entry.row.method, target: entry.target };
  if (order.kind !== "edit") requireWhole(entry);
  const given = order.kind === "edit" ? (order.headers ?? entry.headers) : entry.headers;
  const lines = endToEndHeaders(given);
  if (order.kind === "exact") return { ...where, headers: lines, body: entry.body };

  const body = order.kind === "edit" ? Buffer.from(order.bodyBase64, "base64") : entry.body;
  const isSigned = order.kind !== "edit" || (order.sign ?? true);
  const { eventId, timestamp } = identityOf(order, [lines, entry.headers], isSigned);
  const proof = isSigned
    ? [await signed({ eventId, timestamp, body }, listener)]
    : lines.filter(([name]) => PROOF.includes(name.toLowerCase()));
  return {
    ...where,
    headers: [
      ...lines.filter(([name]) => ![...IDENTITY, ...PROOF].includes(name.toLowerCase())),
      ...(timestamp === "" ? [] : [["Webhook-Timestamp", timestamp] as const]),
      ...(eventId === "" ? [] : [["Webhook-Event-Id", eventId] as const]),
      ...proof,
    ],
    body,
  };
}

/** A new event for a listener, rightly signed. */
export async function testRequest(listener: WatchedListener, given?: string): Promise<RawRequest> {
  const { serverUrl, certificate, info, testSigner: signer, boundUrl } = listener;
  if (!signer) throw impossible("The inspector has no key to sign for this listener.");
  const text = given ?? JSON.stringify(EXAMPLES[info.testEvent ?? FIRST_EXAMPLE]);
  const id = newEventId();
  const { headers, body } = await signRequest({ url: boundUrl, signer, event: testEvent(text, id) }).catch(
    (error: Error) => {
      throw orderInvalid(`This listener's scheme cannot sign that: ${error.message}`);
    },
  );
  const own = { ...headers, "User-Agent": `hookproof-inspector (${id})` };
  return {
    serverUrl,
    certificate,
    method: "POST",
    target: new URL(info.url).pathname,
    headers: Object.entries(own),
    body,
  };
}

function testEvent(text: string, eventId: string): WebhookEvent {
  try {
    return createEvent(text, { eventId });
  } catch (error) {
    throw orderInvalid(`body is no JSON text: ${(error as Error).message}`);
  }
}

/** Id and timestamp of the request; an empty text leaves the header out. */
function identityOf(
  order: ReplayOrder,
  sources: readonly (readonly HeaderPair[])[],
  isSigned: boolean,
): { eventId: string; timestamp: string } {
  const recorded = (name: string) => sources.map((lines) => onlyHeader(lines, name)).find(Boolean) ?? "";
  const now = nowSeconds();
  if (order.kind !== "edit")
    return {
      eventId: order.kind === "new-id" ? newEventId() : recorded("Webhook-Event-Id"),
      timestamp: now,
    };
  return {
    eventId: order.eventId ?? recorded("Webhook-Event-Id"),
    timestamp: order.timestamp ?? (isSigned ? now : recorded("Webhook-Timestamp")),
  };
}

function nowSeconds(): string {
  return String(Math.floor(Date.now() / 1000));
}

async function signed(
  event: { eventId: string; timestamp: string; body: Uint8Array },
  { signer, boundUrl }: WatchedListener,
): Promise<HeaderPair> {
  const [line] = signer ? (await signer.sign({ url: boundUrl, ...event })).headers : [];
  if (line) return line;
  throw impossible("The inspector has no key to sign for this listener; only an exact replay is possible.");
}

/** Only what was read to its end, and not hidden, can be sent again as it was. */
function requireWhole(entry: Entry): void {
  if (entry.row.isUnread) throw impossible("Node itself refused this request, so it was not read.");
  if (entry.masked) throw impossible("A secret in this request is hidden, so it cannot be sent as it was.");
  if (!isWhole(entry)) throw impossible("The listener did not read this request's body to its end.");
}

function impossible(message: string): InspectorError {
  return new InspectorError(409, "REPLAY_IMPOSSIBLE", message);
}
