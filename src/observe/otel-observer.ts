// Makes spans and metrics of OpenTelemetry.
import { checkOptions } from "../core/options.js";
import type { Observer } from "../sender/observe.js";

/** An OpenTelemetry `Span`, the part that is used here. */
export interface OtelSpan {
  spanContext(): {
    readonly traceId: string;
    readonly spanId: string;
    readonly traceFlags: number;
    readonly traceState?: { serialize(): string } | undefined;
  };
  setAttribute(name: string, value: string | number): unknown;
  addEvent(name: string, attributes?: Attributes): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  end(): void;
}

/** An OpenTelemetry `Context`. */
export interface OtelContext {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): OtelContext;
  deleteValue(key: symbol): OtelContext;
}

/** An OpenTelemetry `Tracer`. */
export interface OtelTracer {
  startSpan(
    name: string,
    options?: { kind?: number; attributes?: Attributes },
    context?: OtelContext,
  ): OtelSpan;
}

/** Attributes of spans and metrics. */
type Attributes = Record<string, string | number>;

/** An OpenTelemetry `Meter`. */
export interface OtelMeter {
  createCounter(
    name: string,
    options?: { description?: string; unit?: string },
  ): {
    add(value: number, attributes?: Attributes): void;
  };
  createHistogram(
    name: string,
    options?: { description?: string; unit?: string },
  ): {
    record(value: number, attributes?: Attributes): void;
  };
  /** Since 1.9 of the API; without it there are no metrics of an outbox's backlog. */
  createGauge?(
    name: string,
    options?: { description?: string; unit?: string },
  ): {
    record(value: number, attributes?: Attributes): void;
  };
}

const KIND_CLIENT = 2;
const KIND_PRODUCER = 3;
const STATUS_ERROR = 2;

/** The key that every copy of the OpenTelemetry API keeps a context's span under. */
const SPAN_KEY = Symbol.for("OpenTelemetry Context Key SPAN");

/**
 * An observer for OpenTelemetry: a span for each event (`webhook send`) with a child for each attempt
 * (`webhook attempt`), W3C trace context sent along, and metrics.
 *
 * - `hookproof.sends`, counter: `outcome`, and `error.type` (our code) for a failure
 * - `hookproof.attempts`, counter: `outcome`, `http.response.status_code`, `error.type`
 * - `hookproof.send.duration` and `hookproof.attempt.duration`, histograms in seconds
 *
 * With an outbox an event is sent later than it is enqueued, perhaps by another process: there is a span for each
 * `webhook enqueue`, and every attempt is a child of it. And these metrics:
 *
 * - `hookproof.outbox.enqueued`, counter: `error.type` for what could not be stored
 * - `hookproof.outbox.deliveries`, counter: `outcome` (`delivered`, `duplicate`, `dead`), `error.type`
 * - `hookproof.outbox.delivery.duration`, histogram in seconds from enqueueing to the end: `outcome`, `error.type`
 * - `hookproof.outbox.pending`, `hookproof.outbox.in_flight`, `hookproof.outbox.dead`, gauges: events
 * - `hookproof.outbox.oldest_age`, gauge: seconds since the oldest pending event was enqueued
 * - `hookproof.outbox.slowed`, gauge: seconds since a held snapshot began to slow a listener's claims, or 0; PostgreSQL
 * - `hookproof.outbox.breaker`, gauge: 0 closed, 1 half-open, 2 open
 * - `hookproof.outbox.store_available`, gauge: 1, or 0 while the store cannot be used
 * - `hookproof.outbox.upkeep_fails`, gauge: 1 while a job that a worker does at regular times fails though the store can be
 *   reached, 0 when it works again: `hookproof.job` (`clock`, `expire`, `prune`, `unknown`, `stats`)
 *
 * All of them name the listener by `server.address` and `hookproof.listener_id`, and those of an outbox by its name as
 * well, `hookproof.listener`. The span of an event is a child
 * of whatever span is active where `send` is called.
 *
 * @example
 * ```ts
 * import { type OtelMeter, type OtelTracer, otelObserver } from "hookproof/otel";
 *
 * // trace.getTracer("my-service") and metrics.getMeter("my-service") of @opentelemetry/api
 * const observeWith = (tracer: OtelTracer, meter: OtelMeter) => otelObserver({ tracer, meter });
 * ```
 */
