import type { ClaimRequest, EventFilter, Lease } from "hookproof/outbox/store";

/** What a claim asked for. */
export interface AskedClaim extends ClaimRequest {
  /** When the store looked for it, by the world's time; at the moment of the claim, if there is none. */
  readonly lookedAt?: number | undefined;
}

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
  limits: "concurrency and rate of a listener are kept, and a rate holds up nothing that it allows",
  "set-up": "401, 403 and 404 bury no event",
  gone: "410, where it means to stop, pauses the listener and buries no event",
  reason: "a dead letter has its reason: a refusal, the window, the attempts that were allowed",
  lost: "what counts as delivered has run",
  kept: "a worker sends what it has leased or gives it back, and stores what was answered while its lease holds",
  stop: "a worker that is told to stop begins no attempt, what it interrupts is due at once, and it ends with no lease",
  alive: "a worker that lives is seen and was heard of a moment ago, and one that has stopped is not",
  pruned: "what has ended is removed when its time is over, and nothing else",
  liveness: "after the faults every acknowledged event is delivered or a dead letter, in bounded time",
  locks: "nobody waits in a circle, nor for whom the server waits for, and a claim waits for no event",
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
  /** What the answer says in the listener's scheme: the event was taken, now or before, or is refused for good. */
  readonly means?: "accepted" | "known" | "refused" | undefined;
  /** Whether a request of the attempt was made in two copies, of which one may have been taken. */
  readonly resent?: boolean;
  readonly retryAfterMs?: number;
  readonly hasWrongTime?: boolean;
  /** By the store's clock. */
  readonly at: number;
}

/** A proof that is the same at every attempt: the bytes `all` where the key is the same, and what it says in any case. */
export interface Proof {
  readonly key: string;
  readonly claims: string;
  readonly all: string;
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
  /** Whether it was stored with a time of `deliverAt`. */
  readonly isTimed: boolean;
  /** When its transaction committed, by the world's time: a look before that does not find it. */
  readonly storedAt: number;
  /**
   * How far the store's clock was put back since it was claimed last, and since its first attempt: what it waits for may
   * be as much earlier by that clock, as the store follows it, and what it has been through as much later.
   */
  backMs: number;
  firstBackMs: number;
  blocksKey: boolean;
  /** The claim that may still change it. */
  held: Held | undefined;
  runs: number;
  sends: number;
  reason?: string;
  /** Its first proof, where it has one for all attempts. */
  proof?: Proof;
  /** By the store's clock. */
  endedAt?: number;
  /** Whether it was given a new id, which the next claim shows. */
  isRenamed?: boolean;
  /** The attempts that its history has to hold. */
  readonly recorded: { readonly number: number; readonly status: number | undefined }[];
}

export const nameOf = (listener: string, id: string) => `${listener} ${id}`;

export function isMeant(one: Facts, { listener = one.listener, ids }: EventFilter): boolean {
  return one.listener === listener && (ids?.includes(one.id) ?? true);
}

export function shortName({ listener, id, key }: Facts): string {
  return `${listener}/${id.slice(0, 8)}${key === undefined ? "" : `(${key})`}`;
}

export function text(body: Uint8Array): string {
  return Buffer.from(body).toString("latin1");
}

/** What is wrong with a proof of an event that has one for all attempts. */
export function proofFault(one: Facts, { key, claims, all }: Proof): string | undefined {
  one.proof ??= { key, claims, all };
  if (one.proof.claims !== claims) return `${shortName(one)} is sent with other claims`;
  const isSigned = one.proof.key === key && one.proof.all !== all;
  return isSigned ? `${shortName(one)} is signed again, to other bytes` : undefined;
}

/** Whether a worker holds it in any case. */
export function isHeldAt({ held, backMs }: Facts, now: number): boolean {
  return held !== undefined && held.lease.expiresAt - backMs > now;
}
