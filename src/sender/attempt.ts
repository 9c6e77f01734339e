// Makes one attempt: signs, sends and reads the answer.
import { type Clock, monotonicMs, within } from "../core/clock.js";
import { type ErrorCode, HookproofError } from "../core/errors.js";
import type { WebhookEvent } from "../core/event.js";
import { type HeaderPair, httpDate, onlyValue } from "../core/headers.js";
import { isUnsent, type Transport, type TransportResponse } from "../http/transport.js";
import { type Classification, classifyAnswer, classifyFailure } from "../schemes/classification.js";
import type { Scheme, SignedParts, Signer } from "../schemes/scheme.js";
import { answerLine } from "./answer-line.js";
import type { AttemptRecord } from "./attempt-record.js";
import { clockDifference, clockOffset, isAhead } from "./clock-offset.js";
import type { Observer } from "./observe.js";
import { isExtra, signedRequest } from "./sign-request.js";

const MAX_ANSWER_BYTES = 16_384;

/** What attempts at one listener share. */
interface SendContext {
  readonly url: string;
  readonly scheme: Scheme;
  readonly signer: Signer;
  readonly transport: Transport;
  readonly clock: Clock;
  /** Headers to send along. */
  readonly headers: readonly HeaderPair[];
  readonly observe: Observer | undefined;
}