export function otelObserver(options: {
  /** Makes the spans; without it there are none. */
  tracer?: OtelTracer;
  /** Makes the metrics; without it there are none. */
  meter?: OtelMeter;
}): Observer {
  checkOptions("otelObserver", options, { tracer: ".startSpan", meter: ".createCounter" });
  const { tracer, meter } = options;
  const observers = [
    tracer && spans(tracer),
    meter && senderMetrics(meter),
    meter && outboxMetrics(meter),
  ].filter((one) => one !== undefined);
  return (event) => {
    for (const observe of observers) observe(event);
  };
}

function spans(tracer: OtelTracer): Observer {
  const sends = new Map<number, OtelSpan>();
  const attempts = new Map<number, OtelSpan>();
  const enqueues = new Map<number, OtelSpan>();

  return (event) => {
    switch (event.type) {
      case "enqueue-started": {
        const attributes = { ...subject(event), "hookproof.body_bytes": event.bodyBytes };
        const span = tracer.startSpan("webhook enqueue", { kind: KIND_PRODUCER, attributes });
        enqueues.set(event.delivery, span);
        event.headers.push(...traceContext(span));
        return;
      }
      case "enqueue-ended":
        finish(enqueues, event, {});
        return;
      case "send-started": {
        const attributes = { ...subject(event), "hookproof.body_bytes": event.bodyBytes };
        sends.set(event.delivery, tracer.startSpan("webhook send", { kind: KIND_PRODUCER, attributes }));
        return;
      }
      case "attempt-started": {
        const attributes = {
          ...subject(event),
          "http.request.method": "POST",
          "hookproof.attempt": event.attempt,
        };
        const parent = sends.get(event.delivery) ?? remoteSpan(event.traceparent);
        const span = tracer.startSpan(
          "webhook attempt",
          { kind: KIND_CLIENT, attributes },
          parent && contextOf(parent),
        );
        attempts.set(event.delivery, span);
        event.headers.push(...traceContext(span));
        return;
      }
      case "attempt-ended":
        finish(attempts, event, { "hookproof.outcome": event.outcome, ...answer(event) });
        return;
      case "send-ended":
        finish(sends, event, { "hookproof.outcome": event.outcome, "hookproof.attempts": event.attempts });
        return;
      case "retry-scheduled":
        sends.get(event.delivery)?.addEvent(event.type, { "hookproof.delay_ms": event.delayMs });
        return;
      case "clock-corrected":
        attempts.get(event.delivery)?.addEvent(event.type, { "hookproof.offset_ms": event.offsetMs });
        return;
      case "secret-switched":
        attempts.get(event.delivery)?.addEvent(event.type, { "hookproof.secret_index": event.secretIndex });
    }
  };
}

function finish(
  open: Map<number, OtelSpan>,
  { delivery, code }: { delivery: number; code?: string },
  attributes: Attributes,
): void {
  const span = open.get(delivery);
  if (!span) return;
  open.delete(delivery);
  for (const [name, value] of Object.entries(attributes)) span.setAttribute(name, value);
  if (code !== undefined) {
    span.setAttribute("error.type", code);
    span.setStatus({ code: STATUS_ERROR, message: code });
  }
  span.end();
}

function subject({ url, eventId }: { url: string; eventId: string }): Attributes {
  return { ...listener(url), "url.full": url, "hookproof.event_id": eventId };
}

/** The headers of W3C Trace Context for a span. */
function traceContext(span: OtelSpan): [string, string][] {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const flags = (traceFlags & 0xff).toString(16).padStart(2, "0");
  const state = traceState?.serialize() ?? "";
  const parent: [string, string] = ["traceparent", `00-${traceId}-${spanId}-${flags}`];
  return state === "" ? [parent] : [parent, ["tracestate", state]];
}

/** A stand-in for a span of another process. */
function remoteSpan(traceparent: string | undefined): Pick<OtelSpan, "spanContext"> | undefined {
  const [, traceId, spanId, flags] = traceparent?.split("-") ?? [];
  if (!traceId || !spanId || !flags) return undefined;
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return { spanContext: () => context };
}

/** A context that holds a span, made here so that nothing of OpenTelemetry has to be imported. */
function contextOf(span: Pick<OtelSpan, "spanContext">): OtelContext {
  return contextWith(new Map<symbol, unknown>([[SPAN_KEY, span]]));
}

function contextWith(values: ReadonlyMap<symbol, unknown>): OtelContext {
  return {
    getValue: (key) => values.get(key),
    setValue: (key, value) => contextWith(new Map([...values, [key, value]])),
    deleteValue: (key) => contextWith(new Map([...values].filter(([other]) => other !== key))),
  };
}

