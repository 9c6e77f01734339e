// Checks a listener's options and prepares what its attempts share.
import type { Clock } from "../core/clock.js";
import { checkOptions, type OptionNames } from "../core/options.js";
import {
  ATTEMPT_OPTIONS,
  type AttemptOptions,
  type Attempts,
  prepareAttempts,
} from "../sender/attempt-options.js";
import type { Observer } from "../sender/observe.js";
import { type RetryPolicy, retryPolicy } from "../sender/retry-policy.js";
import { LIMIT_OPTIONS, type LimitOptions, ListenerLimits } from "./limits.js";
import type { ListenerStats } from "./records.js";

/** A listener that an outbox delivers to: its URL, its signer, its limits. */
export interface OutboxListenerOptions extends AttemptOptions, LimitOptions {
  /** Fields of the retry policy to change. By default an outbox tries until the window of seven days closes. */
  retry?: Partial<RetryPolicy> | undefined;
  /** Whether later events of a dead letter's ordering key are delivered (`continue`, the default) or wait (`block`). */
  onDead?: "continue" | "block" | undefined;
  /**
   * Whether the receiver fetches its events (`securityEventPollHandler` of `hookproof/set/polling`): they wait for that,
   * until their window closes, and nothing is sent to `url`, which observers are told. `false` by default.
   */
  polled?: boolean | undefined;
}

/** A function, as a bundler keeps a table with `...` in it for everybody. */
const listenerOptions = (): OptionNames<OutboxListenerOptions> => ({
  ...ATTEMPT_OPTIONS,
  ...LIMIT_OPTIONS,
  retry: "object",
  onDead: 1,
  polled: "boolean",
});

/** A listener with its connection, retry policy and limits. */
export interface OutboxListener extends Attempts {
  readonly name: string;
  readonly policy: RetryPolicy;
  readonly limits: ListenerLimits;
  readonly blocksKey: boolean;
  readonly polled: boolean;
  /** What `stats` says of this process's attempts. */
  last: Pick<ListenerStats, "lastError" | "lastSuccessAt">;
  /** Whether a warning about the listener's set-up was given; reset by the next delivery. */
  alerted: boolean;
}

/**
 * Checks a listener's options, and makes what its attempts share.
 *
 * @throws {TypeError | RangeError | HookproofError} for options that cannot work
 */
export function outboxListener(
  name: string,
  options: OutboxListenerOptions,
  { clock, observe, leaseMs }: { clock: Clock; observe: Observer | undefined; leaseMs: number },
): OutboxListener {
  if (!isName(name)) throw new TypeError(`${JSON.stringify(name)} is no name for a listener`);
  checkOptions(`the listener ${JSON.stringify(name)}`, options, listenerOptions());
  const { onDead = "continue" } = options;
  if (onDead !== "continue" && onDead !== "block")
    throw new TypeError('onDead must be "continue" or "block"');
  const attempts = prepareAttempts(options, { clock, observe });
  const { url, attemptTimeoutMs } = attempts;
  if (!(leaseMs >= attemptTimeoutMs + LEASE_MARGIN_MS))
    throw new RangeError(
      `leaseMs must be at least ${attemptTimeoutMs + LEASE_MARGIN_MS}: an attempt at ${JSON.stringify(name)} may take ${attemptTimeoutMs} ms`,
    );
  return {
    ...attempts,
    name,
    policy: retryPolicy(
      { maxAttempts: Number.MAX_SAFE_INTEGER, ...options.retry },
      attempts.scheme.rememberedMs,
    ),
    limits: new ListenerLimits(options, (state) =>
      observe?.({ type: "breaker-changed", url, listener: name, state }),
    ),
    blocksKey: onDead === "block",
    polled: options.polled === true,
    last: {},
    alerted: false,
  };
}

/** A lease has to last longer than an attempt may take, by this much. */
const LEASE_MARGIN_MS = 5_000;

/** An attempt starts only if its lease still lasts longer than it may take, by this much: the rest is for the claim. */
export const START_MARGIN_MS = 2_500;

/** Whether a value is a text that every database can store. */
export function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.isWellFormed() && !value.includes("\0");
}
