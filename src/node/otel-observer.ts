import type { Observe } from "../sender/observe.js";

type Attributes = Record<string, string | number>;

/** An OpenTelemetry `Span`, as far as it is used here. */
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
 * - `hookproof.attempts`, counter: `verdict`, `http.response.status_code`, `error.type`
 * - `hookproof.send.duration` and `hookproof.attempt.duration`, histograms in seconds
 *
 * All of them name the listener by `server.address` and `hookproof.listener_id`. The span of an event is a child
 * of whatever span is active where `send` is called.
 *
 * @example
 * ```ts
 * import { type OtelMeter, type OtelTracer, otelObserver } from "hookproof/node";
 *
 * // trace.getTracer("my-service") and metrics.getMeter("my-service") of @opentelemetry/api
 * const observeWith = (tracer: OtelTracer, meter: OtelMeter) => otelObserver({ tracer, meter });
 * ```
 */
export function otelObserver({ tracer, meter }: { tracer?: OtelTracer; meter?: OtelMeter }): Observe {
  const observers = [tracer && spans(tracer), meter && metrics(meter)].filter((one) => one !== undefined);
  return (event) => {
    for (const observe of observers) observe(event);
  };
}

function spans(tracer: OtelTracer): Observe {
  const sends = new Map<number, OtelSpan>();
  const attempts = new Map<number, OtelSpan>();

  return (event) => {
    switch (event.type) {
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
        const parent = sends.get(event.delivery);
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
        finish(attempts, event, { "hookproof.verdict": event.verdict, ...answer(event) });
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
        attempts.get(event.delivery)?.addEvent(event.type, { "hookproof.candidate": event.candidate });
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

function metrics(meter: OtelMeter): Observe {
  const sends = meter.createCounter("hookproof.sends", { description: "Events sent, by outcome" });
  const attempts = meter.createCounter("hookproof.attempts", { description: "Attempts, by verdict" });
  const sendDuration = meter.createHistogram("hookproof.send.duration", { unit: "s" });
  const attemptDuration = meter.createHistogram("hookproof.attempt.duration", { unit: "s" });

  return (event) => {
    if (event.type === "send-ended") {
      const attributes = { ...listener(event.url), outcome: event.outcome, ...errorType(event) };
      sends.add(1, attributes);
      sendDuration.record(event.durationMs / 1000, attributes);
    } else if (event.type === "attempt-ended") {
      const attributes = {
        ...listener(event.url),
        verdict: event.verdict,
        ...answer(event),
        ...errorType(event),
      };
      attempts.add(1, attributes);
      attemptDuration.record(event.durationMs / 1000, attributes);
    }
  };
}

function subject({ url, eventId }: { url: string; eventId: string }): Attributes {
  return { ...listener(url), "url.full": url, "hookproof.event_id": eventId };
}

function listener(url: string): Attributes {
  const { hostname, pathname } = new URL(url);
  return {
    "server.address": hostname,
    "hookproof.listener_id": pathname.slice(pathname.lastIndexOf("/") + 1),
  };
}

function answer({ status }: { status?: number }): Attributes {
  return status === undefined ? {} : { "http.response.status_code": status };
}

function errorType({ code }: { code?: string }): Attributes {
  return code === undefined ? {} : { "error.type": code };
}

/** The headers of W3C Trace Context for a span. */
function traceContext(span: OtelSpan): [string, string][] {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const flags = (traceFlags & 0xff).toString(16).padStart(2, "0");
  const state = traceState?.serialize() ?? "";
  const parent: [string, string] = ["traceparent", `00-${traceId}-${spanId}-${flags}`];
  return state === "" ? [parent] : [parent, ["tracestate", state]];
}

/** A context that holds a span, made here so that nothing of OpenTelemetry has to be imported. */
function contextOf(span: OtelSpan): OtelContext {
  return contextWith(new Map<symbol, unknown>([[SPAN_KEY, span]]));
}

function contextWith(values: ReadonlyMap<symbol, unknown>): OtelContext {
  return {
    getValue: (key) => values.get(key),
    setValue: (key, value) => contextWith(new Map([...values, [key, value]])),
    deleteValue: (key) => contextWith(new Map([...values].filter(([other]) => other !== key))),
  };
}