/** Metrics of sends and attempts. */
function senderMetrics(meter: OtelMeter): Observer {
  const sends = meter.createCounter("hookproof.sends", { description: "Events sent, by outcome" });
  const attempts = meter.createCounter("hookproof.attempts", { description: "Attempts, by outcome" });
  const sendDuration = meter.createHistogram("hookproof.send.duration", {
    description: "From send to its end",
    unit: "s",
  });
  const attemptDuration = meter.createHistogram("hookproof.attempt.duration", {
    description: "From an attempt's start to its answer",
    unit: "s",
  });

  return (event) => {
    if (event.type === "send-ended") {
      const attributes = { ...listener(event.url), outcome: event.outcome, ...errorType(event) };
      sends.add(1, attributes);
      sendDuration.record(event.durationMs / 1000, attributes);
    } else if (event.type === "attempt-ended") {
      const attributes = {
        ...listener(event.url),
        outcome: event.outcome,
        ...answer(event),
        ...errorType(event),
      };
      attempts.add(1, attributes);
      attemptDuration.record(event.durationMs / 1000, attributes);
    }
  };
}

/** Metrics of an outbox. */
function outboxMetrics(meter: OtelMeter): Observer {
  const enqueued = meter.createCounter("hookproof.outbox.enqueued", { description: "Events enqueued" });
  const deliveries = meter.createCounter("hookproof.outbox.deliveries", {
    description: "Deliveries that ended, by outcome",
  });
  const duration = meter.createHistogram("hookproof.outbox.delivery.duration", {
    description: "From enqueueing to the end of the delivery",
    unit: "s",
  });
  const gauge = (name: string, description: string, unit = "{event}") =>
    meter.createGauge?.(`hookproof.outbox.${name}`, { description, unit });
  const pending = gauge("pending", "Events that wait");
  const inFlight = gauge("in_flight", "Events that a worker has");
  const dead = gauge("dead", "Dead letters");
  const oldestAge = gauge("oldest_age", "Age of the oldest pending event", "s");
  const slowed = gauge("slowed", "For how long a held snapshot has slowed claims", "s");
  const breaker = gauge("breaker", "0 closed, 1 half-open, 2 open", "1");
  const upkeepFails = gauge("upkeep_fails", "1 while a job of the upkeep fails, or 0", "1");
  const storeAvailable = gauge("store_available", "1, or 0 while the store cannot be used", "1");

  // A store that may be read only tells its backlog, too.
  let available = 1;

  return (event) => {
    switch (event.type) {
      case "enqueue-ended":
        enqueued.add(1, { ...outboxListener(event), ...errorType(event) });
        return;
      case "delivery-ended": {
        const attributes = { ...outboxListener(event), outcome: event.outcome, ...errorType(event) };
        deliveries.add(1, attributes);
        duration.record(event.ageMs / 1000, attributes);
        return;
      }
      case "backlog": {
        const attributes = outboxListener(event);
        pending?.record(event.pending, attributes);
        inFlight?.record(event.inFlight, attributes);
        dead?.record(event.dead, attributes);
        oldestAge?.record(event.oldestAgeMs / 1000, attributes);
        slowed?.record(event.slowedMs / 1000, attributes);
        breaker?.record(PHASES.indexOf(event.breaker), attributes);
        storeAvailable?.record(available);
        return;
      }
      case "breaker-changed":
        breaker?.record(PHASES.indexOf(event.state), outboxListener(event));
        return;
      case "upkeep-changed":
        upkeepFails?.record(event.works ? 0 : 1, { "hookproof.job": event.job });
        return;
      case "store-changed":
        available = event.available ? 1 : 0;
        storeAvailable?.record(available);
    }
  };
}

const PHASES = ["closed", "half-open", "open"];

/** The attributes that name a listener of an outbox, of which only the name may be known. */
function outboxListener(event: { readonly url: string; readonly listener: string }): Attributes {
  return { ...listener(event.url), "hookproof.listener": event.listener };
}

/** The attributes that name a listener by its address. */
function listener(url: string): Attributes {
  if (url === "") return {};
  const { hostname, pathname } = new URL(url);
  return {
    "server.address": hostname,
    "hookproof.listener_id": pathname.slice(pathname.lastIndexOf("/") + 1),
  };
}

/** The attributes of an answer; none where there was no answer. */
function answer({ status }: { status?: number }): Attributes {
  return status === undefined ? {} : { "http.response.status_code": status };
}

function errorType({ code }: { code?: string }): Attributes {
  return code === undefined ? {} : { "error.type": code };
}
