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
  | {
      readonly type: "warning";
      readonly url: string;
      /** Absent when the warning is about the sender itself, such as a suspicious secret. */
      readonly eventId?: string;
      readonly message: string;
    };

/** One callback for everything; what it throws is dropped, so that watching never harms delivery. */
export type Observe = (event: SenderEvent) => void;

/** The caller's callback, made harmless. */
export function harmless(observe: Observe | undefined): Observe {
  if (!observe) return () => {};
  return (event) => {
    try {
      const returned: unknown = observe(event);
      if (returned instanceof Promise) returned.catch(() => {});
    } catch {
      // Watching must not change what is watched.
    }
  };
}

let deliveries = 0;

/** The number of a delivery that begins. */
export function newDelivery(): number {
  deliveries += 1;
  return deliveries;
}
