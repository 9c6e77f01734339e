// What a scheme is: six questions, a signer and a verifier.
import type { Check, SchemeCheck } from "../core/check.js";
import type { VerdictCode } from "../core/errors.js";
import type { HeaderPair, ReceivedHeaders } from "../core/headers.js";
import type { Answer, Classification } from "./classification.js";

/**
 * A way to prove webhooks, as data: what differs from one scheme to the next. Sender, outbox and receiver learn it from
 * the signer or the verifier that they are given, and know no scheme by its name.
 */
export interface Scheme {
  /** A stable name of small letters, digits and hyphens. */
  readonly name: string;
  /** The `Content-Type` of requests. */
  readonly contentType: string;
  /**
   * When a proof is made. `attempt`: again for every attempt, with the time of that attempt. `event`: for the event, so that
   * the signer is given the time of its first attempt at every attempt, and makes the same proof again.
   */
  readonly proof: "attempt" | "event";
  /**
   * The names of the header lines that the scheme makes, in any case: a sender's option `headers` cannot set them. One
   * that ends in `*` stands for all names that begin so.
   */
  readonly ownHeaders: readonly string[];
  /**
   * How long a receiver of the scheme remembers an event id, in ms; 7 days by default. A sender's last attempt is an hour
   * earlier.
   */
  readonly rememberedMs?: number;
  /**
   * Whether the scheme can send an event id that is no UUID of version 4, but 1 to 256 other visible ASCII characters. By
   * default it can send none.
   */
  takesEventId?(id: string): boolean;
  /**
   * The form in which a listener's URL is signed and sent to; throws for one that the scheme does not allow. By default
   * any https URL without credentials and fragment, and http on loopback and for the hosts that the sender's option
   * `plainHttpHosts` names.
   */
  targetUrl?(url: string, plainHttpHosts?: readonly string[]): string;
  /** Header lines that every request has, no matter who signs it: those of the event's id and time. */
  headers?(request: UnsignedRequest): readonly HeaderPair[];
  /**
   * What an answer means to the sender; `classifyAnswer` is a good start. Pure.
   *
   * @param attempt 1 for an event's first attempt
   * @param now milliseconds since the epoch, for `Retry-After` as a date
   */
  classify(answer: Answer, attempt: number, now: number): Classification;
}

/** What a receiver answers by a scheme. */
export interface SchemeAnswers {
  /** The status for an accepted event; 200 by default. */
  readonly accepted?: number;
  /** The statuses of refusals that differ from those of docs/errors.md; that of EVENT_DUPLICATE is a copy's. */
  readonly statuses?: Readonly<Partial<Record<VerdictCode, number>>>;
  /** Header lines of every answer that has a body, next to its `Content-Type`. */
  readonly headers?: readonly HeaderPair[];
  /** The body: JSON, or "" for none. `{}` and `{"code", "message"}` by default. */
  body?(refusal: Refusal | undefined): string;
}

/** A refusal, as its answer may show it. */
export interface Refusal {
  /** Why, by its stable name. */
  readonly code: VerdictCode;
  /** What was demanded: the `rule` of the check that failed. */
  readonly rule: string;
  /** What was wrong: the `fact` of the check that failed. */
  readonly fact: string;
}

/** What a signer of a scheme adds to a request. */
export interface SignedParts {
  /** The header lines that prove it. */
  readonly headers: readonly HeaderPair[];
  /** The bytes to send instead of the event's body, for a scheme whose proof contains it. */
  readonly body?: Uint8Array;
}

/** What a signer is given for one attempt: the values exactly as they will be sent. */
export interface UnsignedRequest {
  /** The listener's URL. */
  readonly url: string;
  /** The time of the proof: Unix seconds in decimal, as they will be sent. */
  readonly timestamp: string;
  /** The event's id, as it will be sent. */
  readonly eventId: string;
  /** The body's exact bytes. */
  readonly body: Uint8Array;
}

/**
 * Signs requests by a scheme: what `createSender`, `createOutbox` and `signRequest` take. `hmacSigner` and `jwtSigner`
 * make those of the Access Governance Service; other schemes have their own. It is the sum of its members: a copy with
 * one of them changed does the rest as before.
 */
export interface Signer {
  /** The scheme that it signs by. */
  readonly scheme: Scheme;
  /** What looks wrong about the secret or key, in plain words; the sender passes it on to its observer. */
  readonly warnings?: readonly string[];
  /** Proves one request; a sender calls it for every attempt. */
  sign(request: UnsignedRequest): SignedParts | Promise<SignedParts>;
  /**
   * For several secrets, as during a rotation, or secrets that change: one signer for each that may be tried now, the
   * preferred one first. A sender asks before each attempt, and tries the next one where the listener answers 401.
   */
  alternatives?(): readonly Signer[] | Promise<readonly Signer[]>;
}

/** A request as a verifier gets it: its body is complete, and at most 65,536 bytes. */
export interface UnverifiedRequest {
  /** The HTTP method, in capitals. */
  readonly method: string;
  /** The whole URL, or the path. */
  readonly url: string;
  /** The header lines as received. */
  readonly headers: ReceivedHeaders;
  /** The bytes as received. */
  readonly body: Uint8Array;
  /** The receiver's time in Unix seconds. It throws if the clock fails; the receiver then answers 503. */
  nowSeconds(): number;
}

/** What a verifier found. */
export type Verification =
  | {
      readonly ok: true;
      /** The checks, all passed. */
      readonly checks: readonly Check[];
      /** The id by which copies of the event are known: 1 to 256 characters, none of them a control character. */
      readonly id: string;
      /** When the request was signed, in Unix seconds. */
      readonly timestamp: number;
      /** What the event says: the parsed body, or what the proof contains. */
      readonly payload: unknown;
    }
  | {
      readonly ok: false;
      /** The checks up to the one that failed, which is the last and has a code. */
      readonly checks: readonly Check[];
      /** What was thrown, where that is the reason. It is kept for your own log. */
      readonly cause?: unknown;
    };

/** Verifies requests by a scheme. What `createReceiver` takes as `verifier`. */
export interface Verifier {
  /** The scheme that it verifies by. */
  readonly scheme: Scheme;
  /** What it demands of a request, in its order, from the first check of a header to that of the body. */
  readonly checks: readonly SchemeCheck[];
  /** What the receiver answers; by default as docs/errors.md lists it. */
  readonly answers?: SchemeAnswers;
  /** A check of the path, before all others, for a scheme whose listeners have a path of their own. */
  checkTarget?(url: string): Check;
  /**
   * What the signature of a request covers, as its headers say it: a text, whether the body follows it, and the time that
   * is signed; `undefined` where they do not say it. For tools that show it; a receiver never asks.
   */
  covers?(
    headers: ReceivedHeaders,
  ): { readonly text: string; readonly hasBody: boolean; readonly timestamp: string } | undefined;
  /** Makes the scheme's checks, up to the first that fails. Touches no store. */
  verify(request: UnverifiedRequest): Verification | Promise<Verification>;
}
