// What dashboards stand on: the name, unit and value of every metric, the kind and attributes of every span.
import type { Activity } from "hookproof";
import { type OtelMeter, type OtelSpan, type OtelTracer, otelObserver } from "hookproof/otel";
import { describe, expect, it } from "vitest";

const URL_ = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";
const SUBJECT = { eventId: "e-1", url: URL_, delivery: 1 };
const OF_LISTENER = { "server.address": "tenant.example.com", "hookproof.listener_id": "lst_1" };
const OF_OUTBOX = { ...OF_LISTENER, "hookproof.listener": "a" };

/** The instruments that an observer makes, and what it records while it is told of activities. */
function metered({ hasGauges = true } = {}) {
  const made: Record<string, { kind: string; unit: string | undefined }> = {};
  const recorded: [name: string, value: number, attributes: object | undefined][] = [];
  const instrument = (kind: string) => (name: string, options?: { description?: string; unit?: string }) => {
    made[name] = { kind, unit: options?.unit };
    expect(options?.description, name).toMatch(/^[A-Z0-9]/);
    const record = (value: number, attributes?: object) => void recorded.push([name, value, attributes]);
    return { add: record, record };
  };
  const meter: OtelMeter = {
    createCounter: instrument("counter"),
    createHistogram: instrument("histogram"),
    ...(hasGauges && { createGauge: instrument("gauge") }),
  };
  const observe = otelObserver({ meter });
  const records = (event: Activity) => {
    recorded.length = 0;
    observe(event);
    return [...recorded];
  };
  return { made, records };
}

it("every metric has its name, kind and unit", () => {
  expect(metered().made).toEqual({
    "hookproof.sends": { kind: "counter", unit: undefined },
    "hookproof.attempts": { kind: "counter", unit: undefined },
    "hookproof.send.duration": { kind: "histogram", unit: "s" },
    "hookproof.attempt.duration": { kind: "histogram", unit: "s" },
    "hookproof.outbox.enqueued": { kind: "counter", unit: undefined },
    "hookproof.outbox.deliveries": { kind: "counter", unit: undefined },
    "hookproof.outbox.delivery.duration": { kind: "histogram", unit: "s" },
    "hookproof.outbox.pending": { kind: "gauge", unit: "{event}" },
    "hookproof.outbox.in_flight": { kind: "gauge", unit: "{event}" },
    "hookproof.outbox.dead": { kind: "gauge", unit: "{event}" },
    "hookproof.outbox.oldest_age": { kind: "gauge", unit: "s" },
    "hookproof.outbox.slowed": { kind: "gauge", unit: "s" },
    "hookproof.outbox.breaker": { kind: "gauge", unit: "1" },
    "hookproof.outbox.store_available": { kind: "gauge", unit: "1" },
    "hookproof.outbox.upkeep_fails": { kind: "gauge", unit: "1" },
  });
});

const BACKLOG = {
  type: "backlog",
  url: URL_,
  listener: "a",
  pending: 7,
  inFlight: 3,
  dead: 2,
  oldestAgeMs: 90_500,
  slowedMs: 30_250,
  breaker: "closed",
} as const;

