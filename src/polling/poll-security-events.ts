// The polls of a recipient of security event tokens.

import { utf8 } from "../core/bytes.js";
import { type Clock, checkedClock, type sleep, steadySleep, systemClock } from "../core/clock.js";
import { HookproofError } from "../core/errors.js";
import { isObject, parseJson } from "../core/json.js";
import { checkOptions, checkWholeNumber, harmless } from "../core/options.js";
import type { Transport } from "../http/transport.js";
import type { Run } from "../receiver/accept.js";
import { createReceiver, type Receiver } from "../receiver/receiver.js";
import type { Verdict } from "../receiver/verdict.js";
import type { ReplayStore } from "../replay/replay-store.js";
import type { Verifier } from "../schemes/scheme.js";
import { DEFAULT_RETRY_POLICY } from "../sender/retry-policy.js";
import {
  type createAsk as Asking,
  type Authorization,
  createAsk,
  transmitterUrl,
  Unanswered,
} from "./ask.js";

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 5 * 60_000;
/** What the event that is being run may still take after the signal, and then the last acknowledgement. */
const LAST_MS = 5_000;
const SET_BYTES = 66_000;

/**
 * Fetches security event tokens from a transmitter (RFC 8936) until the signal aborts: asks, verifies each token as a
 * receiver does, calls `run` once for each `jti`, and acknowledges what was accepted, or seen before, in the next poll.
 * What is refused is reported as `setErrs`. A token whose `run` failed, or whose key set could not be fetched, is neither:
 * it comes again. Polls that fail are repeated, after 1 s at first and 5 minutes at most, and not before `Retry-After`,
 * which is kept to for 24 hours at most.
 *
 * @returns a promise that resolves when the signal has aborted, `run` has ended, which it has 5 s for, and the last
 *   acknowledgement was sent, which may take 5 s more; what a later `run` accepts is not acknowledged, and comes again
 * @throws {TypeError | RangeError | HookproofError} for options that cannot work, as a rejection
 *
 * @example
 * ```ts
 * import { remoteKeys } from "hookproof/jwks";
 * import { securityEventVerifier } from "hookproof/set";
 * import { pollSecurityEvents } from "hookproof/set/polling";
 *
 * const stopping = new AbortController();
 * const polls = pollSecurityEvents({
 *   url: "https://idp.example.com/ssf/poll",
 *   authorization: "Bearer …",
 *   verifier: securityEventVerifier({
 *     issuer: "https://idp.example.com/",
 *     audience: "https://rp.example.com/",
 *     keys: remoteKeys("https://idp.example.com/jwks.json"),
 *   }),
 *   run: async ({ payload }) => console.log(payload),
 *   signal: stopping.signal,
 * });
 * stopping.abort();
 * await polls;
 * ```
 */
export async function pollSecurityEvents(options: {
  /** The transmitter's endpoint for polls, `delivery.endpoint_url` of the stream. */
  url: string;
  /** The header `Authorization`, or a function that gives it, such as one that renews an access token. */
  authorization: Authorization;
  /** `securityEventVerifier(...)`. */
  verifier: Verifier;
  /** Accepts an event durably; when it resolves, the event is acknowledged. */
  run: Run;
  /** Ends the polls. */
  signal: AbortSignal;
  /** Where processed ids are remembered; a `memoryReplayStore` by default. */
  replayStore?: ReplayStore | undefined;
  /** Tokens of one answer at most, 1 to 100; 20 by default. */
  maxEvents?: number | undefined;
  /** How long the transmitter may hold a poll; 60,000 ms by default. */
  pollTimeoutMs?: number | undefined;
  /** How long it waits after an answer with nothing; 5,000 ms by default. What held the poll for longer is asked at once. */
  idleMs?: number | undefined;
  /** Called with the verdict on each token; what it throws is ignored. */
  onVerdict?: ((verdict: Verdict) => void) | undefined;
  /** Called with why a poll failed; what it throws is ignored. */
  onFailure?: ((error: unknown) => void) | undefined;
  /** An HTTP transport of your own instead of the library's. */
  transport?: Transport | undefined;
  /** The machine's clock by default. */
  clock?: Clock | undefined;
  /** The waits, for tests; `setTimeout` by default. */
  wait?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
}): Promise<void> {
  checkOptions("pollSecurityEvents", options, {
    url: 1,
    authorization: 1,
    verifier: "object",
    run: "function",
    signal: "object",
    replayStore: ".reserve",
    maxEvents: "number",
    pollTimeoutMs: "number",
    idleMs: "number",
    onVerdict: "function",
    onFailure: "function",
    transport: "function",
    clock: ".now",
    wait: "function",
  });
  const { signal, run, maxEvents = 20, pollTimeoutMs = 60_000, idleMs = 5_000 } = options;
  if (typeof run !== "function") throw new TypeError("run must be a function");
  if (typeof signal?.addEventListener !== "function") throw new TypeError("signal must be an AbortSignal");
  checkWholeNumber("maxEvents", maxEvents);
  if (maxEvents > 100) throw new RangeError("maxEvents must be at most 100");
  checkWholeNumber("pollTimeoutMs", pollTimeoutMs);
  checkWholeNumber("idleMs", idleMs, 0);
  const clock = checkedClock(options.clock ?? systemClock);
  const { verifier, replayStore, onVerdict, authorization, transport } = options;
  const receiver = createReceiver({ verifier, replayStore, onVerdict, clock });
  const polls = new Polls({
    url: transmitterUrl(options.url),
    ask: createAsk({ authorization, transport, clock }),
    receiver,
    run,
    signal,
    maxEvents,
    pollTimeoutMs,
    idleMs,
    clock,
    onFailure: harmless(options.onFailure) ?? (() => {}),
    wait: steadySleep(options.wait),
  });
  await polls.untilAborted();
}

