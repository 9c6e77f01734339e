// The endpoint of a transmitter that recipients fetch security event tokens from.

import { decodeUtf8 } from "../core/bytes.js";
import {
  CALLBACK_MS,
  type Clock,
  checkedClock,
  monotonicMs,
  type sleep,
  steadySleep,
  systemClock,
  within,
} from "../core/clock.js";
import { type ErrorCode, HookproofError } from "../core/errors.js";
import { JSON_TYPE } from "../core/headers.js";
import { checkOptions, checkWholeNumber } from "../core/options.js";
import { type BodyEncryption, timelyEncryption } from "../outbox/body-encryption.js";
import { bodyToSend } from "../outbox/event-attempt.js";
import type { ClaimedEvent, OutboxStore } from "../outbox/outbox-store.js";
import type { OutboxAttempt } from "../outbox/records.js";
import { bodyReader, streamChunks } from "../receiver/verify-request.js";
import type { Signer } from "../schemes/scheme.js";
import { DEFAULT_RETRY_POLICY } from "../sender/retry-policy.js";
import { type PollRequest, pollRequest } from "./poll-request.js";

/** Tokens of one answer at most: with each of 64 KiB it is some megabytes. */
const MAX_EVENTS = 100;
/** How many polls of one handler wait at most; one more is answered at once. */
const MAX_WAITING = 100;
/** How often a poll that waits looks by itself, as not every store can tell of what other processes enqueue. */
const LOOK_EVERY_MS = 1_000;

/**
 * The endpoint from which a recipient fetches its security event tokens (RFC 8936), as a handler of web requests. The
 * events are those that an outbox of the same store has enqueued for a listener with `polled: true`, which no worker
 * delivers. An answer leases its events: they are given out again after `leaseMs` unless they are acknowledged, at
 * whichever process that has the store. Only an `ack` marks them as delivered; with `setErrs` they become dead letters.
 *
 * @throws {TypeError | RangeError} for options that cannot work
 *
 * @example
 * ```ts
 * import { createOutbox, memoryStore } from "hookproof/outbox";
 * import { createKeySet, generateKey } from "hookproof/jwks";
 * import { CAEP, securityEvent, securityEventSigner } from "hookproof/set";
 * import { securityEventPollHandler } from "hookproof/set/polling";
 *
 * const keySet = createKeySet([await generateKey({ alg: "ES256" })]);
 * const signer = securityEventSigner({
 *   issuer: "https://idp.example.com/",
 *   audience: "https://rp.example.com/",
 *   key: () => keySet.signingKey("ES256"),
 * });
 * const store = memoryStore();
 * const outbox = createOutbox({ store, listeners: { rp: { url: "https://rp.example.com/", signer, polled: true } } });
 * await outbox.enqueue({ listener: "rp", payload: securityEvent(CAEP.sessionRevoked, {}) });
 *
 * declare function isRecipient(authorization: string | null): Promise<boolean>;
 * const handler = securityEventPollHandler({
 *   store,
 *   listener: "rp",
 *   signer,
 *   authorize: (request) => isRecipient(request.headers.get("Authorization")),
 * });
 * const answer = (request: Request) => handler(request);
 * ```
 */
export function securityEventPollHandler(options: {
  /** The store of the outbox. */
  store: OutboxStore<never>;
  /** The name under which the events are enqueued: the recipient's. */
  listener: string;
  /** `securityEventSigner(...)`. */
  signer: Signer;
  /** Says whether a request comes from the recipient; where it does not the answer is 401. */
  authorize: (request: Request) => boolean | Promise<boolean>;
  /** The outbox's encryption, if it has one. */
  encryption?: BodyEncryption | undefined;
  /** How long events that were given out may be acknowledged before they are given out again; 60,000 ms by default. */
  leaseMs?: number | undefined;
  /** How long a poll waits for an event at most, unless it wants to be answered at once; 30,000 ms by default. */
  waitMs?: number | undefined;
  /** The source of time of attempts and waits; the system's clock by default. */
  clock?: Clock | undefined;
  /** The waits, for tests; `setTimeout` by default. */
  wait?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
}): (request: Request) => Promise<Response> {
  checkOptions("securityEventPollHandler", options, {
    store: 1,
    listener: 1,
    signer: ".sign",
    authorize: "function",
    encryption: "object",
    leaseMs: "number",
    waitMs: "number",
    clock: ".now",
    wait: "function",
  });
  const { store, listener, signer, authorize, leaseMs = 60_000, waitMs = 30_000 } = options;
  if (typeof store?.leases !== "function") throw new TypeError("store must be that of an outbox");
  if (typeof listener !== "string" || listener === "") throw new TypeError("listener must be a text");
  if (typeof authorize !== "function") throw new TypeError("authorize must be a function");
  checkWholeNumber("leaseMs", leaseMs);
  checkWholeNumber("waitMs", waitMs, 0);
  const clock = checkedClock(options.clock ?? systemClock);
  const given = { encryption: timelyEncryption(options.encryption), wait: steadySleep(options.wait) };
  const endpoint = new Endpoint({ store, listener, signer, leaseMs, waitMs, clock, ...given });
  return async (request) => {
    if (typeof request?.headers?.get !== "function") throw new TypeError("request must be a web Request");
    try {
      const mayAsk = within(
        Promise.resolve(authorize(request)),
        CALLBACK_MS,
        () => new Error("authorize hangs"),
      );
      if ((await mayAsk) !== true) return refused(401, "", [["WWW-Authenticate", "Bearer"]]);
      return await answerTo(request, endpoint);
    } catch {
      // Nothing was acknowledged that is not stored: the recipient asks again.
      return refused(503, "");
    }
  };
}

