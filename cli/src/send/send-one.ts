// Sends one event, prints how it went and remembers it.
import { createHash } from "node:crypto";
import {
  type Activity,
  createSender,
  type Receipt,
  type SenderOptions,
  type SignedRequest,
  signRequest,
  type WebhookEvent,
} from "hookproof";
import type { Context } from "../command.js";
import type { Target } from "../credentials/target.js";
import { CliError, EXIT } from "../failure.js";
import { remember } from "../history/history.js";
import type { HistoryRecord } from "../history/history-record.js";
import { countOf, field, type Output } from "../output.js";
import { keptOf } from "../schemes/chosen-scheme.js";
import { signingClock } from "../times.js";
import { explainFailure } from "./explain-failure.js";
import { explainRefusal } from "./explain-refusal.js";
import { plainHttpHosts, reachOf, requireOwnHeaders } from "./reach.js";
import { transportFor } from "./transport.js";

/** The sender's options as the flags have them. */
export async function senderOptions(context: Context, target: Target): Promise<SenderOptions> {
  const { args, global, out } = context;
  const reach = await reachOf(context, target);
  requireOwnHeaders(reach, target.url, target.signer);
  return {
    url: target.url,
    signer: target.signer,
    transport: await transportFor(context, target.url, reach),
    plainHttpHosts: reach.plainHttpHosts,
    retry: { maxAttempts: 1 + (args.number("retries") ?? 0) },
    attemptTimeoutMs: global.timeoutMs,
    deadlineMs: Math.max(30_000, 3 * global.timeoutMs),
    clock: signingClock(args.text("timestamp")),
    observe: (event) => narrate(out, event),
  };
}

/** Sends one event, prints how it went, and remembers it for a replay. */
export async function sendOne(context: Context, target: Target, event: WebhookEvent): Promise<number> {
  const { args, io, out } = context;
  let isDoubtful = false;
  const options = await senderOptions(context, target);
  const sender = createSender({
    ...options,
    observe(activity) {
      if (activity.type === "warning" && activity.eventId === event.id) isDoubtful = true;
      options.observe?.(activity);
    },
  });
  const timestamp = Math.floor(signingClock(args.text("timestamp")).now() / 1000);
  const { url, signer, config } = target;
  const first = await signRequest({ url, signer, event, timestamp, plainHttpHosts: plainHttpHosts(config) });
  describeRequest(out, { ...target, eventId: event.id, timestamp, body: event.body });
  if (target.scheme === undefined) out.detail(2, signedText(target, first, timestamp));
  const sending: Sending = { target, event, first, timestamp, at: Date.now(), startedAt: performance.now() };
  let receipt: Receipt;
  try {
    receipt = await sender.send(event, { signal: io.stopSignal });
  } catch (error) {
    return refused(context, sending, error);
  }
  return delivered(context, sending, receipt, isDoubtful);
}

/** An event that was sent, as far as it is known before the answer. */
interface Sending {
  readonly target: Target;
  readonly event: WebhookEvent;
  /** The first request that it was sent in. */
  readonly first: SignedRequest;
  /** Unix seconds. */
  readonly timestamp: number;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  /** The same moment by the monotonic clock. */
  readonly startedAt: number;
}

async function delivered(
  context: Context,
  sending: Sending,
  receipt: Receipt,
  isDoubtful: boolean,
): Promise<number> {
  const { args, io, out } = context;
  const { target } = sending;
  const { outcome, status, attempts } = receipt;
  const durationMs = durationOf(sending);
  await remember(io, out, [{ ...recordOf(sending), status, outcome }]);
  const exit = exitFor(context, receipt);
  const answer = answerOf(sending);
  out.document({ ...answer, ok: exit === EXIT.ok, outcome, status, attempts: attempts.length, durationMs });
  const expected = args.number("expect");
  const isExpected = expected === undefined || status === expected;
  const words = outcomeLine(receipt, target, isDoubtful);
  out.line(
    isExpected
      ? `${out.paint("green", "✔")} ${words}   ${durationMs} ms`
      : `${out.paint("red", "✖")} ${words}, where ${expected} was expected   ${durationMs} ms`,
  );
  if (isExpected && status >= 200 && status < 300)
    out.note(
      `next: hookproof replay last      send the same event id again and see ${copyStatus(target, status)}`,
    );
  return exit;
}

/** @throws {CliError} unless `--expect` names the status that it was refused with */
async function refused(context: Context, sending: Sending, error: unknown): Promise<number> {
  const { args, io, out } = context;
  const failure = explainFailure(error);
  await remember(io, out, [
    {
      ...recordOf(sending),
      ...statusOf(failure.answer),
      outcome: failure.code,
      ...(failure.listenerAnswer === undefined ? {} : { answer: failure.listenerAnswer }),
    },
  ]);
  const expected = args.number("expect");
  const answer = answerOf(sending);
  const { status, attempts } = failure.answer;
  if (expected !== undefined && status === expected) {
    const durationMs = durationOf(sending);
    out.document({ ...answer, ok: true, outcome: "refused", status, attempts, durationMs });
    out.line(`${out.paint("green", "✔")} ${status} as expected`);
    return EXIT.ok;
  }
  const explained = await explainRefusal(context, sending.target, sending.first, failure);
  const { exit, code, message, hint, next, listenerAnswer, answer: known } = explained;
  const isTimeChosen = args.isGiven("timestamp") && known.receiverCode === "TIMESTAMP_OUT_OF_WINDOW";
  const ownHint = isTimeChosen ? "The time is the one given with --timestamp." : hint;
  throw new CliError(expected === undefined ? exit : EXIT.checkFailed, code, message, {
    hint: expected === undefined ? ownHint : `${expected} was expected. ${ownHint ?? ""}`.trimEnd(),
    next,
    listenerAnswer,
    answer: { ...answer, ...known },
  });
}