interface PollsOptions {
  readonly url: string;
  readonly ask: ReturnType<typeof Asking>;
  readonly receiver: Receiver;
  readonly run: Run;
  readonly signal: AbortSignal;
  readonly maxEvents: number;
  readonly pollTimeoutMs: number;
  readonly idleMs: number;
  readonly clock: Clock;
  readonly onFailure: (error: unknown) => void;
  readonly wait: typeof sleep;
}

class Polls {
  readonly #options: PollsOptions;
  #ack = new Set<string>();
  #setErrs = new Map<string, object>();
  /** What the transmitter was told in the last poll that it answered. */
  #reported: ReadonlySet<string> = new Set();
  #pauseMs = 0;

  constructor(options: PollsOptions) {
    this.#options = options;
  }

  async untilAborted(): Promise<void> {
    const { signal, wait, onFailure } = this.#options;
    while (!signal.aborted) {
      try {
        const pauseMs = await this.#poll();
        if (pauseMs > 0) await wait(pauseMs, signal);
      } catch (error) {
        if (signal.aborted) break;
        onFailure(error);
        this.#lengthen();
        const asked = error instanceof Unanswered ? (error.retryAfterMs ?? 0) : 0;
        await wait(Math.max(this.#pauseMs, Math.min(asked, DEFAULT_RETRY_POLICY.maxRetryAfterMs)), signal);
      }
    }
    if (this.#ack.size + this.#setErrs.size === 0) return;
    try {
      await this.#ask({ maxEvents: 0, returnImmediately: true }, LAST_MS);
    } catch (error) {
      onFailure(error);
    }
  }

  /** One poll and what came of it; resolves to how long to wait before the next one. */
  async #poll(): Promise<number> {
    const { clock, maxEvents, pollTimeoutMs, idleMs, signal } = this.#options;
    const askedAt = clock.now();
    // Without returnImmediately: that it is false is the default, and a transmitter that cannot wait may refuse to be told.
    const answer = await this.#ask({ maxEvents }, pollTimeoutMs, signal);
    const { sets = {}, moreAvailable } = answer ?? {};
    if (!isObject(sets))
      throw new Unanswered("RESPONSE_INVALID", "The transmitter's answer has no object sets.");
    const tokens = Object.entries(sets);
    for (const [jti, token] of tokens) {
      if (signal.aborted) return 0;
      await this.#endedSoon(this.#take(jti, token));
    }
    // None was accepted for reasons that may pass, or the transmitter does not take note of what it is told.
    if (
      tokens.length > 0 &&
      [...this.#ack, ...this.#setErrs.keys()].every((jti) => this.#reported.has(jti))
    ) {
      this.#lengthen();
      return this.#pauseMs;
    }
    this.#pauseMs = 0;
    if (tokens.length > 0 || moreAvailable === true) return 0;
    return Math.max(0, Math.min(idleMs, idleMs - (clock.now() - askedAt)));
  }

  /** Sends what there is to acknowledge, and forgets it once the transmitter has answered. */
  async #ask(body: object, timeoutMs: number, signal?: AbortSignal) {
    const { ask, url, maxEvents } = this.#options;
    const ack = [...this.#ack];
    const setErrs = Object.fromEntries(this.#setErrs);
    const hasErrors = this.#setErrs.size > 0;
    const answer = await ask({
      method: "POST",
      url,
      body: { ...body, ...(ack.length > 0 && { ack }), ...(hasErrors && { setErrs }) },
      headers: hasErrors ? [["Content-Language", "en"]] : [],
      timeoutMs,
      maxResponseBytes: (maxEvents + 1) * SET_BYTES,
      signal,
    });
    this.#reported = new Set([...ack, ...this.#setErrs.keys()]);
    this.#ack.clear();
    this.#setErrs.clear();
    return answer;
  }

  /** Waits for the application's work: once the signal has aborted, no longer than `LAST_MS`. */
  async #endedSoon(work: Promise<void>): Promise<void> {
    const { signal, wait } = this.#options;
    const ended = new AbortController();
    const late = new Promise<void>((resolve) => {
      const onAbort = () => resolve(wait(LAST_MS, ended.signal));
      signal.addEventListener("abort", onAbort, { once: true, signal: ended.signal });
    });
    try {
      await Promise.race([work, late]);
    } finally {
      ended.abort();
    }
  }

  /** Verifies a token and runs it, and notes what the transmitter is to be told. */
  async #take(jti: string, token: unknown): Promise<void> {
    const { receiver, run, url } = this.#options;
    if (typeof token !== "string") return this.#refuse(jti, "invalid_request", "The value is no text.");
    let isOther = false;
    const answer = await receiver.receive(
      { method: "POST", url, headers: HEADERS, body: token },
      (event, ...rest) => {
        isOther = event.id !== jti;
        if (isOther) throw new HookproofError("EVENT_INVALID", "The token has another jti.");
        return run(event, ...rest);
      },
    );
    if (isOther)
      return this.#refuse(jti, "invalid_request", "The token has another jti than its member of sets.");
    if (answer.verdict.ok || answer.verdict.code === "EVENT_DUPLICATE") {
      this.#ack.add(jti);
      return;
    }
    if (answer.status !== 400) return;
    const refusal = parseJson(utf8(answer.body));
    if (refusal.ok && isObject(refusal.value)) this.#setErrs.set(jti, refusal.value);
  }

  #refuse(jti: string, err: string, description: string): void {
    this.#setErrs.set(jti, { err, description });
  }

  #lengthen(): void {
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, 2 * this.#pauseMs));
  }
}

const HEADERS = [["Content-Type", "application/secevent+jwt"]] as const;
