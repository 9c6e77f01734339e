// What server and page of an outbox say to each other.
import type { AlertKind } from "hookproof/alerts";
import type { ListenerStats, OutboxAttempt, OutboxEntry } from "hookproof/outbox";

/**
 * What the outbox page's server and the page say to each other. Every address is relative to the page's own.
 *
 * | request                  | answer                                                              |
 * | ------------------------ | ------------------------------------------------------------------- |
 * | `GET api/overview`       | `Overview`                                                          |
 * | `GET api/dead-letters`   | `DeadLetters`, grouped                                              |
 * | `GET api/waiting?listener=` | `EventView[]`: what waits for a listener, the first enqueued first |
 * | `GET api/events/:id`     | `EventView[]`: one for each listener; 404                           |
 * | `POST api/redrive`       | `RedriveOrder` in, `RedriveResult` out; without `dryRun` it needs the action `redrive` |
 * | `POST api/pause`         | `{ listener, reason? }` in, 204; needs the action `pause`           |
 * | `POST api/resume`        | `{ listener }` in, 204; needs the action `pause`                    |
 *
 * Every call needs the token of the page's address; POST needs an `Origin` that is the page's own, too. A failure is
 * `{ code, message }`. Times are milliseconds since the epoch.
 */
export const LIMITS = {
  /** Listeners of one answer, those in trouble first. */
  listeners: 500,
  /** Waiting events of one listener. */
  waiting: 50,
  /** Alerts of one answer, the oldest first. */
  alerts: 100,
  /** Workers of one answer, those seen last. */
  workers: 50,
  /** Dead letters that are read to be grouped, the oldest first. */
  deadLetters: 2_000,
  /** Event ids that are named of a group. */
  idsOfGroup: 10,
} as const;

/** What the page may do besides showing. */
export const ACTIONS = ["redrive", "pause"] as const;
/** What a person can do to the outbox on its page. */
export type OutboxAction = (typeof ACTIONS)[number];

/** A code in words, from the catalogue of codes. */
export interface Words {
  readonly code: string;
  readonly message: string;
  readonly cause: string;
  readonly fix: string;
}

/** The last attempt that failed. */
export interface Failure {
  readonly at: number;
  readonly code: string;
  readonly status?: number;
  /** The start of the answer, as one line. */
  readonly answer?: string;
  /** Absent for a code that the catalogue does not have. */
  readonly words?: Words;
  /** Absent where it is known only that the listener failed. */
  readonly eventId?: string;
}

/** How one listener stands. */
export interface ListenerView
  extends Pick<
    ListenerStats,
    | "listener"
    | "pending"
    | "inFlight"
    | "delivered"
    | "dead"
    | "oldestAgeMs"
    | "paused"
    | "unknownSince"
    | "restsUntil"
    | "lastSuccessAt"
    | "breaker"
  > {
  /** Deliveries a minute, as this page has seen them; absent until it has looked for a while. */
  readonly perMinute?: number;
  readonly failure?: Failure;
  /** When the next of its waiting events is due, of those that are looked at; absent where none has a time. */
  readonly nextAt?: number;
}

/** An alert that would stand, with the thresholds that `watchOutbox` has by default. */
export interface AlertView {
  readonly kind: AlertKind;
  readonly listener?: string;
  /** Since when, as far as a page has looked. */
  readonly at: number;
}

/** A worker that was not stopped; its times by the page's clock. */
export interface WorkerView {
  readonly id: string;
  readonly name: string;
  readonly startedAt: number;
  readonly lastSeenAt: number;
}

/** How the outbox stands. */
export interface Overview {
  readonly version: string;
  /** What the outbox is called, such as its file. */
  readonly name: string;
  readonly now: number;
  readonly actions: readonly OutboxAction[];
  readonly listeners: readonly ListenerView[];
  /** How many listeners there are in all. */
  readonly total: number;
  readonly alerts: readonly AlertView[];
  /** How many alerts would stand in all. */
  readonly totalAlerts: number;
  /** Those seen last first; absent where the outbox does not know its workers. */
  readonly workers?: readonly WorkerView[];
}

/** Dead letters of one listener that failed alike. */
export interface DeadGroup {
  readonly listener: string;
  readonly reason: "refused" | "attempts" | "window" | "unsendable";
  readonly code: string;
  readonly count: number;
  readonly oldestAt: number;
  readonly newestAt: number;
  /** Why the newest of them failed. */
  readonly failure: Failure;
  readonly ids: readonly string[];
}

/** The dead letters. */
export interface DeadLetters {
  readonly groups: readonly DeadGroup[];
  /** There are more than were read: the groups are of the oldest. */
  readonly isCut: boolean;
}

/** Which dead letters are to be delivered again. */
export interface RedriveOrder {
  readonly listener: string;
  readonly reason: DeadGroup["reason"];
  readonly code: string;
  /** Counts, and changes nothing. */
  readonly dryRun: boolean;
  readonly newIds?: boolean;
}

/** How many are delivered again, or would be; and how many are past their window, which only new ids redrive. */
export interface RedriveResult {
  readonly redriven: number;
  readonly pastWindow: number;
}

/** An attempt, and why it failed in words. */
export interface AttemptView extends Pick<OutboxAttempt, "number" | "startedAt" | "durationMs"> {
  readonly status?: number;
  readonly code?: string;
  readonly answer?: string;
  readonly corrected?: readonly string[];
  readonly words?: Words;
}

/** One event at one listener. */
export interface EventView extends Omit<OutboxEntry, "attempts"> {
  readonly attempts: readonly AttemptView[];
}
