import type { ErrorCode } from "../errors.js";
import type { HeaderPair } from "../protocol/headers.js";
import type { Classification } from "./classify.js";

/** What all events of one delivery have in common. */
interface Subject {
  readonly eventId: string;
  readonly url: string;
  /** Counts this process's deliveries: the same for all events of one `send`, and for no other. */
  readonly delivery: number;
}

/** What happens to an event on its way, told as it happens. Nothing here holds a secret, a token or a body. */
export type SenderEvent =
  | (Subject & { readonly type: "send-started"; readonly bodyBytes: number })
  | (Subject & {
      readonly type: "send-ended";
      readonly durationMs: number;
      readonly attempts: number;
      readonly outcome: "accepted" | "duplicate" | "failed";
      readonly code?: ErrorCode;
    })
  | (Subject & {
      readonly type: "attempt-started";
      readonly attempt: number;
      readonly bodyBytes: number;
      /** Headers to send along, such as `traceparent`: push them here. The protocol's own cannot be replaced. */
      readonly headers: HeaderPair[];
      /** What was current when an outbox took the event; sent along unless another one is pushed. */
      readonly traceparent?: string;
    })
  | (Subject & {
      readonly type: "attempt-ended";
      readonly attempt: number;
      readonly durationMs: number;
      readonly verdict: Classification["verdict"];
      readonly status?: number;
      readonly code?: ErrorCode;
    })
  | (Subject & {
      readonly type: "retry-scheduled";
      /** The attempt that is to come. */
      readonly attempt: number;
      readonly delayMs: number;
      readonly code: ErrorCode;
    })
  | (Subject & { readonly type: "clock-corrected"; readonly offsetMs: number })
  | (Subject & {
      readonly type: "secret-switched";
      /** The index of the secret that is tried, or that proved right. */
      readonly candidate: number;
      readonly promoted: boolean;
    })
  | OutboxActivity
  | {
      readonly type: "warning";
      readonly url: string;
      /** Absent when the warning is about the sender itself, such as a suspicious secret. */
      readonly eventId?: string;
      readonly message: string;
    };

/** What happens in an outbox besides its attempts. */
type OutboxActivity =
  | (Subject & {
      readonly type: "enqueue-started";
      readonly listener: string;
      readonly bodyBytes: number;
      /** Push a `traceparent` here, and it is kept with the event. */
      readonly headers: HeaderPair[];
    })
  | (Subject & {
      readonly type: "enqueue-ended";
      readonly listener: string;
      readonly durationMs: number;
      readonly code?: ErrorCode;
    })
  | (Subject & {
      readonly type: "delivery-ended";
      readonly listener: string;
      readonly outcome: "accepted" | "duplicate" | "dead";
      /** Attempts begun, those of before a redrive included. */
      readonly attempts: number;
      /** Since the event was enqueued. */
      readonly ageMs: number;
      /** Why it is a dead letter. */
      readonly code?: ErrorCode;
    })
  | {
      readonly type: "breaker-changed";
      readonly url: string;
      readonly listener: string;
      readonly state: "closed" | "open" | "half-open";
    }
  | {
      /** From a running dispatcher, again and again: what waits for a listener. */
      readonly type: "backlog";
      readonly url: string;
      readonly listener: string;
      readonly pending: number;
      readonly inFlight: number;
      readonly dead: number;
      /** Since the oldest pending event was enqueued; 0 when there is none. */
      readonly oldestAgeMs: number;
      /** Of this process. */
      readonly breaker: "closed" | "open" | "half-open";
    }
  | {
      /** The store cannot be reached, or can be again. */
      readonly type: "store-changed";
      readonly available: boolean;
      readonly code?: ErrorCode;
      /** What the store failed with, such as a `HookproofError` whose cause is the driver's. */
      readonly cause?: unknown;
    };

/** One callback for everything; what it throws is dropped, so that watching never harms delivery. */
export type Observe = (event: SenderEvent) => void;

let deliveries = 0;

/** The number of a delivery that begins. */
export function newDelivery(): number {
  deliveries += 1;
  return deliveries;
}
