/**
 * Spans and metrics of OpenTelemetry for sender and outbox.
 *
 * @packageDocumentation
 */

export { otelObserver } from "./otel-observer.js";

// The parts of OpenTelemetry that it uses

export type { OtelContext, OtelMeter, OtelSpan, OtelTracer } from "./otel-observer.js";
