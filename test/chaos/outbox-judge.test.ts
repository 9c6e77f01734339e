import { expect, it } from "vitest";
import type { SeenRequest } from "./chaos-receiver.js";
import { brokenPromises, type ChaosEvidence } from "./outbox-judge.js";

const ATTEMPT = { startedAt: 0, durationMs: 1 };
const body = (place: number) => JSON.stringify({ key: "k", place });

const request = (fields: Partial<SeenRequest> = {}): SeenRequest => ({
  id: "a",
  listener: "taking",
  dispatcher: 0,
  at: 10_000,
  answeredAt: 10_010,
  digest: "digest of a",
  ran: true,
  open: 1,
  status: 200,
  asksToWait: false,
  isKnown: true,
  ...fields,
});

const letter = (id: string, statuses: readonly number[], reason: "refused" | "window" = "refused") => ({
  event: { id, listener: "refusing", body: new Uint8Array(), digest: `digest of ${id}` },
  ...{ reason, code: "REQUEST_REFUSED" as const, failedAt: 0, enqueuedAt: 0 },
  attempts: statuses.map((status, index) => ({ ...ATTEMPT, number: index + 1, status })),
});

/** A sound run: `a` was taken at its first attempt, and `r` refused at its second. */
const sound = (fields: Partial<ChaosEvidence> = {}): ChaosEvidence => ({
  told: {
    taking: { offered: new Map([["a", "digest of a"]]), acknowledged: new Set(["a"]) },
    refusing: { offered: new Map([["r", "digest of r"]]), acknowledged: new Set(["r"]) },
  },
  requests: [request(), ...refusals(500, 422)],
  runs: [{ id: "a", body: body(0) }],
  unsound: [],
  interruptions: [],
  outages: [],
  hindrances: [],
  limits: {
    ...{ concurrency: 2, hangsAfterMs: 1_000, firstDelayMs: 25, maxRetryAfterMs: 100, lagMs: 0 },
    ...{ leaseMs: 4_500, patienceMs: 100 },
  },
  entries: entries([200]),
  dead: [letter("r", [500, 422])],
  stats: [{ listener: "taking", pending: 0, inFlight: 0, delivered: 1, dead: 0, oldestAgeMs: 0 }],
  ...fields,
});

const entries = (
  statuses: readonly (number | undefined)[],
  outcome: "delivered" | "duplicate" = "delivered",
) =>
  new Map([
    [
      "a",
      [
        {
          ...{ listener: "taking", id: "a", state: "delivered" as const, enqueuedAt: 0, outcome },
          attempts: statuses.map((status, index) => ({
            ...{ ...ATTEMPT, number: index + 1 },
            ...(status === undefined ? {} : { status }),
          })),
        },
      ],
    ],
  ]);

function refusals(...statuses: number[]): SeenRequest[] {
  return statuses.map((status, index) => {
    const at = 10_000 + index * 1_000;
    return request({
      ...{ id: "r", listener: "refusing", digest: "digest of r", ran: false, status },
      ...{ at, answeredAt: at + 10 },
    });
  });
}

const again = (fields: Partial<SeenRequest> = {}) =>
  request({ at: 15_000, answeredAt: 15_010, status: 409, ran: false, ...fields });
const kill = { dispatcher: 0, kind: "kill" as const, from: 10_500, to: 10_500 };

it("finds nothing in a sound run", () => {
  expect(brokenPromises(sound())).toEqual([]);
});

it("lets an event be sent again whose outcome was unknown, as its worker was killed or the answer was lost", () => {
  expect(sentAgain({ interruptions: [kill] })).toEqual([]);
  const lost = request({ isKnown: false });
  const requests = [lost, again(), ...refusals(500, 422)];
  expect(brokenPromises(sound({ requests, entries: entries([undefined, 409]) }))).toEqual([]);
  // Stopped, then continued: what it was about to send arrives late.
  const stop = { dispatcher: 1, kind: "stop" as const, from: 9_000, to: 14_900 };
  const late = [request(), again({ dispatcher: 1 }), ...refusals(500, 422)];
  expect(brokenPromises(sound({ requests: late, interruptions: [stop] }))).toEqual([]);
});

const standstill = (from: number, to: number, dispatcher?: number) => ({
  ...{ kind: "standstill" as const, from, to },
  dispatcher,
});
const sentAgain = (fields: Partial<ChaosEvidence>) =>
  brokenPromises(
    sound({ requests: [request(), again(), ...refusals(500, 422)], entries: entries([409]), ...fields }),
  );