describe("each metric records, in its own unit", () => {
  it.each<[what: string, event: Activity, records: readonly unknown[]]>([
    [
      "an event that was sent",
      { ...SUBJECT, type: "send-ended", durationMs: 2_500, attempts: 3, outcome: "accepted" },
      [
        ["hookproof.sends", 1, { ...OF_LISTENER, outcome: "accepted" }],
        ["hookproof.send.duration", 2.5, { ...OF_LISTENER, outcome: "accepted" }],
      ],
    ],
    [
      "an event that was not",
      {
        ...SUBJECT,
        type: "send-ended",
        durationMs: 40,
        attempts: 1,
        outcome: "failed",
        code: "REQUEST_REFUSED",
      },
      [
        ["hookproof.sends", 1, { ...OF_LISTENER, outcome: "failed", "error.type": "REQUEST_REFUSED" }],
        [
          "hookproof.send.duration",
          0.04,
          { ...OF_LISTENER, outcome: "failed", "error.type": "REQUEST_REFUSED" },
        ],
      ],
    ],
    [
      "an attempt with an answer",
      {
        ...SUBJECT,
        type: "attempt-ended",
        attempt: 1,
        durationMs: 250,
        outcome: "retry",
        status: 503,
        code: "RECEIVER_UNAVAILABLE",
      },
      ["hookproof.attempts", "hookproof.attempt.duration"].map((name, at) => [
        name,
        [1, 0.25][at],
        {
          ...OF_LISTENER,
          outcome: "retry",
          "http.response.status_code": 503,
          "error.type": "RECEIVER_UNAVAILABLE",
        },
      ]),
    ],
    [
      "an attempt without one",
      {
        ...SUBJECT,
        type: "attempt-ended",
        attempt: 1,
        durationMs: 10_000,
        outcome: "retry",
        code: "TIMED_OUT",
      },
      ["hookproof.attempts", "hookproof.attempt.duration"].map((name, at) => [
        name,
        [1, 10][at],
        { ...OF_LISTENER, outcome: "retry", "error.type": "TIMED_OUT" },
      ]),
    ],
    [
      "an event that was enqueued",
      { ...SUBJECT, type: "enqueue-ended", listener: "a", durationMs: 5 },
      [["hookproof.outbox.enqueued", 1, OF_OUTBOX]],
    ],
    [
      "one that could not be stored, for a listener of which only the name is known",
      {
        ...SUBJECT,
        url: "",
        type: "enqueue-ended",
        listener: "a",
        durationMs: 5,
        code: "OUTBOX_UNAVAILABLE",
      },
      [["hookproof.outbox.enqueued", 1, { "hookproof.listener": "a", "error.type": "OUTBOX_UNAVAILABLE" }]],
    ],
    [
      "a delivery that ended",
      { ...SUBJECT, type: "delivery-ended", listener: "a", outcome: "delivered", attempts: 2, ageMs: 61_250 },
      [
        ["hookproof.outbox.deliveries", 1, { ...OF_OUTBOX, outcome: "delivered" }],
        ["hookproof.outbox.delivery.duration", 61.25, { ...OF_OUTBOX, outcome: "delivered" }],
      ],
    ],
    [
      "a dead letter",
      {
        ...SUBJECT,
        type: "delivery-ended",
        listener: "a",
        outcome: "dead",
        attempts: 9,
        ageMs: 500,
        code: "REQUEST_REFUSED",
      },
      [
        [
          "hookproof.outbox.deliveries",
          1,
          { ...OF_OUTBOX, outcome: "dead", "error.type": "REQUEST_REFUSED" },
        ],
        [
          "hookproof.outbox.delivery.duration",
          0.5,
          { ...OF_OUTBOX, outcome: "dead", "error.type": "REQUEST_REFUSED" },
        ],
      ],
    ],
    [
      "the backlog",
      BACKLOG,
      [
        ["hookproof.outbox.pending", 7, OF_OUTBOX],
        ["hookproof.outbox.in_flight", 3, OF_OUTBOX],
        ["hookproof.outbox.dead", 2, OF_OUTBOX],
        ["hookproof.outbox.oldest_age", 90.5, OF_OUTBOX],
        ["hookproof.outbox.slowed", 30.25, OF_OUTBOX],
        ["hookproof.outbox.breaker", 0, OF_OUTBOX],
        ["hookproof.outbox.store_available", 1, undefined],
      ],
    ],
    ...(["closed", "half-open", "open"] as const).map((state, value): [string, Activity, unknown[]] => [
      `a breaker that is ${state}`,
      { type: "breaker-changed", url: URL_, listener: "a", state },
      [["hookproof.outbox.breaker", value, OF_OUTBOX]],
    ]),
    [
      "a store that cannot be reached",
      { type: "store-changed", available: false, code: "OUTBOX_UNAVAILABLE" },
      [["hookproof.outbox.store_available", 0, undefined]],
    ],
    [
      "a store that can be reached again",
      { type: "store-changed", available: true },
      [["hookproof.outbox.store_available", 1, undefined]],
    ],
    [
      "a job that fails",
      { type: "upkeep-changed", job: "stats", works: false },
      [["hookproof.outbox.upkeep_fails", 1, { "hookproof.job": "stats" }]],
    ],
    [
      "a job that works again",
      { type: "upkeep-changed", job: "stats", works: true },
      [["hookproof.outbox.upkeep_fails", 0, { "hookproof.job": "stats" }]],
    ],
    ["nothing of what begins", { ...SUBJECT, type: "send-started", bodyBytes: 2 }, []],
    ["nothing of a warning", { type: "warning", url: URL_, message: "a sentence" }, []],
  ])("%s", (_, event, records) => {
    expect(metered().records(event)).toStrictEqual(records);
  });

  it.each(["half-open", "open"] as const)("the breaker's phase of a backlog: %s", (breaker) => {
    const found = metered().records({ ...BACKLOG, breaker });
    expect(found.find(([name]) => name === "hookproof.outbox.breaker")?.[1]).toBe(
      { "half-open": 1, open: 2 }[breaker],
    );
  });

  it("a store that tells its backlog, and cannot be used, is not available", () => {
    const { records } = metered();
    const available = (event: Activity) =>
      records(event).find(([name]) => name === "hookproof.outbox.store_available")?.[1];
    expect(available({ type: "store-changed", available: false })).toBe(0);
    expect(available(BACKLOG)).toBe(0);
    expect(available({ type: "store-changed", available: true })).toBe(1);
    expect(available(BACKLOG)).toBe(1);
  });

  it("but no gauge where the API has none, and no error", () => {
    const old = metered({ hasGauges: false });
    expect(Object.values(old.made).map(({ kind }) => kind)).not.toContain("gauge");
    expect(old.records(BACKLOG)).toEqual([]);
    expect(old.records({ type: "store-changed", available: false })).toEqual([]);
    expect(old.records({ type: "breaker-changed", url: URL_, listener: "a", state: "open" })).toEqual([]);
  });
});

