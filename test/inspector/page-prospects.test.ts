// What the page says that a request will get when it is sent again.
import { describe, expect, it } from "vitest";
import {
  freshForMs,
  type Prospect,
  prospectOfNewId,
  prospectOfSameId,
  statusOfExact,
  UUID_4,
  verdictStatus,
  whoDecides,
} from "../../service/inspector/copy/expected-status.js";
import type { RequestDetail, Step } from "../../service/src/inspector/contract.js";

const AT = 1_767_225_600;
const STEPS = [
  ...["listener", "method", "headers", "source", "size", "content-type", "event-id", "timestamp", "window"],
  ...["signature", "body", "replay", "trigger", "run"],
];
const base64 = (body: string | Uint8Array) => Buffer.from(body).toString("base64");

/** The steps of a request that failed at one of them; of one that was accepted without. */
function stepsUntil(failed?: string): Step[] {
  const end = failed === undefined ? STEPS.length : STEPS.indexOf(failed);
  return STEPS.map((step, index) => ({
    step,
    rule: "",
    state: index < end ? "passed" : index === end ? "failed" : "not-reached",
  }));
}

/** A request that was accepted, or what is given of another. */
function detail(given: Partial<RequestDetail> = {}): RequestDetail {
  return {
    status: 200,
    timestamp: AT,
    eventId: "0b3e9f5c-7d2a-4c61-8f4b-2f1d9a6e5c70",
    headers: [["Content-Type", "application/json"]],
    bodyBase64: base64('{"a":1}'),
    steps: stepsUntil(),
    ...given,
  } as RequestDetail;
}
const exactly = (given: Partial<RequestDetail>, secondsLater = 0) =>
  statusOfExact(detail(given), (AT + secondsLater) * 1000);
const failedAt = (step: string, status: number) => ({ status, steps: stepsUntil(step) });

it("the verdict's status counts, whatever answer was forced in its place", () => {
  expect(verdictStatus({ status: 503, verdictStatus: 200 })).toBe(200);
  expect(verdictStatus({ status: 401 })).toBe(401);
});

it("a timestamp is good for 300 seconds, and for none where it is more than 300 ahead", () => {
  const left = (secondsLater: number) => freshForMs({ timestamp: AT }, (AT + secondsLater) * 1000);
  expect([left(0), left(299.999), left(300), left(5_000)]).toEqual([300_000, 1, 0, 0]);
  expect([left(-300), left(-300.001)]).toEqual([600_000, 0]);
  expect(freshForMs({}, AT * 1000)).toBeUndefined();
});

describe("the same headers and bytes again", () => {
  it.each([
    ["accepted before: the id is used up", {}, 0, 409],
    ["accepted before, and late: the timestamp is looked at first", {}, 300, 400],
    ["used up before", { status: 409 }, 0, 409],
    ["accepted behind an answer that was forced", { status: 503, verdictStatus: 200 }, 0, 409],
    ["without a timestamp, and accepted", { timestamp: undefined }, 900, 409],
    ["a wrong signature", failedAt("signature", 401), 0, 401],
    ["a wrong signature, and late", failedAt("signature", 401), 300, 400],
    ["a step before the window, however late", failedAt("content-type", 415), 900, 415],
    ["the window itself, which does not open again", failedAt("window", 400), 900, 400],
    ["an automation that failed", failedAt("run", 500), 0, undefined],
    ["an automation that failed, and late", failedAt("run", 503), 300, 400],
    ["another scheme", { scheme: "another" }, 300, undefined],
  ] as const)("%s", (_what, given, secondsLater, status) => {
    expect(exactly(given as Partial<RequestDetail>, secondsLater)).toBe(status);
  });

  it("is decided by the automation, or by the scheme that is not the service's own", () => {
    expect(whoDecides({})).toBe("the automation decides");
    expect(whoDecides({ scheme: "another" })).toBe("the scheme decides");
  });
});

