// What server and page of the inspector say of forced answers, and of those of an application.

/** The next answers of a listener, whatever the verdict is. The checks and the run take place all the same. */
export interface ForcedAnswer {
  readonly listenerId: string;
  /** 200 to 599; the verdict's own by default. */
  readonly status?: number;
  /** 0 to `LIMITS.forcedDelayMs`. */
  readonly delayMs?: number;
  /** For how many requests, 1 to `LIMITS.forcedTimes`; 1 by default. Counts down. */
  readonly times?: number;
  /** For how long, 1 to `LIMITS.forcedSeconds`; with it, `times` has no default. */
  readonly seconds?: number;
  /** When it ends, by the server's clock, where `seconds` was given. The server adds it. */
  readonly until?: number;
  /** `Retry-After`, in seconds. */
  readonly retryAfterSeconds?: number;
  /** Header lines in place of those of the same names, `LIMITS.forcedHeaders` at most. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** The body, `LIMITS.forcedBodyCharacters` at most; one that says that the answer was forced by default. */
  readonly body?: string;
}

/** What an application answered to a request that was forwarded to it, or why it did not. */
export type Forwarded =
  | {
      readonly url: string;
      readonly status: number;
      /** The beginning of its body, as text. */
      readonly body?: string;
      readonly ms?: number;
    }
  | { readonly url: string; readonly error: string };
