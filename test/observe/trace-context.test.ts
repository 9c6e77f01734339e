// What a span's context becomes on its way: the headers of W3C Trace Context, and the parent of an attempt.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { diagnosticsChannelObserver } from "hookproof/node";
import { type OtelContext, type OtelSpan, otelObserver } from "hookproof/otel";
import { expect, it } from "vitest";

const SUBJECT = {
  eventId: "e-1",
  url: "https://tenant.example.com/api/v1/webhooks/incoming/lst_1",
  delivery: 1,
};
const SPAN_KEY = Symbol.for("OpenTelemetry Context Key SPAN");

/** What an attempt sends along, and the context that its span was begun in. */
function attempted({ spanContext = {}, traceparent }: { spanContext?: object; traceparent?: string }) {
  let parent: OtelContext | undefined;
  const given = { traceId: "a".repeat(32), spanId: "b".repeat(16), traceFlags: 1, ...spanContext };
  const span: OtelSpan = {
    spanContext: () => given,
    setAttribute: () => {},
    addEvent: () => {},
    setStatus: () => {},
    end: () => {},
  };
  const observe = otelObserver({
    tracer: {
      startSpan(_, __, context) {
        parent = context;
        return span;
      },
    },
  });
  const headers: [string, string][] = [];
  observe({
    ...SUBJECT,
    type: "attempt-started",
    attempt: 1,
    bodyBytes: 1,
    headers,
    ...(traceparent !== undefined && { traceparent }),
  });
  return { parent, headers };
}

it.each<[what: string, spanContext: object, flags: string, rest: [string, string][]]>([
  ["sampled", {}, "01", []],
  ["not sampled", { traceFlags: 0 }, "00", []],
  ["flags of more than a byte", { traceFlags: 0x1ff }, "ff", []],
  [
    "a state",
    { traceState: { serialize: () => "vendor=1,other=2" } },
    "01",
    [["tracestate", "vendor=1,other=2"]],
  ],
  ["an empty state", { traceState: { serialize: () => "" } }, "01", []],
])("a span with %s is sent along", (_, spanContext, flags, rest) => {
  const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-${flags}`;
  expect(attempted({ spanContext }).headers).toEqual([["traceparent", traceparent], ...rest]);
});

it("the parent of another process is a remote span, with its flags", () => {
  const { parent } = attempted({ traceparent: `00-${"c".repeat(32)}-${"d".repeat(16)}-0a` });
  const span = parent?.getValue(SPAN_KEY) as OtelSpan | undefined;
  expect(span?.spanContext()).toEqual({
    traceId: "c".repeat(32),
    spanId: "d".repeat(16),
    traceFlags: 10,
    isRemote: true,
  });
});

it.each([undefined, "", "00", "00-a", "00-a-b", "00--b-01", "00-a--01", "00-a-b-"])(
  "%j names no parent",
  (traceparent) => {
    expect(attempted(traceparent === undefined ? {} : { traceparent }).parent).toBeUndefined();
  },
);

it("the context of a parent is one: it keeps what is set and drops what is deleted, and does not change", () => {
  const { parent } = attempted({ traceparent: `00-${"c".repeat(32)}-${"d".repeat(16)}-01` });
  const [one, two] = [Symbol("one"), Symbol("two")];
  const both = parent?.setValue(one, 1).setValue(two, 2);
  expect([both?.getValue(one), both?.getValue(two)]).toEqual([1, 2]);
  expect(both?.getValue(SPAN_KEY)).toBe(parent?.getValue(SPAN_KEY));
  const less = both?.deleteValue(one);
  expect([less?.getValue(one), less?.getValue(two), both?.getValue(one)]).toEqual([undefined, 2, 1]);
  expect(parent?.getValue(one)).toBeUndefined();
});

it("without a tracer and a meter it does nothing", () => {
  expect(() => otelObserver({})({ ...SUBJECT, type: "send-started", bodyBytes: 1 })).not.toThrow();
});

it("the diagnostics channel is told of everything while somebody listens", () => {
  const told: unknown[] = [];
  const listen = (message: unknown) => void told.push(message);
  const observe = diagnosticsChannelObserver();
  const started = { ...SUBJECT, type: "send-started", bodyBytes: 1 } as const;
  observe(started);
  subscribe("hookproof:sender", listen);
  observe(started);
  unsubscribe("hookproof:sender", listen);
  observe(started);
  expect(told).toEqual([started]);
});