describe("the same event signed again", () => {
  const outcome = (given: Partial<RequestDetail>) => prospectOfSameId(detail(given));

  it("is a duplicate where its id is used up", () => {
    const used: Prospect = { status: 409, why: "the id is used up" };
    expect([outcome({}), outcome({ status: 409 }), outcome({ status: 500, verdictStatus: 200 })]).toEqual([
      used,
      used,
      used,
    ]);
  });

  it("is refused for an id that is none, and accepted where only the proof was wrong", () => {
    const wrong = failedAt("signature", 401);
    expect(outcome({ ...wrong, eventId: "evt-1" })).toEqual({
      status: 400,
      why: "its id is no UUID of version 4",
    });
    expect(outcome({ ...wrong, eventId: "" }).status).toBe(400);
    expect(outcome(wrong)).toEqual({ status: 200, why: "the same event, rightly signed" });
    expect(outcome({ ...wrong, headers: [] })).toEqual({
      status: 415,
      why: "it is not sent as application/json",
    });
  });

  it("an id is a UUID of version 4, in either case, and nothing around it", () => {
    const id = "0b3e9f5c-7d2a-4c61-8f4b-2f1d9a6e5c70";
    expect([id, id.toUpperCase()].filter((one) => !UUID_4.test(one))).toEqual([]);
    const others = [
      ...[`x${id}`, `${id}0`, `${id}\n`, id.replace("-4c", "-1c"), id.replace("-8f", "-cf")],
      ...id
        .split("-")
        .flatMap((group) => [id.replace(group, group.slice(1)), id.replace(group, `g${group.slice(1)}`)]),
    ];
    expect(others.filter((one) => UUID_4.test(one))).toEqual([]);
  });
});

describe("the same body with another id", () => {
  const outcome = (given: Partial<RequestDetail>) => prospectOfNewId(detail(given));

  it("is accepted where the proof, its time or its id was wrong", () => {
    for (const step of ["event-id", "timestamp", "window", "signature", "replay"])
      expect(outcome(failedAt(step, 400)), step).toEqual({ status: 200, why: "the automation runs again" });
    expect(outcome({}).status).toBe(200);
  });

  it("fails as before at what stays as it is", () => {
    const stays = ["listener", "method", "headers", "source", "size", "content-type", "body", "trigger"];
    for (const step of stays)
      expect(outcome({ ...failedAt(step, 418), verdictStatus: 403 }), step).toEqual({
        status: 403,
        why: `“${step}” fails as before`,
      });
    const failed: Step = { step: "media-type", state: "failed", rule: "" };
    expect(outcome({ status: 415, steps: [failed] })).toMatchObject({
      status: 415,
      why: "“media-type” fails as before",
    });
  });

  it("is nobody's to know where the automation failed", () => {
    expect(outcome(failedAt("run", 500))).toEqual({ why: "the automation decides" });
  });

  it("is refused for a media type that was not looked at yet", () => {
    const sentAs = (...types: string[]) =>
      outcome({
        ...failedAt("signature", 401),
        headers: [["X-Other", "text/plain"], ...types.map((type) => ["CONTENT-type", type] as const)],
      }).status;
    expect(
      ["application/json", " Application/JSON ; charset=utf-8", "application/json;"].map((one) =>
        sentAs(one),
      ),
    ).toEqual([200, 200, 200]);
    expect(["text/json", "application/jsonx", "xapplication/json", ""].map((one) => sentAs(one))).toEqual([
      415, 415, 415, 415,
    ]);
    expect([sentAs(), sentAs("application/json", "application/json")]).toEqual([415, 415]);
  });

  it("is refused for a body that is no JSON, where that was not looked at yet", () => {
    const sent = (body: string | Uint8Array, given: Partial<RequestDetail> = failedAt("signature", 401)) =>
      outcome({ ...given, bodyBase64: base64(body) });
    const refused: Prospect = { status: 400, why: "the body is not JSON" };
    const bodies = ["", "{", "\ufeff{}", Uint8Array.of(0x22, 0xff, 0x22), Uint8Array.of(0xff)];
    for (const body of bodies) expect(sent(body), String(body)).toEqual(refused);
    for (const body of ["null", ' {"a":"é"}\n']) expect(sent(body).status, body).toBe(200);
    // What passed the step of the body was looked at by the listener, whatever is kept of it.
    expect(sent("{", failedAt("replay", 409)).status).toBe(200);
    expect(outcome({ ...failedAt("replay", 409), headers: [] }).status).toBe(200);
  });
});
