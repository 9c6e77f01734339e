import type { Clock } from "../primitives/clock.js";
import { type Connection, type ConnectionOptions, connect } from "../sender/connection.js";
import type { Observe } from "../sender/observe.js";
import { type RetryPolicy, retryPolicy } from "../sender/retry-policy.js";
import { isName } from "./enqueue.js";
import { type LimitOptions, type ListenerLimits, listenerLimits } from "./listener-limits.js";

/** A listener that an outbox delivers to. */
export interface OutboxListenerOptions extends ConnectionOptions, LimitOptions {
  /** Fields of the retry policy to change; by default there is no limit to attempts but the seven-day window. */
  retry?: Partial<RetryPolicy> | undefined;
  /** Whether a dead letter lets later events of its ordering key go on, as it does by default, or blocks them. */
  onDead?: "continue" | "block" | undefined;
}

/** A listener as the dispatcher drives it. */
export interface OutboxListener extends Connection {
  readonly name: string;
  readonly policy: RetryPolicy;
  readonly limits: ListenerLimits;
  readonly blocksKey: boolean;
  /** Whether its set-up is wrong as far as is known; told once until it is mended. */
  alerted: boolean;
}

export function outboxListeners(
  given: Readonly<Record<string, OutboxListenerOptions>>,
  { clock, observe }: { clock: Clock; observe: Observe | undefined },
): ReadonlyMap<string, OutboxListener> {
  const names = Object.keys(given ?? {});
  if (names.length === 0) throw new TypeError("listeners must name a listener");
  return new Map(names.map((name) => [name, listenerOf(name)]));

  function listenerOf(name: string): OutboxListener {
    const options = given[name] as OutboxListenerOptions;
    if (!isName(name)) throw new TypeError(`${JSON.stringify(name)} is no name for a listener`);
    const { onDead = "continue" } = options;
    if (onDead !== "continue" && onDead !== "block")
      throw new TypeError('onDead must be "continue" or "block"');
    const connection = connect(options, { clock, observe });
    const { url } = connection;
    return {
      ...connection,
      name,
      policy: retryPolicy({ maxAttempts: Number.MAX_SAFE_INTEGER, ...options.retry }),
      limits: listenerLimits(options, (state) =>
        observe?.({ type: "breaker-changed", url, listener: name, state }),
      ),
      blocksKey: onDead === "block",
      alerted: false,
    };
  }
}