it.each<[string, Partial<ChaosEvidence>]>([
  ["stood still until its lease was over", { hindrances: [standstill(10_020, 13_000, 0)] }],
  ["stood still again and again", { hindrances: [standstill(10_020, 11_520), standstill(11_530, 13_030)] }],
  ["stood still before it sent", { hindrances: [standstill(9_850, 9_980)] }],
  ["had no store until its lease was over", { outages: [{ from: 10_005, to: 13_000 }] }],
  ["had calls that failed for so long", { hindrances: [{ kind: "failure", from: 10_005, to: 13_000 }] }],
])("lets an event be sent again whose worker %s", (_, fields) => {
  expect(sentAgain(fields)).toEqual([]);
});

it.each<[string, Partial<ChaosEvidence>]>([
  ["stood still, and then had time enough", { hindrances: [standstill(10_020, 11_500)] }],
  ["worked while another one stood still", { hindrances: [standstill(10_020, 13_000, 1)] }],
  ["stood still for too short a time before it sent", { hindrances: [standstill(9_900, 9_980)] }],
  ["had its store back in time", { outages: [{ from: 10_005, to: 11_500 }] }],
])("notices an event that is sent again whose worker %s", (_, fields) => {
  expect(sentAgain(fields).join()).toContain("sent again");
});

const told = (taking: string[], acknowledged = taking) => ({
  ...sound().told,
  taking: {
    offered: new Map(taking.map((id) => [id, `digest of ${id}`])),
    acknowledged: new Set(acknowledged),
  },
});

it.each<[string, Partial<ChaosEvidence>]>([
  ["acknowledged, never run", { runs: [] }],
  ["never committed", { told: told([]), entries: new Map() }],
  ["run twice", { told: told(["a", "b"], ["a"]), runs: ["a", "b"].map((id) => ({ id, body: body(0) })) }],
  ["other bytes", { requests: [request({ digest: "another" }), ...refusals(500, 422)] }],
  [
    "ran after number 1",
    {
      told: told(["a", "b"], ["a"]),
      runs: [1, 0].map((place) => ({ id: place ? "a" : "b", body: body(place) })),
    },
  ],
  ["sent again", { requests: [request(), again(), ...refusals(500, 422)], entries: entries([200, 409]) }],
  [
    "sent again",
    // The one that was killed is not the one that got the answer.
    {
      requests: [request(), again(), ...refusals(500, 422)],
      interruptions: [{ ...kill, dispatcher: 1 }],
      entries: entries([200, 409]),
    },
  ],
  [
    "tried again 5 ms after a 500",
    {
      requests: [request({ at: 9_000, answeredAt: 9_995, status: 500 }), request(), ...refusals(500, 422)],
      entries: entries([500, 200]),
    },
  ],
  [
    "tried again 50 ms after a 429",
    {
      requests: [
        request({ at: 9_000, answeredAt: 9_950, status: 429, asksToWait: true }),
        request(),
        ...refusals(500, 422),
      ],
      entries: entries([429, 200]),
    },
  ],
  [
    "Retry-After: requests during 1 of 1 pauses",
    {
      requests: [
        ...refusals(429, 422).map((one) => ({ ...one, asksToWait: one.status === 429 })),
        request({
          listener: "refusing",
          id: "r",
          digest: "",
          at: 10_080,
          answeredAt: 10_081,
          isKnown: false,
        }),
      ],
      dead: [letter("r", [429, 422])],
    },
  ],
  ["an attempt is missing", { dead: [letter("r", [422])] }],
  ["an attempt was never made", { dead: [letter("r", [500, 503, 422])] }],
  ["delivered duplicate", { entries: entries([200], "duplicate") }],
  ["refused, and no dead letter", { dead: [] }],
  ["a dead letter of window", { dead: [letter("r", [500, 422], "window")] }],
  ["open at once", { requests: [request({ open: 4 }), ...refusals(500, 422)] }],
  [
    "1 pending",
    { stats: [{ listener: "taking", pending: 1, inFlight: 0, delivered: 0, dead: 0, oldestAgeMs: 1 }] },
  ],
  ["wrong signature", { unsound: ["a: wrong signature"] }],
])("notices: %s", (words, fields) => {
  expect(brokenPromises(sound(fields)).join("\n")).toContain(words);
});
