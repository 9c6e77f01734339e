// Makes the checks of a request in order, up to the first that fails.
import { bodyBytes, concatBytes } from "../core/bytes.js";
import type { Check } from "../core/check.js";
import { type Clock, unixSeconds } from "../core/clock.js";
import { STORABLE_ID } from "../core/event.js";
import { MAX_BODY_BYTES } from "../core/protocol.js";
import type { Verification, Verifier } from "../schemes/scheme.js";
import { type AddressRanges, checkEnvelope, checkSize, failed, type RequestHead } from "./checks.js";
import { rejection, type Verdict } from "./verdict.js";

/** What a request is checked against. */
export interface VerifyRules extends AddressRanges {
  /** Under which name event ids are remembered. */
  readonly listenerId: string;
  readonly verifier: Verifier;
  readonly clock: Clock;
}

/**
 * Checks 1 to 5 and those of the scheme, in order, up to the first that fails. It reads the body, asks the clock and
 * looks up keys, and touches no store.
 */
export async function verifyRequest(
  rules: VerifyRules,
  head: RequestHead,
  readBody: BodyReader,
): Promise<Verdict> {
  const { listenerId, verifier, clock } = rules;
  const checks: Check[] = [];
  const refuse = (check: Check, cause?: unknown): Verdict => {
    checks.push(check);
    return rejection(verifier, checks, check, cause);
  };
  for (const check of checkEnvelope(verifier, head, rules)) {
    if (!check.ok) return refuse(check);
    checks.push(check);
  }
  const body = await readBody();
  const size = checkSize(body, head.headers.all("Content-Length"));
  if (!size.ok || !(body instanceof Uint8Array)) return refuse(size);
  checks.push(size);

  const { method, url, headers } = head;
  const request = { method, url, headers, body, nowSeconds: () => unixSeconds(clock) };
  let verified: Verification;
  try {
    verified = judged(await verifier.verify(request));
  } catch (cause) {
    // A verifier of the caller's own may throw, and may say what cannot be.
    return refuse(failed("run", "RUN_FAILED", "a verifier that failed"), cause);
  }
  checks.push(...verified.checks);
  if (!verified.ok) return rejection(verifier, checks, checks.at(-1) as Check, verified.cause);
  const { id, timestamp, payload } = verified;
  return { ok: true, event: { id, listenerId, timestamp, body, payload }, checks };
}

function judged(verified: Verification): Verification {
  const refused = verified.checks.findIndex(({ ok }) => !ok);
  if (refused >= 0) return { ...verified, ok: false, checks: verified.checks.slice(0, refused + 1) };
  if (!verified.ok)
    return {
      ok: false,
      checks: [...verified.checks, failed("run", "RUN_FAILED", "a refusal without a check")],
    };
  if (isEventKey(verified.id)) return verified;
  return { ok: false, checks: [...verified.checks, UNKNOWN_ID] };
}

const UNKNOWN_ID: Check = {
  step: "event-id",
  ok: false,
  code: "EVENT_ID_MALFORMED",
  rule: "the event id has 1 to 256 characters, none of them a control character",
};

/** Whether every database can store a text as an id, and its index. */
function isEventKey(id: unknown): boolean {
  return typeof id === "string" && STORABLE_ID.test(id);
}

/** A body in the forms that servers have: bytes, a text that stands for its UTF-8 bytes, or chunks as they arrive. */
export type BodyInput = Uint8Array | string | AsyncIterable<Uint8Array> | null | undefined;

/** Reads the body, or says why there is none. It is called after the envelope has passed. */
type BodyReader = () => ReadBody | Promise<ReadBody>;

type ReadBody = Uint8Array | "too-large" | "unreadable";

/** Makes a reader that stops as soon as the body is larger than any listener accepts. */
export function bodyReader(body: BodyInput): BodyReader {
  if (body === null || body === undefined) return () => new Uint8Array();
  if (typeof body === "string" || body instanceof Uint8Array) return () => bodyBytes(body);
  if (typeof body === "object" && Symbol.asyncIterator in body) return () => readChunks(body);
  throw new TypeError(
    "body must be the raw bytes (Uint8Array, string or a stream). This looks like a parsed body: its bytes, and with them " +
      "the signature, are gone. Turn off the body parser for this route, or let it keep the raw buffer.",
  );
}

async function readChunks(body: AsyncIterable<Uint8Array>): Promise<ReadBody> {
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
