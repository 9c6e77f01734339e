// What the rules of an outbox store work with.
import { sha256Base64url } from "#hash";
import { utf8 } from "../../core/bytes.js";
import { newEventId } from "../../core/event.js";
import type { ClaimedEvent, ClaimShare, OutboxStore } from "../../outbox/outbox-store.js";
import type { DeadLetter, DeliveryFailure, Lease, OutboxAttempt, OutboxEvent } from "../../outbox/records.js";
import { type ContractCase, expectSame } from "../contract-case.js";

/** An outbox store to test; it is empty at first. */
export interface OutboxStoreSubject<Tx = unknown> {
  /** Opens a store over the same events each time, as another process does, or the same one after a restart. */
  open(): OutboxStore<Tx> | Promise<OutboxStore<Tx>>;
  /**
   * Lets time pass for the store: moves its clock forward, or every stored time back. Below 0 it puts the clock back, or
   * every stored time forward.
   */
  passTime(ms: number): void | Promise<void>;
  /** Runs work inside a transaction of the caller's own; absent if the store has no transactions. */
  transaction?(end: "commit" | "rollback", work: (tx: Tx) => Promise<void>): Promise<void>;
  /** Makes `enqueue` wait, as behind another transaction's lock, until the function that it resolves to is called. */
  holdUp?(): Promise<() => void | Promise<void>>;
  /** Makes all open connections to the database hang, as behind a firewall that has lost its state. */
  hang?(): void | Promise<void>;
  /** Runs work while the database executes every statement and all its answers are lost. */
  loseAnswers?(work: () => Promise<void>): Promise<void>;
}

/** What a case works with: the store, its subject, and short forms of frequent steps. */
export interface Trial {
  readonly store: OutboxStore;
  readonly subject: OutboxStoreSubject;
  /** Enqueues events one after another. */
  put(...events: OutboxEvent[]): Promise<void>;
  /** Claims up to `limit` events of listeners, any number of each; of `LISTENER` by default. */
  take(limit?: number, listeners?: readonly string[]): Promise<readonly ClaimedEvent[]>;
  /** Claims exactly one event of `LISTENER`. */
  takeOne(): Promise<ClaimedEvent>;
  /** Claims one event and makes it a dead letter. */
  failOne(failure?: Partial<DeliveryFailure>): Promise<ClaimedEvent>;
  /** Marks one event as delivered; resolves to 1 if the lease was valid. */
  deliver(lease: Lease): Promise<number>;
  /** The dead letters, as an array. */
  deadLetters(...filter: Parameters<OutboxStore["deadLetters"]>): Promise<readonly DeadLetter[]>;
}

export const LISTENER = "lst_contract";
export const OTHER_LISTENER = 'another "listener", ключ';
export const LEASE_MS = 60_000;
export const WINDOW_MS = 60 * 60_000;

/** A claim's shares: so many of each listener, inside the suite's window. */
export const sharesOf = (listeners: readonly string[], max: number): ReadonlyMap<string, ClaimShare> =>
  new Map(listeners.map((listener) => [listener, { most: max, windowMs: WINDOW_MS }]));

export const event = (text: string, fields: Partial<OutboxEvent> = {}): OutboxEvent => {
  const body = utf8(JSON.stringify({ text }));
  return { id: newEventId(), listener: LISTENER, body, digest: sha256Base64url(body), ...fields };
};

/** An attempt's record; `startedAt` is arbitrary, as it is by the worker's clock. */
export const attemptRecord = (number: number, fields: Partial<OutboxAttempt> = {}): OutboxAttempt => ({
  number,
  startedAt: 1_767_225_600_000 + number,
  durationMs: 12,
  status: 200,
  ...fields,
});

export const failed = (number: number): OutboxAttempt =>
  attemptRecord(number, { status: 503, code: "RECEIVER_UNAVAILABLE", answer: "be back soon" });

/** The texts of claimed events, in their order. */
export const texts = (claimed: readonly { readonly event: OutboxEvent }[]): string[] =>
  claimed.map(({ event: { body } }) => (JSON.parse(new TextDecoder().decode(body)) as { text: string }).text);

export function rule(name: string, check: (trial: Trial) => Promise<void>): ContractCase<OutboxStoreSubject> {
  return {
    name,
    async run(subject) {
      const opened = new Set<OutboxStore>();
      const open = async () => {
        const store = await subject.open();
        opened.add(store);
        return store;
      };
      try {
        await check(trialOf(await open(), { ...subject, open }));
      } finally {
        for (const store of opened) await store.close();
      }
    },
  };
}

function trialOf(store: OutboxStore, subject: OutboxStoreSubject): Trial {
  const trial: Trial = {
    store,
    subject,
    async put(...events) {
      for (const one of events) await store.enqueue([one]);
    },
    take: (limit = 100, listeners = [LISTENER]) =>
      store.claim({ limit, leaseMs: LEASE_MS, listeners: sharesOf(listeners, limit) }),
    async takeOne() {
      const [claimed, ...more] = await trial.take(1);
      if (!claimed || more.length > 0) throw new Error(`claim: expected 1 event, got ${claimed ? 2 : 0}`);
      return claimed;
    },
    async failOne(failure = {}) {
      const claimed = await trial.takeOne();
      const isDone = await store.fail(claimed.lease, {
        reason: "refused",
        code: "REQUEST_REFUSED",
        attempt: attemptRecord(claimed.attempt, { status: 400, code: "REQUEST_REFUSED" }),
        blocksKey: false,
        ...failure,
      });
      expectSame("fail", isDone, true);
      return claimed;
    },
    deliver: (lease) => store.markDelivered([{ lease, outcome: "delivered", attempt: attemptRecord(1) }]),
    async deadLetters(...filter) {
      const letters: DeadLetter[] = [];
      for await (const letter of store.deadLetters(...filter)) letters.push(letter);
      return letters;
    },
  };
  return trial;
}

/** The code a call fails with, whether it throws or rejects; `undefined` if it does neither. */
export async function codeOf(work: () => unknown): Promise<unknown> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return (error as { code?: unknown }).code ?? error;
  }
}
