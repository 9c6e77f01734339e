/**
 * Alerts of an outbox by a callback, where no Prometheus asks for its metrics.
 *
 * @packageDocumentation
 */

export {
  type AlertKind,
  type AlertThresholds,
  type OutboxAlert,
  type OutboxWatch,
  type WatchedListener,
  type WatchedOutbox,
  type WatchOptions,
  watchOutbox,
} from "./watch-outbox.js";
