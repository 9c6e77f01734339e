import { type Activity, type Clock, hmacSigner } from "hookproof";
import {
  createOutbox,
  memoryStore,
  type Outbox,
  type OutboxListenerOptions,
  type OutboxOptions,
} from "hookproof/outbox";
import { waitFor as waitForWithin } from "hookproof/testing";
import { onTestFinished } from "vitest";
import { type ReceiverServer, receiverServer, SECRET } from "../kit/receiver-server.js";
import { type SteppedClock, steppedClock } from "./stepped-clock.js";
import { underWay } from "./under-way.js";

/**
 * An outbox over the memory store, with a clock that the test moves, and real receivers. Time passes between attempts
 * only: however long a handshake or an answer takes, it takes no time of the bench's clock.
 */
export interface OutboxBench {
  /** The worker's clock. */
  readonly clock: SteppedClock;
  /** The store's clock, which is days ahead of the worker's and passes with it; `adjust` sets it alone. */
  readonly storeClock: Clock & { adjust(ms: number): void };
  readonly store: ReturnType<typeof memoryStore>;
  readonly events: Activity[];
  /** Events of one type that were told so far. */
  told<Type extends Activity["type"]>(type: Type): Extract<Activity, { type: Type }>[];
  receiver(options?: Parameters<typeof receiverServer>[0]): Promise<ReceiverServer>;
  /** A listener's options for a receiver of this bench. */
  listener(server: { readonly url: string }, options?: Partial<OutboxListenerOptions>): OutboxListenerOptions;
  outbox(listeners: OutboxOptions["listeners"], options?: Partial<OutboxOptions<never>>): Outbox<never>;
  /** Waits until nothing is under way; no time passes. */
  quiet(): Promise<void>;
  /** Moves the clock step by step until something is so. */
  passUntil(predicate: () => boolean | Promise<boolean>, stepMs?: number, steps?: number): Promise<void>;
  /** Moves the clock step by step, by so much in all. */
  pass(ms: number, stepMs?: number): Promise<void>;
  /** Moves the clock step by step until a promise resolves. */
  passDuring(work: Promise<unknown>, stepMs?: number): Promise<void>;
}

const STARTED_AT = Date.parse("2026-01-01T00:00:00Z");
const STORE_AHEAD_MS = 40 * 3_600_000;
/** The one limit that is of real time: as long as a lease allows, so that a slow machine's attempts do not end by it. */
const ATTEMPT_TIMEOUT_MS = 50_000;

export function outboxBench(): OutboxBench {
  const clock = steppedClock(STARTED_AT);
  let storeAheadMs = STORE_AHEAD_MS;
  const storeClock = {
    now: () => STARTED_AT + storeAheadMs + clock.monotonic(),
    adjust(ms: number) {
      storeAheadMs += ms;
    },
  };
  const store = memoryStore({ clock: storeClock });
  const events: Activity[] = [];
  const { watched, noting, quiet } = underWay();
  const bench: OutboxBench = {
    clock,
    storeClock,
    store,
    events,
    told: (type) => events.filter((event): event is never => event.type === type),
    async receiver({ intercept, ...options } = {}) {
      const noted = intercept && { intercept: noting(intercept) };
      const server = await receiverServer({ clock, ...options, ...noted });
      onTestFinished(() => server.stop());
      return server;
    },
    listener: ({ url }, options = {}) => ({
      url,
      signer: hmacSigner({ secret: SECRET }),
      attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
      ...options,
    }),
    outbox(listeners, { store: given = store, ...options } = {}) {
      const outbox = createOutbox<never>({
        store: watched(given),
        listeners,
        clock,
        wait: clock.wait,
        random: () => 0.5,
        observe: (event) => events.push(event),
        ...options,
      });
      onTestFinished(() => outbox.stop({ timeoutMs: 0 }));
      return outbox;
    },
    quiet,
    async passUntil(predicate, stepMs = 100, steps = 2_000) {
      await quiet();
      for (let step = 0; step < steps; step++) {
        if (await predicate()) return;
        clock.advance(stepMs);
        await quiet(); // also where nothing waits for the clock: the loop may be between two turns
      }
      throw new Error("it never came to be");
    },
    async pass(ms, stepMs = 1_000) {
      await quiet();
      for (let passed = 0; passed < ms; passed += stepMs) if (clock.advance(stepMs)) await quiet();
    },
    async passDuring(work, stepMs) {
      let done = false;
      const ended = work.finally(() => {
        done = true;
      });
      await bench.passUntil(() => done, stepMs);
      await ended;
    },
  };
  return bench;
}

/** As the public one, with time enough for a machine that runs all tests at once; a mutant is not waited for. */
export const waitFor: typeof waitForWithin = (predicate, options) =>
  waitForWithin(predicate, { timeoutMs: process.env.MUTATION_ROOM ? 3_000 : 100_000, ...options });