function durationOf({ startedAt }: Sending): number {
  return Math.round(performance.now() - startedAt);
}

/** What every answer in JSON begins with. */
function answerOf({ target: { method, url }, event: { id, body }, timestamp }: Sending) {
  return { type: "send", eventId: id, timestamp, method, url, bodyBytes: body.length };
}

/** What is remembered of it, but for how it ended. */
function recordOf({ target, event, first, at }: Sending): Omit<HistoryRecord, "outcome"> {
  return {
    v: 1,
    at,
    eventId: event.id,
    url: target.url,
    method: target.method,
    headers: first.headers,
    bodyBase64: Buffer.from(event.body).toString("base64"),
    ...(target.scheme === undefined ? {} : { scheme: keptOf(target.scheme) }),
    ...(isSame(first.body, event.body) ? {} : { sentBase64: Buffer.from(first.body).toString("base64") }),
    credential: target.credential,
  };
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.from(one).equals(other);
}

function statusOf(answer: Readonly<Record<string, unknown>>): { status?: number } {
  return typeof answer.status === "number" ? { status: answer.status } : {};
}

function exitFor({ args }: Context, receipt: Receipt): number {
  const expected = args.number("expect");
  if (expected !== undefined && receipt.status !== expected) return EXIT.checkFailed;
  return receipt.outcome === "duplicate" && args.flag("fail-on-duplicate") ? EXIT.duplicate : EXIT.ok;
}

/** What a listener answers to a copy. */
function copyStatus({ scheme }: Target, status: number): number {
  return scheme?.answersCopiesAlike ? status : 409;
}

/** @param isDoubtful the answer is not the service's: that an automation was triggered is not proved */
function outcomeLine(
  { status, outcome, attempts }: Receipt,
  { scheme }: Target,
  isDoubtful: boolean,
): string {
  if (outcome === "duplicate")
    return `${status} duplicate: this event id was used before; the automation did not run again`;
  if (status === 409)
    return `${status} delivered by an earlier attempt (${countOf(attempts.length, "attempt")})`;
  return `${status} accepted${scheme || isDoubtful ? "" : ", automation triggered"}${attempts.length > 1 ? ` (${countOf(attempts.length, "attempt")})` : ""}`;
}

/** What the proof is made over: the canonical text of a signature, or the claims of a token. */
function signedText(
  { method }: Target,
  { headers, body, eventId }: SignedRequest,
  timestamp: number,
): string {
  if (method === "hmac") return `canonical  ${timestamp}.${eventId}.${Buffer.from(body).toString("utf8")}`;
  const [, claims = ""] = (headers.Authorization ?? "").split(".");
  return `claims     ${Buffer.from(claims, "base64url").toString("utf8")}`;
}

/** Writes what happens during a delivery to stderr. */
function narrate(out: Context["out"], event: Activity): void {
  if (event.type === "warning") out.warn(event.message);
  if (event.type === "clock-corrected") {
    const seconds = Math.abs(Math.round(event.offsetMs / 1000));
    const side = event.offsetMs > 0 ? "ahead of" : "behind";
    out.warn(
      `The listener's clock is ${seconds} s ${side} the signed time; the event was signed again with the listener's time.`,
    );
  }
  if (event.type === "secret-switched" && event.promoted) {
    out.warn(`The listener accepts secret ${event.secretIndex + 1} of the given secrets.`);
  }
  if (event.type === "retry-scheduled") {
    out.note(
      `attempt ${event.attempt - 1} failed (${event.code}); the next in ${(event.delayMs / 1000).toFixed(1)} s`,
    );
  }
  if (event.type === "attempt-ended") {
    out.detail(
      2,
      `time       attempt ${event.attempt}: ${event.status ?? event.code} after ${event.durationMs} ms`,
    );
  }
}

/** A request to a listener, as far as a summary shows it. */
interface RequestSummary {
  readonly url: string;
  readonly proof: string;
  readonly eventId: string;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly body: Uint8Array;
}

/** Prints what is sent; every command that sends prints it this way. */
export function describeRequest(out: Output, { url, proof, eventId, timestamp, body }: RequestSummary): void {
  const digest = createHash("sha256").update(body).digest("hex").slice(0, 8);
  out.line(`POST ${url}`);
  out.line(field("method", proof));
  out.line(field("event id", eventId));
  out.line(field("timestamp", `${timestamp}  ${isoSeconds(timestamp)}`));
  out.line(field("body", `${countOf(body.length, "byte")}    sha256:${digest}…`));
}

function isoSeconds(timestamp: number): string {
  return new Date(timestamp * 1000).toISOString().replace(".000Z", "Z");
}
