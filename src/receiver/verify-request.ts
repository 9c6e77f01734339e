import type { Cidr } from "../core/address.js";
import { bodyBytes, concatBytes } from "../core/bytes.js";
import { type Check, failed } from "../core/check.js";
import { type Clock, unixSeconds } from "../core/clock.js";
import { EVENT_ID_HEADER, TIMESTAMP_HEADER } from "../core/headers.js";
import { MAX_BODY_BYTES } from "../core/protocol.js";
import {
  checkBody,
  checkCredential,
  checkEncoding,
  checkEnvelope,
  checkHeaders,
  checkSize,
  checkWindow,
  type RequestHead,
} from "./checks.js";
import type { PreparedListener } from "./listener.js";
import { type Rejection, rejection, type Verdict } from "./verdict.js";

/** What a request is checked against. */
export interface VerifyRules {
  readonly listener: PreparedListener;
  readonly trustedProxies: readonly Cidr[];
  readonly clock: Clock;
}

/**
 * Checks 1 to 23, in order, up to the first that fails. It reads the body, asks the clock and looks up keys, and
 * touches no store.
 */
export async function verifyRequest(
  { listener, trustedProxies, clock }: VerifyRules,
  head: RequestHead,
  readBody: BodyReader,
): Promise<Verdict> {
  const { headers } = head;
  const checks: Check[] = [];
  const envelope = firstFailure(checks, checkEnvelope(listener, head, trustedProxies));
  if (envelope) return envelope;

  const body = await readBody();
  const early = firstFailure(checks, [checkSize(body), ...checkHeaders(headers)]);
  if (early || !(body instanceof Uint8Array)) return early as Rejection;

  const now = secondsOf(clock);
  if ("cause" in now) return withoutClock(checks, now.cause);
  const untimely = firstFailure(checks, [checkWindow(headers, now.seconds)]);
  if (untimely) return untimely;

  const refused = firstFailure(checks, await checkCredential(listener, headers, body, now.seconds));
  if (refused) return refused;

  const encoded = firstFailure(checks, [checkEncoding(headers)]);
  if (encoded) return encoded;
  const { check, payload } = checkBody(body);
  const unreadable = firstFailure(checks, [check]);
  if (unreadable) return unreadable;

  const [id = ""] = headers.all(EVENT_ID_HEADER);
  const [timestamp = ""] = headers.all(TIMESTAMP_HEADER);
  const event = {
    id: id.toLowerCase(),
    listenerId: listener.id,
    timestamp: Number(timestamp),
    body,
    payload,
  };
  return { ok: true, event, checks };
}

/** Collects checks up to and with the first that failed, which is the verdict. */
function firstFailure(collected: Check[], checks: Iterable<Check>): Rejection | undefined {
  for (const check of checks) {
    collected.push(check);
    // A failed check without a code, as a fault of ours could make it, must not let a request through.
    if (!check.ok) return rejection(collected, check, check.code ?? "RUN_FAILED");
  }
  return undefined;
}

function secondsOf(clock: Clock): { readonly seconds: number } | { readonly cause: unknown } {
  try {
    return { seconds: unixSeconds(clock) };
  } catch (cause) {
    return { cause };
  }
}

/** Without the time nothing more can be checked. That is not the sender's fault, so the event may come again. */
function withoutClock(checks: Check[], cause: unknown): Rejection {
  const check = failed("window", "RUN_FAILED", "a clock that failed");
  checks.push(check);
  return rejection(checks, check, check.code, cause);
}

/** A body in the forms that servers have: bytes, a text that stands for its UTF-8 bytes, or chunks as they arrive. */
export type BodyInput = Uint8Array | string | AsyncIterable<Uint8Array> | null | undefined;

/** Reads the body, or says why there is none. It is called after the envelope has passed. */
export type BodyReader = () => Promise<Uint8Array | "too-large" | "unreadable">;

/** Makes a reader that stops as soon as the body is larger than any listener accepts. */
export function bodyReader(body: BodyInput): BodyReader {
  if (body === null || body === undefined) return async () => new Uint8Array();
  if (typeof body === "string" || body instanceof Uint8Array) return async () => bodyBytes(body);
  if (typeof body === "object" && Symbol.asyncIterator in body) return () => readChunks(body);
  throw new TypeError(
    "body must be the raw bytes (Uint8Array, string or a stream). This looks like a parsed body: its bytes, and with them " +
      "the signature, are gone. Turn off the body parser for this route, or let it keep the raw buffer.",
  );
}

async function readChunks(body: AsyncIterable<Uint8Array>): ReturnType<BodyReader> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  let decoded = false;
  try {
    for await (const chunk of body) {
      decoded = typeof chunk === "string";
      if (decoded) break;
      length += chunk.length;
      if (length > MAX_BODY_BYTES) return "too-large";
      chunks.push(chunk);
    }
  } catch {
    return "unreadable";
  }
  if (decoded)
    throw new TypeError(
      "body must give chunks of bytes. These are text: leave out setEncoding() and any decoder, as they change bytes that are not UTF-8.",
    );
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : concatBytes(chunks);
}

/** The chunks of a web stream; not every runtime can iterate over one. */
export async function* streamChunks(stream: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (let read = await reader.read(); read.value; read = await reader.read()) yield read.value;
  } finally {
    void reader.cancel().catch(() => {});
  }
}
