// What an observer is told.
import type { ErrorCode } from "../core/errors.js";
import type { HeaderPair } from "../core/headers.js";

/** What all activities of one delivery have in common. */
interface ActivitySubject {
  /** The event's id. */
  readonly eventId: string;
  /** The listener's URL. */
  readonly url: string;
  /** Counts this process's deliveries: the same for all activities of one `send`, and for no other. */
  readonly delivery: number;
}

/**
 * One thing that a sender or an outbox did, as it happens; `type` says which. None of them holds a secret, a token or
 * a body.
 */
export type Activity =
  | (ActivitySubject & {
      readonly type: "send-started";
      /** The length of the event's body. */
      readonly bodyBytes: number;
    })
  | (ActivitySubject & {
      readonly type: "send-ended";
      /** Milliseconds since `send` was called. */
      readonly durationMs: number;
      /** How many attempts were made. */
      readonly attempts: number;
      readonly outcome: "accepted" | "duplicate" | "failed";
      /** Why it failed. */
      readonly code?: ErrorCode;
    })
  | (ActivitySubject & {
      readonly type: "attempt-started";
      /** 1 for the event's first attempt. */
      readonly attempt: number;
      /** The length of the event's body. */
      readonly bodyBytes: number;
      /** Headers to send along, such as `traceparent`: push them here. The protocol's own cannot be replaced. */
      readonly headers: HeaderPair[];
      /** The trace that was current when an outbox took the event; sent along unless another one is pushed. */
      readonly traceparent?: string;
    })
  | (ActivitySubject & {
      readonly type: "attempt-ended";
      /** 1 for the event's first attempt. */
      readonly attempt: number;
      /** Milliseconds that the attempt took. */
      readonly durationMs: number;
      /** What the answer means: `retry` a transient failure, `setup` a wrong setting, `final` a permanent refusal. */
      readonly outcome: "accepted" | "duplicate" | "retry" | "setup" | "final";
      /** The answer's HTTP status, if there was one. */
      readonly status?: number;
      /** Why it was not accepted. */
      readonly code?: ErrorCode;
    })
  | (ActivitySubject & {
      readonly type: "retry-scheduled";
      /** The number of the next attempt. */
      readonly attempt: number;
      /** Milliseconds until it starts. */
      readonly delayMs: number;
      /** Why the attempt before it was not accepted. */
      readonly code: ErrorCode;
    })
  | (ActivitySubject & {
      readonly type: "clock-corrected";
      /** How far the receiver's clock is ahead of the local one, in milliseconds. */
      readonly offsetMs: number;
    })
  | (ActivitySubject & {
      readonly type: "secret-switched";
      /** The place of the secret in those of the signer, from 0: the one that is tried, or that proved right. */
      readonly secretIndex: number;
      /** Whether the receiver accepted it; the sender goes on with this secret then. */
      readonly promoted: boolean;
    })
  | OutboxActivity
  | {
      readonly type: "warning";
      /** The listener's URL; empty if the warning is about no listener, or one that is not known. */
      readonly url: string;
      /** Absent when the warning is about the sender itself, such as a suspicious secret. */
      readonly eventId?: string;
      /** The name that leads to no listener, where the warning is that events wait for one. */
      readonly listener?: string;
      /** The warning as a sentence. */
      readonly message: string;
    };

/** What an outbox does besides attempts. */
export type OutboxActivity =
  | (ActivitySubject & {
      readonly type: "enqueue-started";
      /** The listener's name in the outbox. */
      readonly listener: string;
      /** The length of the event's body. */
      readonly bodyBytes: number;
      /** Push a `traceparent` here, and it is kept with the event. */
      readonly headers: HeaderPair[];
    })
  | (ActivitySubject & {
      readonly type: "enqueue-ended";
      /** The listener's name in the outbox. */
      readonly listener: string;
      /** Milliseconds that the enqueueing took. */
      readonly durationMs: number;
      /** Why the event could not be stored. */
      readonly code?: ErrorCode;
    })
  | (ActivitySubject & {
      readonly type: "delivery-ended";
      /** The listener's name in the outbox. */
      readonly listener: string;
      readonly outcome: "delivered" | "duplicate" | "dead";
      /** All attempts, those before a redrive included. */
      readonly attempts: number;
      /** Milliseconds since the event was enqueued. */
      readonly ageMs: number;
      /** Why it is a dead letter. */
      readonly code?: ErrorCode;
    })
  | {
      readonly type: "breaker-changed";
      /** The listener's URL. */
      readonly url: string;
      /** The listener's name in the outbox. */
      readonly listener: string;
      /** The circuit breaker's new state, in this process. */
      readonly state: "closed" | "open" | "half-open";
    }
  | {
      /**
       * From a running dispatcher at regular times: how many events wait for a listener; also for names that are none of
       * this process, of at most 100 those whose events wait for longest.
       */
      readonly type: "backlog";
      /** The listener's URL; empty where there is no listener of the name. */
      readonly url: string;
      /** The listener's name in the outbox. */
      readonly listener: string;
      /** Events that wait. */
      readonly pending: number;
      /** Events that a worker is delivering. */
      readonly inFlight: number;
      /** Dead letters. */
      readonly dead: number;
      /** Milliseconds since the oldest pending event was enqueued; 0 when there is none. */
      readonly oldestAgeMs: number;
      /** PostgreSQL: for how long a held snapshot has slowed this listener's claims; 0 while none does. */
      readonly slowedMs: number;
      /** The circuit breaker's state, in this process. */
      readonly breaker: "closed" | "open" | "half-open";
    }
  | {
      /** A job that a dispatcher does at regular times fails though the store can be reached, or works again. */
      readonly type: "upkeep-changed";
      /** Following the store's clock, ending expired events, removing old ones, finding unknown names, or measuring. */
      readonly job: "clock" | "expire" | "prune" | "unknown" | "stats";
      readonly works: boolean;
    }
  | {
      /**
       * The store cannot be used, or can be used again. While it cannot, that is told again with each other reason; that it
       * cannot is told once in 10 seconds at most.
       */
      readonly type: "store-changed";
      readonly available: boolean;
      /** Why it cannot be used. */
      readonly code?: ErrorCode;
      /** What the database or its driver says, in quotes, as one line of at most 200 characters that a terminal can show. */
      readonly reason?: string;
      /** The store's error, such as a `HookproofError` whose cause is the driver's. */
      readonly cause?: unknown;
    };

/** A callback for every activity of a sender or an outbox. What it throws is ignored, so that it cannot harm delivery. */
export type Observer = (activity: Activity) => void;

let deliveries = 0;

/** A new number for a delivery, unlike all others of this process. */
export function newDelivery(): number {
  deliveries += 1;
  return deliveries;
}
