// Publishes what a sender does on a diagnostics channel.
import { channel } from "node:diagnostics_channel";
import type { Observer } from "../../sender/observe.js";

/**
 * An observer that publishes everything a sender or an outbox does on the diagnostics channel `hookproof:sender`, for tools
 * that subscribe from outside. Messages are of the type `Activity`.
 *
 * @example
 * ```ts
 * import { subscribe } from "node:diagnostics_channel";
 * import type { Activity } from "hookproof";
 * import { diagnosticsChannelObserver } from "hookproof/node";
 *
 * subscribe("hookproof:sender", (message) => console.log((message as Activity).type));
 * const observe = diagnosticsChannelObserver(); // createSender({ ..., observe })
 * ```
 */
export function diagnosticsChannelObserver(): Observer {
  const sender = channel("hookproof:sender");
  return (event) => {
    if (sender.hasSubscribers) sender.publish(event);
  };
}
