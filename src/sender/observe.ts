import type { ErrorCode } from "../errors.js";
import type { HeaderPair } from "../protocol/headers.js";
import type { Classification } from "./classify.js";

/** What happens to an event on its way, told as it happens. Nothing here holds a secret, a token or a body. */
export type SenderEvent =
  | {
      readonly type: "attempt-started";
      readonly eventId: string;
      readonly url: string;
      readonly attempt: number;
      readonly bodyBytes: number;
      /** Headers to send along, such as `traceparent`: push them here. The protocol's own cannot be replaced. */
      readonly headers: HeaderPair[];
    }
  | {
      readonly type: "attempt-ended";
      readonly eventId: string;
      readonly url: string;
      readonly attempt: number;
      readonly durationMs: number;
      readonly verdict: Classification["verdict"];
      readonly status?: number;
      readonly code?: ErrorCode;
    }
  | {
      readonly type: "retry-scheduled";
      readonly eventId: string;
      readonly url: string;
      readonly attempt: number;
      readonly delayMs: number;
      readonly code: ErrorCode;
    }
  | {
      readonly type: "clock-corrected";
      readonly eventId: string;
      readonly url: string;
      readonly offsetMs: number;
    }
  | {
      readonly type: "secret-switched";
      readonly eventId: string;
      readonly url: string;
      readonly candidate: number;
      readonly promoted: boolean;
    }
  | {
      readonly type: "send-started";
      readonly eventId: string;
      readonly url: string;
      readonly bodyBytes: number;
    }
  | {
      readonly type: "send-ended";
      readonly eventId: string;
      readonly url: string;
      readonly durationMs: number;
      readonly attempts: number;
      readonly outcome: "accepted" | "duplicate" | "failed";
      readonly code?: ErrorCode;
    }
  | { readonly type: "warning"; readonly url: string; readonly eventId?: string; readonly message: string };

/** One callback for everything; what it throws is dropped, so that watching never harms delivery. */
export type Observe = (event: SenderEvent) => void;

/** The caller's callback, made harmless. */
export function harmless(observe: Observe | undefined): Observe {
  if (!observe) return () => {};
  return (event) => {
    try {
      observe(event);
    } catch {
      // Watching must not change what is watched.
    }
  };
}
