import { channel } from "node:diagnostics_channel";
import type { Observe } from "../sender/observe.js";

/**
 * An observer that publishes everything a sender or an outbox does on the diagnostics channel `hookproof:sender`, for tools
 * that subscribe from outside. Messages are of the type `SenderEvent`.
 *
 * @example
 * ```ts
 * import { subscribe } from "node:diagnostics_channel";
 * import type { SenderEvent } from "hookproof";
 * import { diagnosticsChannelObserver } from "hookproof/node";
 *
 * subscribe("hookproof:sender", (message) => console.log((message as SenderEvent).type));
 * const observe = diagnosticsChannelObserver(); // createSender({ ..., observe })
 * ```
 */
export function diagnosticsChannelObserver(): Observe {
  const sender = channel("hookproof:sender");
  return (event) => {
    if (sender.hasSubscribers) sender.publish(event);
  };
}
