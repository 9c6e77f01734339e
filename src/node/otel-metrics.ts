import type { Observe } from "../sender/observe.js";
import type { Attributes, OtelMeter } from "./otel-observer.js";

/** Metrics of sends and attempts. */
export function senderMetrics(meter: OtelMeter): Observe {
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

/** Metrics of an outbox. */
export function outboxMetrics(meter: OtelMeter): Observe {
  const enqueued = meter.createCounter("hookproof.outbox.enqueued", { description: "Events enqueued" });
  const deliveries = meter.createCounter("hookproof.outbox.deliveries", {
    description: "Deliveries that ended, by outcome",
  });
  const duration = meter.createHistogram("hookproof.outbox.delivery.duration", { unit: "s" });
  const gauge = (name: string, description: string, unit = "{event}") =>
    meter.createGauge?.(`hookproof.outbox.${name}`, { description, unit });
  const pending = gauge("pending", "Events that wait");
  const inFlight = gauge("in_flight", "Events that a worker has");
  const dead = gauge("dead", "Dead letters");
  const oldestAge = gauge("oldest_age", "Age of the oldest pending event", "s");
  const breaker = gauge("breaker", "0 closed, 1 half-open, 2 open", "1");
  const storeAvailable = gauge("store_available", "1, or 0 while the store cannot be reached", "1");

  return (event) => {
    switch (event.type) {
      case "enqueue-ended":
        enqueued.add(1, { ...listener(event.url), ...errorType(event) });
        return;
      case "delivery-ended": {
        const attributes = { ...listener(event.url), outcome: event.outcome, ...errorType(event) };
        deliveries.add(1, attributes);
        duration.record(event.ageMs / 1000, attributes);
        return;
      }
      case "backlog": {
        const attributes = listener(event.url);
        pending?.record(event.pending, attributes);
        inFlight?.record(event.inFlight, attributes);
        dead?.record(event.dead, attributes);
        oldestAge?.record(event.oldestAgeMs / 1000, attributes);
        breaker?.record(PHASES.indexOf(event.breaker), attributes);
        storeAvailable?.record(1);
        return;
      }
      case "breaker-changed":
        breaker?.record(PHASES.indexOf(event.state), listener(event.url));
        return;
      case "store-changed":
        storeAvailable?.record(event.available ? 1 : 0);
    }
  };
}

const PHASES = ["closed", "half-open", "open"];

/** What names a listener. */
export function listener(url: string): Attributes {
  const { hostname, pathname } = new URL(url);
  return {
    "server.address": hostname,
    "hookproof.listener_id": pathname.slice(pathname.lastIndexOf("/") + 1),
  };
}

export function answer({ status }: { status?: number }): Attributes {
  return status === undefined ? {} : { "http.response.status_code": status };
}

function errorType({ code }: { code?: string }): Attributes {
  return code === undefined ? {} : { "error.type": code };
}