async function answerTo(request: Request, endpoint: Endpoint): Promise<Response> {
  if (request.method !== "POST") return refused(405, "", [["Allow", "POST"]]);
  if (!JSON_TYPE.test(request.headers.get("Content-Type") ?? ""))
    return refused(415, "Content-Type must be application/json");
  const body = await arrived(request);
  if (body === "late") return refused(408, "the body took too long");
  if (typeof body === "string") return body === "too-large" ? refused(413, body) : refused(400, body);
  const asked = pollRequest(body);
  if (typeof asked === "string") return refused(400, asked);
  const answer = await endpoint.answer(asked, request.signal);
  return new Response(JSON.stringify(answer), {
    headers: { ...HEADERS, "Content-Type": "application/json" },
  });
}

/** The body, unless it comes too slowly: then nothing more of it is waited for. */
async function arrived(request: Request) {
  const read = Promise.resolve(bodyReader(request.body && streamChunks(request.body))());
  const ended = read.catch(() => "unreadable" as const);
  const slow = () => new Error("the body took too long");
  return await within(ended, CALLBACK_MS, slow).catch(() => "late" as const);
}

const HEADERS = { "Cache-Control": "no-store" };

function refused(status: number, words: string, headers: readonly [string, string][] = []): Response {
  return new Response(words === "" ? null : `${words}\n`, {
    status,
    headers: [...Object.entries(HEADERS), ...headers],
  });
}

interface EndpointOptions {
  readonly store: OutboxStore<never>;
  readonly listener: string;
  readonly signer: Signer;
  readonly leaseMs: number;
  readonly waitMs: number;
  readonly clock: Clock;
  readonly encryption: BodyEncryption | undefined;
  readonly wait: typeof sleep;
}

interface Given {
  readonly sets: Readonly<Record<string, string>>;
  readonly moreAvailable?: true;
}

/** The events of one recipient. */
class Endpoint {
  readonly #options: EndpointOptions;
  #waiting = 0;

  constructor(options: EndpointOptions) {
    this.#options = options;
  }

  /** Takes note of what has arrived, then gives what there is, or waits for it. */
  async answer(asked: PollRequest, signal: AbortSignal): Promise<Given> {
    await this.#settle(asked);
    const { clock, waitMs } = this.#options;
    const max = Math.min(asked.maxEvents ?? MAX_EVENTS, MAX_EVENTS);
    const until = monotonicMs(clock) + waitMs;
    let given = await this.#give(max, signal);
    if (asked.returnImmediately || this.#waiting >= MAX_WAITING) return given;
    this.#waiting += 1;
    try {
      while (isNothing(given) && monotonicMs(clock) < until && !signal.aborted) {
        await this.#work(until - monotonicMs(clock), signal);
        if (!signal.aborted) given = await this.#give(max, signal);
      }
    } finally {
      this.#waiting -= 1;
    }
    return given;
  }

  async #settle({ ack, setErrs }: PollRequest): Promise<void> {
    const { store, listener, clock } = this.#options;
    const ids = [...new Set([...ack, ...setErrs.keys()])];
    if (ids.length === 0) return;
    const startedAt = clock.now();
    const found = await store.leases(listener, ids);
    const delivered = found.filter(({ lease }) => !setErrs.has(lease.id));
    await store.markDelivered(
      delivered.map(({ lease, attempt: number }) => {
        const attempt: OutboxAttempt = { number, startedAt, durationMs: 0, status: 200 };
        return { lease, outcome: "delivered", attempt };
      }),
    );
    for (const { lease, attempt: number } of found) {
      const answer = setErrs.get(lease.id);
      if (answer === undefined) continue;
      const code = "REQUEST_REFUSED";
      const attempt = { number, startedAt, durationMs: 0, status: 200, code, answer } as const;
      await store.fail(lease, { reason: "refused", code, attempt, blocksKey: false });
    }
  }

