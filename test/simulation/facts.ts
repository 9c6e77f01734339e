import type { Lease } from "hookproof/outbox/store";

/** The rules that are looked at after every step: docs/simulation.md says what each means. */
export const RULES = {
  once: "an id runs once at a listener, inside the receiver's memory",
  bytes: "the bytes of an id never differ",
  "rolled back": "nothing is sent that was rolled back, refused, cancelled or never stored",
  order: "the events of an ordering key go one after another, in their order",
  leases: "no two leases of an event hold at the same time",
  fence: "a stale lease changes nothing, and one that holds does",
  window: "no attempt after the first one plus 7 days less an hour",
  "lease time": "no attempt under a lease that ends sooner than the attempt may",
  history: "the history of an event is what was answered, and the count of its attempts what was begun",
  schedule: "no retry sooner than the schedule and Retry-After say, and none much later",
  due: "nothing is claimed before it is due, while its listener is paused or rests, or after it has ended",
  recount: "counters equal a recount",
  limits: "concurrency and rate of a listener are kept",
  "set-up": "401, 403 and 404 bury no event",
  reason: "a dead letter has its reason: a refusal, the window, the attempts that were allowed",
  lost: "what counts as delivered has run",
  liveness: "after the faults every acknowledged event is delivered or a dead letter, in bounded time",
  "wake-up": "an idle worker hears of an event at once, and not by its next poll",
  error: "nothing throws what nobody expects",
  trace: "a seed gives the same trace twice",
} as const;

export type Rule = keyof typeof RULES;

export interface Violation {
  readonly rule: Rule;
  readonly at: number;
  readonly message: string;
}

/** A claim of an event by a worker. */
export interface Held {
  readonly worker: string;
  readonly lease: Lease;
  /** The number of its attempt. */
  readonly number: number;
  readonly sentBefore: boolean;
  /** By the world's time: when the worker asked for it, and when the store gave it. */
  readonly askedAt: number;
  readonly claimedAt: number;
  /** What `release` restores. */
  readonly before: {
    readonly dueAt: number;
    readonly attempts: number;
    readonly firstAttemptAt: number | undefined;
  };
  sends: number;
  last?: Seen;
}

/** What a worker learnt from a request. */
export interface Seen {
  readonly status?: number;
  readonly resent?: boolean;
  readonly retryAfterMs?: number;
  readonly hasWrongTime?: boolean;
  /** By the store's clock. */
  readonly at: number;
}

/** An event at a listener, as it has to stand in the store. */
export interface Facts {
  readonly name: string;
  readonly id: string;
  readonly listener: string;
  readonly key: string | undefined;
  readonly body: string;
  /** Its place in the order of its key. */
  place: number;
  state: "pending" | "delivered" | "dead" | "cancelled";
  dueAt: number;
  attempts: number;
  attemptsBefore: number;
  firstAttemptAt: number | undefined;
  blocksKey: boolean;
  /** The claim that may still change it. */
  held: Held | undefined;
  runs: number;
  sends: number;
  reason?: string;
  /** The attempts that its history has to hold. */
  readonly recorded: { readonly number: number; readonly status: number | undefined }[];
}

export const nameOf = (listener: string, id: string) => `${listener} ${id}`;
