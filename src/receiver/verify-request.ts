import type { Cidr } from "../primitives/address.js";
import { type Clock, unixSeconds } from "../primitives/clock.js";
import type { Check } from "../protocol/check.js";
import { EVENT_ID_HEADER, TIMESTAMP_HEADER } from "../protocol/headers.js";
import { checkBody } from "./check-body.js";
import { checkCredential, checkEnvelope, checkHeaders, checkSize, type RequestHead } from "./checks.js";
import type { PreparedListener } from "./listener.js";
import { failed, type Rejection, rejection, type Verdict } from "./verdict.js";

/** The rules a request is held against. */
export interface PipelineRules {
  readonly listener: PreparedListener;
  readonly trustedProxies: readonly Cidr[];
  readonly clock: Clock;
}

/** The body, or why there is none; it is asked for once the envelope has passed. */
export type BodyReader = () => Promise<Uint8Array | "too-large" | "unreadable">;

/**
 * Steps 0 to 6 of the receiving pipeline, in order, up to the first that fails. Pure but for reading the
 * clock and asking for keys; no store is touched.
 */
export async function verifyRequest(
  rules: PipelineRules,
  head: RequestHead,
  readBody: BodyReader,
): Promise<Verdict> {
  const { listener, clock } = rules;
  const checks: Check[] = [];
  const envelope = firstFailure(checks, checkEnvelope(listener, head, rules.trustedProxies));
  if (envelope) return envelope;

  const body = await readBody();
  const now = secondsOf(clock);
  if ("cause" in now) return withoutClock(checks, now.cause);
  const early = firstFailure(checks, checksBeforeCredential(body, head, now.seconds));
  if (early || !(body instanceof Uint8Array)) return early as Rejection;

  const credential = await checkCredential(listener, head.headers, body, now.seconds);
  const refused = firstFailure(checks, credential);
  if (refused) return refused;

  const json = checkBody(head.headers, body);
  const unreadable = firstFailure(checks, json.checks);
  if (unreadable) return unreadable;

  const [id = ""] = head.headers.all(EVENT_ID_HEADER);
  const [timestamp = ""] = head.headers.all(TIMESTAMP_HEADER);
  const event = {
    id: id.toLowerCase(),
    listenerId: listener.id,
    timestamp: Number(timestamp),
    body,
    payload: json.payload,
  };
  return { ok: true, event, checks };
}

function secondsOf(clock: Clock): { readonly seconds: number } | { readonly cause: unknown } {
  try {
    return { seconds: unixSeconds(clock) };
  } catch (cause) {
    return { cause };
  }
}

/** Without the time nothing can be judged, and that is not the sender's fault: it may come again. */
function withoutClock(checks: Check[], cause: unknown): Rejection {
  const check = failed("window", "RUN_FAILED", "the receiver's clock tells the time", "a clock that failed");
  checks.push(check);
  return rejection(checks, check, "RUN_FAILED", cause);
}

function* checksBeforeCredential(
  body: Awaited<ReturnType<BodyReader>>,
  head: RequestHead,
  nowSeconds: number,
): Iterable<Check> {
  yield checkSize(body);
  yield* checkHeaders(head.headers, nowSeconds);
}

/** Collects checks up to and with the first that failed, which is the verdict. */
function firstFailure(collected: Check[], checks: Iterable<Check>): Rejection | undefined {
  for (const check of checks) {
    collected.push(check);
    // What counts is that it failed: a code that somebody forgot must not let a request through.
    if (!check.ok) return rejection(collected, check, check.code ?? "RUN_FAILED");
  }
  return undefined;
}