  /** Leases one event more than is given, which says whether there are more. */
  async #give(max: number, signal: AbortSignal): Promise<Given> {
    const { store, listener, leaseMs, clock } = this.#options;
    const { windowMs } = DEFAULT_RETRY_POLICY;
    const share = new Map([[listener, { most: max + 1, windowMs }]]);
    const claimed = await store.claim({ limit: max + 1, leaseMs, listeners: share });
    const kept = signal.aborted ? [] : claimed.slice(0, max);
    const back = claimed.slice(kept.length);
    if (back.length > 0) await store.release(back.map(({ lease }) => lease));
    const sets: [string, string][] = [];
    const endsAt = monotonicMs(clock) + CALLBACK_MS;
    let failure: unknown;
    let place = 0;
    try {
      for (const one of kept) {
        const leftMs = endsAt - monotonicMs(clock);
        if (signal.aborted || leftMs <= 0) break;
        const token = await this.#tokenOf(one, leftMs, signal).catch(async (error) => {
          if (signal.aborted) throw error;
          failure = error;
          await this.#putBehind(one, error);
        });
        if (token !== undefined) sets.push([one.event.id, token]);
        place += 1;
      }
      // A recipient that has gone would wait for these until their leases run out.
      if (kept.length > 0 && signal.aborted) throw new Error("the recipient has gone");
    } catch (error) {
      await store.release(kept.map(({ lease }) => lease));
      throw error;
    }
    const left = kept.slice(place);
    if (left.length > 0) await store.release(left.map(({ lease }) => lease));
    if (failure !== undefined && sets.length === 0) throw failure;
    return {
      sets: Object.fromEntries(sets),
      ...(back.length + left.length > 0 && !signal.aborted && { moreAvailable: true as const }),
    };
  }

  /** Gives back an event that got no token this time, due behind those that wait: it holds up no other, and has its reason. */
  async #putBehind({ lease, attempt: number }: ClaimedEvent, error: unknown): Promise<void> {
    const { store, leaseMs, clock } = this.#options;
    const code = error instanceof HookproofError ? error.code : "SIGNER_FAILED";
    const claimedAt = lease.expiresAt - leaseMs;
    await store.reschedule(lease, claimedAt, { number, startedAt: clock.now(), durationMs: 0, code });
  }

  /** The token of an event; nothing for one that can never be a token, which becomes a dead letter. */
  async #tokenOf(
    { event, lease, firstAttemptAt }: ClaimedEvent,
    leftMs: number,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { store, signer, encryption } = this.#options;
    try {
      const body = await bodyToSend(event, { encryption, allowUnencrypted: false });
      const timestamp = String(Math.floor(firstAttemptAt / 1_000));
      const signing = Promise.resolve(signer.sign({ url: "", timestamp, eventId: event.id, body }));
      const proof = await within(signing, leftMs, () => new Error("the signer hangs"), signal);
      return decodeUtf8(proof.body ?? body);
    } catch (error) {
      const code = error instanceof HookproofError ? error.code : undefined;
      if (code === undefined || !NEVER.has(code)) throw error;
      await store.fail(lease, { reason: "unsendable", code, blocksKey: false });
      return undefined;
    }
  }

  /** Resolves when there may be something new, and after a while in any case. */
  async #work(atMostMs: number, signal: AbortSignal): Promise<void> {
    const { store, wait } = this.#options;
    const ending = new AbortController();
    const end = () => ending.abort();
    const stop = store.onWork?.(end);
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    await wait(Math.min(atMostMs, LOOK_EVERY_MS), ending.signal);
    signal.removeEventListener("abort", end);
    stop?.();
  }
}

/** What no later attempt can correct. */
const NEVER: ReadonlySet<ErrorCode> = new Set(["EVENT_INVALID", "OUTBOX_BODY_UNREADABLE"]);

function isNothing({ sets, moreAvailable }: Given): boolean {
  return moreAvailable === undefined && Object.keys(sets).length === 0;
}
