import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
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
import type { Activity } from "hookproof";
import { diagnosticsChannelObserver } from "hookproof/node";
import { otelObserver } from "hookproof/otel";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { SECRET } from "../kit/receiver-server.js";
import { outboxBench, waitFor } from "./bench-outbox.js";

/** The tracing of one process. */
function tracingOf(name: string) {
  const spans = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  return { spans, provider, tracer: provider.getTracer(name) };
}

const [producer, worker] = [tracingOf("producer"), tracingOf("worker")];
const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 2 ** 30 });
const metering = new MeterProvider({ readers: [reader] });

beforeAll(() => context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()));
afterAll(async () => {
  context.disable();
  await Promise.all([producer.provider.shutdown(), worker.provider.shutdown(), metering.shutdown()]);
});
beforeEach(() => {
  producer.spans.reset();
  worker.spans.reset();
});

const named = (spans: InMemorySpanExporter, name: string): ReadableSpan[] =>
  spans.getFinishedSpans().filter((span) => span.name === name);

async function failingOnce(bench: ReturnType<typeof outboxBench>) {
  const server = await bench.receiver({
    intercept(request, response, receive) {
      if (server.requests.length > 1) return receive(request, response);
      request.resume();
      response.writeHead(503).end();
    },
  });
  return server;
}

describe("a trace", () => {
  it("goes from the caller over the enqueueing to every attempt, in another process", async () => {
    const bench = outboxBench();
    const server = await failingOnce(bench);
    const listeners = { a: bench.listener(server) };
    const enqueuing = bench.outbox(listeners, { observe: otelObserver({ tracer: producer.tracer }) });
    const delivering = bench.outbox(listeners, { observe: otelObserver({ tracer: worker.tracer }) });

    const caller = producer.tracer.startSpan("caller");
    await context.with(trace.setSpan(context.active(), caller), () =>
      enqueuing.enqueue({ listener: "a", payload: { note: "confidential" } }),
    );
    caller.end();
    delivering.start();
    await bench.passUntil(() => named(worker.spans, "webhook attempt").length === 2);

    const [enqueue] = named(producer.spans, "webhook enqueue");
    const attempts = named(worker.spans, "webhook attempt");
    expect(enqueue?.parentSpanContext?.spanId).toBe(caller.spanContext().spanId);
    for (const attempt of attempts) {
      expect(attempt.spanContext().traceId).toBe(caller.spanContext().traceId);
      expect(attempt.parentSpanContext?.spanId).toBe(enqueue?.spanContext().spanId);
      expect(attempt.parentSpanContext?.isRemote).toBe(true);
    }
    expect(server.requests.map(({ headers }) => headers.traceparent)).toEqual(
      attempts.map((span) => `00-${span.spanContext().traceId}-${span.spanContext().spanId}-01`),
    );
    const exported = [...producer.spans.getFinishedSpans(), ...worker.spans.getFinishedSpans()].map(
      ({ name, attributes, events, status }) => ({ name, attributes, events, status }),
    );
    expect(JSON.stringify(exported)).not.toMatch(new RegExp(`confidential|${SECRET}`));
  });

  it("that the caller names is kept, and sent along where nobody watches", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    const outbox = bench.outbox({ a: bench.listener(server) }, { observe: undefined });
    const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
    await outbox.enqueue({ listener: "a", payload: {}, traceparent });
    await outbox.drain();
    expect(server.requests[0]?.headers.traceparent).toBe(traceparent);
  });
});

