import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { createEvent, createSender, hmacSigner, type SenderOptions } from "hookproof";
import { otelObserver } from "hookproof/otel";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ReceiverServer, receiverServer, SECRET } from "../kit/receiver-server.js";

const spans = new InMemorySpanExporter();
const tracing = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
const tracer = tracing.getTracer("test");
const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 2 ** 30 });
const metering = new MeterProvider({ readers: [reader] });
const observe = otelObserver({ tracer, meter: metering.getMeter("test") });

let server: ReceiverServer;
let failures: number;
beforeAll(() => context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()));
afterAll(async () => {
  context.disable();
  await Promise.all([tracing.shutdown(), metering.shutdown()]);
});
beforeEach(async () => {
  spans.reset();
  failures = 0;
  server = await receiverServer({
    intercept(request, response, receive) {
      failures -= 1;
      if (failures < 0) return receive(request, response);
      request.resume();
      response.writeHead(503).end();
    },
  });
});
afterEach(() => server.stop());

const create = (options: Partial<SenderOptions> = {}) =>
  createSender({
    url: server.url,
    signer: hmacSigner({ secret: SECRET }),
    observe,
    wait: async () => {},
    ...options,
  });

const named = (name: string): ReadableSpan[] => spans.getFinishedSpans().filter((span) => span.name === name);

describe("spans", () => {
  it("are one for the event, under the caller's own, and a child of it for each attempt", async () => {
    failures = 1;
    const outer = tracer.startSpan("caller");
    const receipt = await context.with(trace.setSpan(context.active(), outer), () => create().send({ a: 1 }));
    outer.end();
    const [send] = named("webhook send");
    const attempts = named("webhook attempt");
    expect(send?.parentSpanContext?.spanId).toBe(outer.spanContext().spanId);
    expect(attempts.map((span) => span.parentSpanContext?.spanId)).toEqual(
      Array(2).fill(send?.spanContext().spanId),
    );
    expect(send?.attributes).toMatchObject({
      "hookproof.event_id": receipt.eventId,
      "hookproof.listener_id": "lst_1",
      "hookproof.outcome": "accepted",
      "hookproof.attempts": 2,
      "server.address": "127.0.0.1",
    });
    expect(
      attempts.map(({ attributes }) => [
        attributes["hookproof.attempt"],
        attributes["http.response.status_code"],
      ]),
    ).toEqual([
      [1, 503],
      [2, 200],
    ]);
    expect(attempts.map(({ status }) => status)).toEqual([
      { code: 2, message: "RECEIVER_UNAVAILABLE" },
      { code: 0 },
    ]);
    expect(send?.events.map(({ name }) => name)).toEqual(["retry-scheduled"]);
  });

  it("send trace context along: the receiver sees the attempt's own span as its parent", async () => {
    failures = 1;
    await create().send({ a: 1 });
    const sent = server.requests.map(({ headers }) => headers.traceparent);
    expect(sent).toEqual(
      named("webhook attempt").map(
        (span) => `00-${span.spanContext().traceId}-${span.spanContext().spanId}-01`,
      ),
    );
    expect(new Set(sent).size).toBe(2);
  });

  it("of deliveries at the same time are not mixed, even of one event", async () => {
    failures = 20;
    const sender = create({ retry: { maxAttempts: 50 } });
    const event = createEvent({ same: true });
    const payloads = [event, event, event, ...Array.from({ length: 30 }, (_, n) => ({ n }))];
    await Promise.all(payloads.map((payload) => sender.send(payload)));
    const sends = named("webhook send");
    expect(sends).toHaveLength(33);
    for (const send of sends) {
      const own = named("webhook attempt").filter(
        (span) => span.parentSpanContext?.spanId === send.spanContext().spanId,
      );
      expect(own.map(({ attributes }) => attributes["hookproof.attempt"])).toEqual(
        Array.from({ length: own.length }, (_, index) => index + 1),
      );
      expect(own).toHaveLength(Number(send.attributes["hookproof.attempts"]));
      expect(new Set(own.map(({ attributes }) => attributes["hookproof.event_id"]))).toEqual(
        new Set([send.attributes["hookproof.event_id"]]),
      );
    }
  });

  it("say why a delivery failed", async () => {
    failures = 9;
    await create().trySend({ a: 1 });
    expect(named("webhook send")[0]).toMatchObject({
      status: { code: 2, message: "RECEIVER_UNAVAILABLE" },
      attributes: {
        "hookproof.outcome": "failed",
        "error.type": "RECEIVER_UNAVAILABLE",
        "hookproof.attempts": 3,
      },
    });
  });
});

describe("metrics", () => {
  it("count outcomes and attempts, and measure both", async () => {
    failures = 1;
    await create().send({ a: 1 });
    await create().send({ a: 2 });
    await reader.forceFlush();
    const found = new Map(
      (metrics.getMetrics().at(-1)?.scopeMetrics[0]?.metrics ?? []).map((metric) => [
        metric.descriptor.name,
        metric,
      ]),
    );
    expect([...found.keys()].sort()).toEqual([
      "hookproof.attempt.duration",
      "hookproof.attempts",
      "hookproof.send.duration",
      "hookproof.sends",
    ]);
    const point = (name: string, attributes: object) =>
      found
        .get(name)
        ?.dataPoints.find((one) =>
          Object.entries(attributes).every(([key, value]) => one.attributes[key] === value),
        )?.value;
    expect(point("hookproof.sends", { outcome: "accepted" })).toBeGreaterThanOrEqual(2);
    expect(
      point("hookproof.attempts", {
        outcome: "retry",
        "error.type": "RECEIVER_UNAVAILABLE",
        "http.response.status_code": 503,
      }),
    ).toBeGreaterThanOrEqual(1);
    expect(point("hookproof.attempt.duration", { outcome: "accepted" })).toMatchObject({
      count: expect.any(Number) as number,
    });
  });
});

it("holds nothing secret: no secret, signature or body in any span or metric", async () => {
  await create().send({ note: "confidential" });
  await reader.forceFlush();
  const signature = String(server.requests[0]?.headers["webhook-signature"]);
  const exported = JSON.stringify([
    spans
      .getFinishedSpans()
      .map(({ name, attributes, events, status }) => ({ name, attributes, events, status })),
    metrics.getMetrics(),
  ]);
  expect(signature).toHaveLength(43);
  for (const secret of [SECRET, signature, "confidential"]) expect(exported).not.toContain(secret);
});