/** One attempt at delivering an event. */
interface AttemptRequest {
  readonly event: WebhookEvent;
  /** 1 for the event's first attempt. */
  readonly number: number;
  /** Whether an earlier attempt may have sent this id; by default, of all attempts but the first. */
  readonly sentBefore?: boolean | undefined;
  /** When the event's first attempt started, in ms since the epoch; for the first attempt it may be left out. */
  readonly firstAttemptAt?: number | undefined;
  /** The `traceparent` that was kept with the event. */
  readonly traceparent?: string | undefined;
  /** The number that observers know this delivery by; see `newDelivery`. */
  readonly delivery: number;
  /** For the whole attempt with its corrections. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** An attempt's record and what it means. */
export interface AttemptOutcome {
  readonly record: AttemptRecord;
  readonly classification: Classification;
  /** The answer, if there was one. */
  readonly response?: TransportResponse | undefined;
  /** The error, where there was no answer. */
  readonly cause?: unknown;
  /** Nobody knows whether the receiver has taken the event. */
  readonly mayHaveArrived: boolean;
}

/** Makes one attempt; never rejects. */
export type Attempt = (request: AttemptRequest) => Promise<AttemptOutcome>;

/** What an answer may show to be wrong, and what is kept where another value helped. */
interface Settings {
  /** How far the receiver's clock is ahead of the local one. */
  readonly offsetMs: number;
  /** Which of the signers is used. */
  readonly secretIndex: number;
}

type Correction = "clock" | "secret";

/** The result of one request: an answer, or a code and the error. */
type RequestResult =
  | {
      readonly sentAt: number;
      readonly response: TransportResponse;
      readonly signed: SignedParts;
      readonly cause?: undefined;
    }
  | {
      readonly sentAt: number;
      readonly response?: undefined;
      readonly failure: ErrorCode;
      readonly cause: unknown;
      /** Something of the request may have reached the receiver. */
      readonly mayBeSent: boolean;
    };

/**
 * Attempts at one listener: each signs again and sends. Within an attempt the same event is sent once more when
 * the answer shows that our clock is off, or when another secret may be the right one. A correction that helped is
 * kept for the next attempts, in memory and for this listener only.
 */
export function createAttempt(context: SendContext): Attempt {
  const kept = { settings: { offsetMs: 0, secretIndex: 0 } };
  return (request) => attempt(context, request, kept);
}

async function attempt(
  context: SendContext,
  request: AttemptRequest,
  /** Shared by all attempts, also those that run at the same time. */
  kept: { settings: Settings },
): Promise<AttemptOutcome> {
  const { url, clock, observe } = context;
  const { event, number, sentBefore = number > 1 } = request;
  const subject = { eventId: event.id, url, delivery: request.delivery };
  const startedAt = clock.now();
  const started = monotonicMs(clock);
  const headers = startedHeaders(context, request);
  const corrected: Correction[] = [];
  const asked = askedSigners(context.signer);
  const signers = "then" in asked ? await signersNow(asked, context.signer, request) : asked;
  let settings = signers[kept.settings.secretIndex] ? kept.settings : { ...kept.settings, secretIndex: 0 };
  let changes: Partial<Settings> = {};
  let mayHaveArrived = false;

  for (;;) {
    const result = await signAndSend(context, request, {
      signer: signers[settings.secretIndex] ?? context.signer,
      settings,
      startedAt,
      headers,
      endsAt: started + request.timeoutMs,
    });
    const isRepeated = sentBefore || mayHaveArrived;
    mayHaveArrived ||= leavesOpen(result);
    const change = correction(context, signers.length, result, settings, corrected);
    if (change) {
      settings = { ...settings, ...change };
      changes = { ...changes, ...change };
      const { offsetMs, secretIndex } = settings;
      const isClock = "offsetMs" in change;
      corrected.push(isClock ? "clock" : "secret");
      if (isClock) observe?.({ ...subject, type: "clock-corrected", offsetMs });
      else observe?.({ ...subject, type: "secret-switched", secretIndex, promoted: false });
      continue;
    }
    const classification = classified(context, result, {
      number: isRepeated ? Math.max(2, number) : 1,
      offsetMs: settings.offsetMs,
      provedAt: request.firstAttemptAt ?? startedAt,
    });
    if (corrected.length > 0 && isSure(classification)) {
      const { secretIndex } = changes;
      if (secretIndex !== undefined && secretIndex !== kept.settings.secretIndex)
        observe?.({ ...subject, type: "secret-switched", secretIndex, promoted: true });
      kept.settings = { ...kept.settings, ...changes };
    }
    const timing = { number, startedAt, durationMs: monotonicMs(clock) - started };
    const record = recordOf(result, timing, classification, corrected);
    const answer = result.response && answerLine(result.response, headers, result.signed);
    if (answer !== undefined) Object.defineProperty(record, "answer", { value: answer });
    tellEnded(context, request, record, classification);
    return { record, classification, mayHaveArrived, response: result.response, cause: result.cause };
  }
}

/** Whether the answer is the listener's own word that it knows the event: a correction that led to it is kept. */
function isSure(classification: Classification): boolean {
  return classification.outcome === "accepted"
    ? classification.warning === undefined
    : classification.outcome === "duplicate";
}

/** Tells the observer that an attempt starts; gives the headers to send along, with those that the observer added. */
function startedHeaders(
  { url, scheme, observe, headers }: SendContext,
  { event, number, delivery, traceparent }: AttemptRequest,
): readonly HeaderPair[] {
  const added: HeaderPair[] = [];
  observe?.({
    eventId: event.id,
    url,
    delivery,
    type: "attempt-started",
    attempt: number,
    bodyBytes: event.body.length,
    headers: added,
    ...(traceparent === undefined ? {} : { traceparent }),
  });
  // The trace goes on at the receiver also where no observer continues it.
  if (traceparent !== undefined && !added.some(([name]) => name.toLowerCase() === "traceparent"))
    added.push(["traceparent", traceparent]);
  return added.length === 0 ? headers : [...headers, ...added.filter((line) => isExtra(scheme, line))];
}

function tellEnded(
  { url, observe }: SendContext,
  { event, number, delivery }: AttemptRequest,
  { durationMs, status, code }: AttemptRecord,
  classification: Classification,
): void {
  observe?.({
    eventId: event.id,
    url,
    delivery,
    type: "attempt-ended",
    attempt: number,
    durationMs,
    outcome: classification.outcome,
    ...(status === undefined ? {} : { status }),
    ...(code === undefined ? {} : { code }),
  });
  if ("warning" in classification && classification.warning)
    observe?.({ type: "warning", url, eventId: event.id, message: classification.warning });
}

/** Signs an event for this moment and sends it; never rejects. */
async function signAndSend(
  { url, scheme, transport, clock }: SendContext,
  { event, signal, firstAttemptAt }: AttemptRequest,
  {
    signer,
    settings,
    startedAt,
    headers,
    endsAt,
  }: {
    signer: Signer;
    settings: Settings;
    startedAt: number;
    headers: readonly HeaderPair[];
    /** By the monotonic clock. */
    endsAt: number;
  },
): Promise<RequestResult> {
  const sentAt = clock.now();
  let timeoutMs = endsAt - monotonicMs(clock);
  let signed: ReturnType<typeof signedRequest>;
  try {
    if (timeoutMs <= 0) throw new HookproofError("TIMED_OUT", "There was no time left for another request.");
    const signedAt = scheme.proof === "event" ? (firstAttemptAt ?? startedAt) : sentAt + settings.offsetMs;
    const timestamp = String(Math.floor(signedAt / 1000));
    const unsigned = { url, timestamp, eventId: event.id, body: event.body };
    let proof: SignedParts | Promise<SignedParts> = signer.sign(unsigned);
    if ("then" in proof) {
      proof = await within(proof, timeoutMs, () => noSignature(timeoutMs, signal), signal);
      const left = endsAt - monotonicMs(clock);
      if (left <= 0) throw noSignature(timeoutMs, signal);
      timeoutMs = left;
    }
    signed = signedRequest(scheme, unsigned, proof);
  } catch (cause) {
    return { sentAt, failure: codeOf(cause, "SIGNER_FAILED"), cause, mayBeSent: false };
  }
  try {
    const response = await transport({
      method: "POST",
      url,
      headers: headers.length === 0 ? signed.headers : [...signed.headers, ...headers],
      body: signed.body,
      timeoutMs,
      maxResponseBytes: MAX_ANSWER_BYTES,
      signal,
    });
    return { sentAt, response, signed };
  } catch (cause) {
    return { sentAt, failure: codeOf(cause, "CONNECTION_FAILED"), cause, mayBeSent: !isUnsent(cause) };
  }
}

/** The signers of this attempt, the preferred one first. A signer of the caller's own may do anything. */
function askedSigners(signer: Signer): readonly Signer[] | Promise<readonly Signer[]> {
  try {
    return signer.alternatives?.() ?? [signer];
  } catch (cause) {
    return [failing(signer, cause)];
  }
}

async function signersNow(
  asked: Promise<readonly Signer[]>,
  signer: Signer,
  { timeoutMs, signal }: AttemptRequest,
): Promise<readonly Signer[]> {
  try {
    return await within(asked, timeoutMs, () => noSignature(timeoutMs, signal), signal);
  } catch (cause) {
    return [failing(signer, cause)];
  }
}

/** A signer that fails in the place of those that cannot be had. */
function failing({ scheme }: Signer, cause: unknown): Signer {
  return { scheme, sign: () => Promise.reject(cause) };
}

function noSignature(ms: number, signal: AbortSignal | undefined): HookproofError {
  return signal?.aborted
    ? new HookproofError("ABORTED", "Interrupted before anything was sent.")
    : new HookproofError("TIMED_OUT", `No signature within ${Math.ceil(ms)} ms.`);
}

/** A signer or transport of the caller's own may throw anything. */
function codeOf(error: unknown, otherwise: ErrorCode): ErrorCode {
  return error instanceof HookproofError ? error.code : otherwise;
}

/** The settings to try next, if the answer shows that one of the current settings may be wrong. */
function correction(
  { clock, scheme }: SendContext,
  secrets: number,
  { response, sentAt }: RequestResult,
  { offsetMs, secretIndex }: Settings,
  done: readonly Correction[],
): Partial<Settings> | undefined {
  if (response?.status === 401) {
    const switches = done.filter((kind) => kind === "secret").length;
    if (switches + 1 < secrets) return { secretIndex: (secretIndex + 1) % secrets };
  }
  if (response?.status !== 400 || scheme.proof === "event" || done.includes("clock")) return undefined;
  const offset = clockOffset(response, { sentAt, receivedAt: clock.now(), offsetMs });
  return offset === undefined ? undefined : { offsetMs: offset };
}

/** What a result means. A 400 for a wrong clock is not the event's fault, which can be sent once the clock is right. */
function classified(
  { clock, scheme }: SendContext,
  result: RequestResult,
  /** `provedAt`: the time of a proof that is made for the event, in ms. */
  { number, offsetMs, provedAt }: { number: number; offsetMs: number; provedAt: number },
): Classification {
  if (!result.response) return classifyFailure(result.failure);
  const { response, sentAt } = result;
  // By the answer's own clock: a Retry-After that is a date was meant by it. A success needs no time.
  const date = response.status < 300 ? undefined : httpDate(onlyValue(response.headers, "date"));
  const now = date ?? clock.now();
  const classification = meaningOf(scheme, response, number, now);
  if (classification.outcome !== "final" || response.status !== 400) return classification;
  const setup = { ...classification, outcome: "setup" } as const;
  if (scheme.proof === "event")
    return isAhead(provedAt, now) ? { ...setup, hints: [aheadHint(provedAt - now)] } : classification;
  const difference = clockDifference(response, { sentAt, receivedAt: clock.now(), offsetMs });
  if (difference === undefined && codeIn(response) !== "TIMESTAMP_OUT_OF_WINDOW") return classification;
  return { ...setup, hints: [clockHint(difference)] };
}

/** What the scheme says, or what holds for most of them where a scheme of the caller's own fails. */
function meaningOf(scheme: Scheme, response: TransportResponse, number: number, now: number): Classification {
  try {
    return scheme.classify(response, number, now);
  } catch {
    return classifyAnswer(response, number, now);
  }
}

/**
 * Whether the receiver may have taken the event although nothing says so: no 4xx means that it did, but a 5xx may come
 * from a server in front of the receiver, or after the receiver took the event; and one of two copies may have been taken.
 */
function leavesOpen(result: RequestResult): boolean {
  if (!result.response) return result.mayBeSent;
  return result.response.status >= 500 || result.response.resent === true;
}

function clockHint(differenceMs: number | undefined): string {
  if (differenceMs === undefined) return "a clock that is more than 5 minutes off: ours, or the receiver's";
  const minutes = Math.round(Math.abs(differenceMs) / 60_000);
  return `this machine's clock: it is ${minutes} minutes ${differenceMs > 0 ? "behind" : "ahead of"} the receiver's`;
}

function aheadHint(aheadMs: number): string {
  return `a clock: the event's first attempt, whose time is in its proof, is ${Math.round(aheadMs / 60_000)} minutes ahead of the receiver's time`;
}

function recordOf(
  { response }: RequestResult,
  timing: { number: number; startedAt: number; durationMs: number },
  classification: Classification,
  corrected: readonly Correction[],
): AttemptRecord {
  const record: { -readonly [Name in keyof AttemptRecord]: AttemptRecord[Name] } = timing;
  if (response) record.status = response.status;
  if ("code" in classification) record.code = classification.code;
  const receiverCode = response && response.status !== 200 ? codeIn(response) : undefined;
  if (receiverCode !== undefined) record.receiverCode = receiverCode;
  if (corrected.length > 0) record.corrected = corrected;
  return record;
}

/** The code in an answer of this protocol's form, if it has one. Nothing else of a stranger's answer is repeated. */
function codeIn({ body }: TransportResponse): string | undefined {
  const start = String.fromCharCode(...body.subarray(0, 80));
  return /^\s*\{\s*"code"\s*:\s*"([A-Z][A-Z0-9_]{2,39})"/.exec(start)?.[1];
}