it("metrics tell the backlog, what was enqueued, and how deliveries ended", async () => {
  const bench = outboxBench();
  let failing = true;
  const server = await bench.receiver({
    intercept(request, response, receive) {
      if (!failing) return receive(request, response);
      request.resume();
      response.writeHead(server.requests[0] === request ? 400 : 500).end();
    },
  });
  const observe = otelObserver({ meter: metering.getMeter("test") });
  const outbox = bench.outbox({ a: bench.listener(server) }, { observe });
  await outbox.enqueue(Array.from({ length: 15 }, (_, n) => ({ listener: "a", payload: { n } })));
  outbox.start();
  const points = async () => {
    await reader.forceFlush();
    const scopes = metrics.getMetrics().at(-1)?.scopeMetrics ?? [];
    const found = scopes.find(({ scope }) => scope.name === "test")?.metrics ?? [];
    return (name: string, attributes: object = {}) =>
      found
        .find(({ descriptor }) => descriptor.name === `hookproof.outbox.${name}`)
        ?.dataPoints.find((one) =>
          Object.entries(attributes).every(([key, value]) => one.attributes[key] === value),
        )?.value;
  };
  await waitFor(async () => (await points())("breaker") === 2);
  const before = bench.clock.now();
  await bench.passUntil(() => bench.clock.now() - before === 15_000, 1_000, 16);
  await waitFor(async () => (await points())("oldest_age") === 15);
  const ill = await points();
  expect(ill("enqueued")).toBe(15);
  expect(ill("deliveries", { outcome: "dead", "error.type": "REQUEST_REFUSED" })).toBe(1);
  expect([ill("pending"), ill("in_flight"), ill("dead")]).toEqual([14, 0, 1]);
  expect(ill("store_available")).toBe(1);
  failing = false;
  await bench.passUntil(() => server.runs.size === 14, 1_000);
  await bench.passUntil(async () => (await points())("pending") === 0, 1_000);
  const well = await points();
  expect(well("deliveries", { outcome: "delivered", "hookproof.listener_id": "lst_1" })).toBe(14);
  expect(well("delivery.duration", { outcome: "delivered" })).toMatchObject({ count: 14 });
  expect([well("breaker"), well("oldest_age")]).toEqual([0, 0]);
});

it("the backlog is told of names that nobody has, and that it is gone", async () => {
  const bench = outboxBench();
  const server = await bench.receiver();
  const known: Record<string, ReturnType<typeof bench.listener>> = { a: bench.listener(server) };
  const outbox = bench.outbox((name) => known[name]);
  for (const listener of ["a", "offbording"]) await outbox.enqueue({ listener, payload: {} });
  outbox.start();
  const last = () => bench.told("backlog").findLast(({ listener }) => listener === "offbording");
  await bench.passUntil(() => (last()?.oldestAgeMs ?? 0) >= 15_000, 1_000);
  expect(last()).toMatchObject({ url: "", pending: 1 });
  await outbox.cancel({ listener: "offbording" });
  await bench.passUntil(() => last()?.pending === 0, 1_000);
  const count = () => bench.told("backlog").filter(({ listener }) => listener === "offbording").length;
  const told = count();
  await bench.pass(60_000);
  expect(count()).toBe(told);
});

it("every metric that the guide tells of is there", async () => {
  const guide = readFileSync(new URL("../../docs/guides/outbox-operating.md", import.meta.url), "utf8");
  const named = new Set([...guide.matchAll(/`(hookproof\.[a-z_.]+)`/g)].map(([, name]) => name));
  const bench = outboxBench();
  const server = await bench.receiver();
  const observe = otelObserver({ meter: metering.getMeter("guide") });
  const outbox = bench.outbox({ a: bench.listener(server) }, { observe });
  await outbox.enqueue({ listener: "a", payload: {} });
  await outbox.drain();
  await bench.passDuring(outbox.drain(), 15_000);
  observe({ type: "upkeep-changed", job: "stats", works: true }); // told where one has failed
  await reader.forceFlush();
  const scopes = metrics.getMetrics().at(-1)?.scopeMetrics ?? [];
  const found = scopes.find(({ scope }) => scope.name === "guide")?.metrics ?? [];
  expect([...named].filter((name) => !/^hookproof\.(?:listener|job)/.test(name ?? "")).sort()).toEqual(
    found.map(({ descriptor }) => descriptor.name).sort(),
  );
});

it("the diagnostics channel publishes the story of an event in an outbox", async () => {
  const bench = outboxBench();
  const server = await failingOnce(bench);
  const outbox = bench.outbox({ a: bench.listener(server) }, { observe: diagnosticsChannelObserver() });
  const story: Activity[] = [];
  const listen = (message: unknown) => void story.push(message as Activity);
  subscribe("hookproof:sender", listen);
  try {
    await outbox.enqueue({ listener: "a", payload: { note: "confidential" } });
    outbox.start();
    await bench.passUntil(() => story.some(({ type }) => type === "delivery-ended"));
  } finally {
    unsubscribe("hookproof:sender", listen);
  }
  expect(story.map(({ type }) => type).filter((type) => type !== "backlog")).toEqual([
    "enqueue-started",
    "enqueue-ended",
    "attempt-started",
    "attempt-ended",
    "retry-scheduled",
    "attempt-started",
    "attempt-ended",
    "delivery-ended",
  ]);
  expect(JSON.stringify(story)).not.toMatch(new RegExp(`confidential|${SECRET}`));
});