/** The spans that a story makes: as they were begun, and what was set on them. */
function traced(...events: Activity[]) {
  const spans: {
    name: string;
    kind: number | undefined;
    attributes: Record<string, unknown>;
    events: unknown[];
    status: unknown;
    ended: number;
    parent: unknown;
  }[] = [];
  const key = Symbol.for("OpenTelemetry Context Key SPAN");
  const tracer: OtelTracer = {
    startSpan(name, options, context) {
      const parent = context?.getValue(key) as OtelSpan | undefined;
      const span: (typeof spans)[number] = {
        name,
        kind: options?.kind,
        attributes: { ...options?.attributes },
        events: [],
        status: undefined,
        ended: 0,
        parent: parent?.spanContext().spanId,
      };
      spans.push(span);
      const spanId = String(spans.length).padStart(16, "0");
      return {
        spanContext: () => ({ traceId: "a".repeat(32), spanId, traceFlags: 1 }),
        setAttribute: (attribute, value) => {
          span.attributes[attribute] = value;
        },
        addEvent: (event, attributes) => span.events.push([event, attributes]),
        setStatus: (status) => {
          span.status = status;
        },
        end: () => {
          span.ended += 1;
        },
      };
    },
  };
  const observe = otelObserver({ tracer });
  for (const event of events) observe(event);
  return spans;
}

const OF_SPAN = { ...OF_LISTENER, "url.full": URL_, "hookproof.event_id": "e-1" };
// OpenTelemetry's SpanKind, whose numbers are part of its API.
const [CLIENT, PRODUCER] = [2, 3];

describe("each span has its name, kind and attributes", () => {
  it("of an event that is sent, with what happens in between", () => {
    const headers: [string, string][] = [];
    const spans = traced(
      { ...SUBJECT, type: "send-started", bodyBytes: 42 },
      { ...SUBJECT, type: "attempt-started", attempt: 1, bodyBytes: 42, headers },
      { ...SUBJECT, type: "clock-corrected", offsetMs: -1_500 },
      { ...SUBJECT, type: "secret-switched", secretIndex: 1, promoted: false },
      {
        ...SUBJECT,
        type: "attempt-ended",
        attempt: 1,
        durationMs: 9,
        outcome: "retry",
        status: 503,
        code: "RECEIVER_UNAVAILABLE",
      },
      { ...SUBJECT, type: "retry-scheduled", attempt: 2, delayMs: 750, code: "RECEIVER_UNAVAILABLE" },
      { ...SUBJECT, type: "send-ended", durationMs: 10, attempts: 1, outcome: "accepted" },
    );
    expect(spans).toEqual([
      {
        name: "webhook send",
        kind: PRODUCER,
        attributes: {
          ...OF_SPAN,
          "hookproof.body_bytes": 42,
          "hookproof.outcome": "accepted",
          "hookproof.attempts": 1,
        },
        events: [["retry-scheduled", { "hookproof.delay_ms": 750 }]],
        status: undefined,
        ended: 1,
        parent: undefined,
      },
      {
        name: "webhook attempt",
        kind: CLIENT,
        attributes: {
          ...OF_SPAN,
          "http.request.method": "POST",
          "hookproof.attempt": 1,
          "hookproof.outcome": "retry",
          "http.response.status_code": 503,
          "error.type": "RECEIVER_UNAVAILABLE",
        },
        events: [
          ["clock-corrected", { "hookproof.offset_ms": -1_500 }],
          ["secret-switched", { "hookproof.secret_index": 1 }],
        ],
        status: { code: 2, message: "RECEIVER_UNAVAILABLE" },
        ended: 1,
        parent: "0000000000000001",
      },
    ]);
    expect(headers).toEqual([["traceparent", `00-${"a".repeat(32)}-0000000000000002-01`]]);
  });

  it("of an event that is enqueued, and of an attempt of another process under it", () => {
    const headers: [string, string][] = [];
    const traceparent = `00-${"b".repeat(32)}-${"c".repeat(16)}-01`;
    const spans = traced(
      { ...SUBJECT, type: "enqueue-started", listener: "a", bodyBytes: 7, headers },
      { ...SUBJECT, type: "enqueue-ended", listener: "a", durationMs: 1, code: "OUTBOX_UNAVAILABLE" },
      {
        ...SUBJECT,
        delivery: 2,
        type: "attempt-started",
        attempt: 4,
        bodyBytes: 7,
        headers: [],
        traceparent,
      },
    );
    expect(spans).toEqual([
      {
        name: "webhook enqueue",
        kind: PRODUCER,
        attributes: { ...OF_SPAN, "hookproof.body_bytes": 7, "error.type": "OUTBOX_UNAVAILABLE" },
        events: [],
        status: { code: 2, message: "OUTBOX_UNAVAILABLE" },
        ended: 1,
        parent: undefined,
      },
      {
        name: "webhook attempt",
        kind: CLIENT,
        attributes: { ...OF_SPAN, "http.request.method": "POST", "hookproof.attempt": 4 },
        events: [],
        status: undefined,
        ended: 0,
        parent: "c".repeat(16),
      },
    ]);
    expect(headers).toEqual([["traceparent", `00-${"a".repeat(32)}-0000000000000001-01`]]);
  });

  it("and what happens to a delivery without one is no error", () => {
    expect(
      traced(
        { ...SUBJECT, type: "clock-corrected", offsetMs: 1 },
        { ...SUBJECT, type: "secret-switched", secretIndex: 1, promoted: false },
        { ...SUBJECT, type: "retry-scheduled", attempt: 2, delayMs: 1, code: "TIMED_OUT" },
      ),
    ).toEqual([]);
  });

  it("and none is ended twice, or by what belongs to another delivery", () => {
    const ended = { type: "send-ended", durationMs: 1, attempts: 1, outcome: "accepted" } as const;
    const spans = traced(
      { ...SUBJECT, type: "send-started", bodyBytes: 1 },
      { ...SUBJECT, ...ended, delivery: 2 },
      { ...SUBJECT, ...ended },
      { ...SUBJECT, ...ended },
    );
    expect(spans.map((span) => span.ended)).toEqual([1]);
  });
});
