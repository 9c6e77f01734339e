import { createHmac } from "node:crypto";
import {
  createReceiver,
  type ListenerOptions,
  memoryReplayStore,
  type ReceivedRequest,
  type ReplayStore,
} from "hookproof/receiver";
import { fixedClock } from "hookproof/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { BASE_URL, clock, hmacListener, NOW, SECRET } from "../kit/hostile-target.js";
import { LISTENER_ID, receiveCounting, signed } from "./received.js";

const base = hmacListener(LISTENER_ID);
const EVENT_ID = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
const DAY_MS = 24 * 60 * 60 * 1000;

/** A signed request by hand, for any body and moment. */
function signedAt(seconds: number, body: Uint8Array, sent: ReceivedRequest["body"] = body): ReceivedRequest {
  const signature = createHmac("sha256", SECRET)
    .update(`${seconds}.${EVENT_ID}.`)
    .update(body)
    .digest("base64url");
  const headers = {
    "content-type": "application/json",
    "webhook-timestamp": String(seconds),
    "webhook-event-id": EVENT_ID,
    "webhook-signature": signature,
  };
  return { method: "POST", url: `/api/v1/webhooks/incoming/${LISTENER_ID}`, headers, body: sent };
}

async function* chunks(...parts: Uint8Array[]): AsyncIterable<Uint8Array> {
  yield* parts;
}

describe("the answer's headers", () => {
  const JSON_TYPE = ["Content-Type", "application/json"];

  it("are the content type alone for an acceptance, a duplicate and a bad signature", async () => {
    const receiver = createReceiver({ ...base, clock });
    const request = signed();
    expect((await receiveCounting(receiver, request)).headers).toEqual([JSON_TYPE]);
    expect((await receiveCounting(receiver, request)).headers).toEqual([JSON_TYPE]);
    const changed = { ...request, body: "{}" };
    expect((await receiveCounting(receiver, changed)).headers).toEqual([JSON_TYPE]);
  });

  it("name the method for 405, and when to come back for a copy in flight or a failed store", async () => {
    const other = await receiveCounting(createReceiver({ ...base, clock }), { ...signed(), method: "GET" });
    expect(other.headers).toEqual([JSON_TYPE, ["Allow", "POST"]]);
    const busy: ReplayStore = {
      ...memoryReplayStore({ clock }),
      reserve: async () => ({ state: "in-flight" }),
    };
    const copy = await receiveCounting(
      createReceiver({ ...base, clock, replayStore: busy, inFlightWaitMs: 0 }),
      signed(),
    );
    expect(copy).toMatchObject({ status: 503, verdict: { code: "EVENT_IN_FLIGHT" }, runs: 0 });
    expect(copy.headers).toEqual([JSON_TYPE, ["Retry-After", "1"]]);
    const down: ReplayStore = { ...busy, reserve: () => Promise.reject(new Error("down")) };
    const failed = await receiveCounting(createReceiver({ ...base, clock, replayStore: down }), signed());
    expect(failed.headers).toEqual([JSON_TYPE, ["Retry-After", "1"]]);
  });
});

describe("a copy in flight", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** A store in which every id is in flight, whose answer takes so long; `asked` are the times it was asked at. */
  function busyStore(takesMs: number) {
    const asked: number[] = [];
    const from = performance.now();
    const replayStore: ReplayStore = {
      ...memoryReplayStore({ clock }),
      async reserve() {
        asked.push(performance.now() - from);
        if (takesMs > 0) await new Promise((resolve) => setTimeout(resolve, takesMs));
        return { state: "in-flight" };
      },
    };
    return { asked, replayStore };
  }

  it("waits for the outcome of the first: committed, it is a duplicate", async () => {
    let finish = () => {};
    const running = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const receiver = createReceiver({ ...base, clock, inFlightWaitMs: 10_000 });
    const request = signed();
    const first = receiveCounting(receiver, request, () => running);
    const copy = receiveCounting(receiver, request);
    await vi.advanceTimersByTimeAsync(5_000);
    finish();
    await vi.advanceTimersByTimeAsync(100);
    expect(await first).toMatchObject({ status: 200, runs: 1 });
    expect(await copy).toMatchObject({ status: 409, runs: 0 });
  });

  it("asks again a bounded number of times, further and further apart", async () => {
    const { asked, replayStore } = busyStore(0);
    const receiver = createReceiver({ ...base, clock, replayStore, inFlightWaitMs: 400 });
    const answer = receiveCounting(receiver, signed());
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await answer).toMatchObject({ status: 503, verdict: { code: "EVENT_IN_FLIGHT" } });
    expect(asked).toEqual([0, 5, 15, 35, 75, 155, 255, 355, 455]);
  });

  it("counts what a slow store takes as waiting", async () => {
    const { asked, replayStore } = busyStore(20);
    const receiver = createReceiver({ ...base, clock, replayStore, inFlightWaitMs: 30 });
    const answer = receiveCounting(receiver, signed());
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await answer).toMatchObject({ status: 503 });
    expect(asked).toEqual([0, 25]);
  });
});

describe("the store", () => {
  it("is told of an acceptance once, and never to release it", async () => {
    const inner = memoryReplayStore({ clock });
    const told: string[] = [];
    const replayStore: ReplayStore = {
      reserve: inner.reserve,
      async commit(reservation) {
        told.push("commit");
        await inner.commit(reservation);
      },
      async release(reservation) {
        told.push("release");
        await inner.release(reservation);
      },
    };
    await receiveCounting(createReceiver({ ...base, clock, replayStore }), signed());
    expect(told).toEqual(["commit"]);
  });

  it("that answers nonsense is named as such in the cause", async () => {
    const reserve = (async () => ({ state: "maybe" })) as unknown as ReplayStore["reserve"];
    const replayStore = { ...memoryReplayStore({ clock }), reserve };
    const { verdict } = await receiveCounting(createReceiver({ ...base, clock, replayStore }), signed());
    expect(verdict).toMatchObject({ code: "REPLAY_STORE_UNAVAILABLE", cause: expect.any(TypeError) });
  });

  it("of the default goes by the receiver's clock", async () => {
    const own = fixedClock(NOW * 1000);
    const receiver = createReceiver({ ...base, clock: own });
    const body = Buffer.from("{}");
    expect(await receiveCounting(receiver, signedAt(NOW, body))).toMatchObject({ status: 200 });
    own.advance(7 * DAY_MS - 1000);
    expect(await receiveCounting(receiver, signedAt(NOW + 7 * 86_400 - 1, body))).toMatchObject({
      status: 409,
    });
    own.advance(1000);
    expect(await receiveCounting(receiver, signedAt(NOW + 7 * 86_400, body))).toMatchObject({ status: 200 });
  });

  it("in memory refuses a holder that lost its id", async () => {
    const own = fixedClock(0);
    const store = memoryReplayStore({ clock: own, reservationMs: 10 });
    const late = await store.reserve("l", "d");
    own.advance(10);
    const next = await store.reserve("l", "d");
    if (late.state !== "reserved" || next.state !== "reserved") throw new Error("not reserved");
    expect(next.reservation.token).not.toBe(late.reservation.token);
    await expect(store.commit(late.reservation)).rejects.toMatchObject({ code: "RESERVATION_LOST" });
    await store.commit(next.reservation);
    await expect(store.commit(late.reservation)).rejects.toMatchObject({ code: "RESERVATION_LOST" });
    await store.commit(next.reservation);
  });
});

describe("bodies as they arrive", () => {
  const largest = Buffer.from(`"${"x".repeat(65_534)}"`);

  it("of 65,536 bytes in chunks are accepted, of one more refused, and of none not JSON", async () => {
    const receiver = createReceiver({ ...base, clock });
    const split = chunks(largest.subarray(0, 40_000), largest.subarray(40_000));
    expect(await receiveCounting(receiver, signedAt(NOW, largest, split))).toMatchObject({ status: 200 });
    const more = chunks(largest, Buffer.from(" "));
    expect(await receiveCounting(receiver, signedAt(NOW, largest, more))).toMatchObject({ status: 413 });
    const nothing = new Uint8Array();
    for (const empty of [undefined, null, nothing, chunks()])
      expect(await receiveCounting(receiver, { ...signedAt(NOW, nothing), body: empty })).toMatchObject({
        verdict: { code: "BODY_NOT_JSON" },
      });
  });
});

describe("configuration and calls that cannot work", () => {
  it.each([
    ["an id that is no text", { id: 7 }, /listener\.id/],
    [
      "a method that does not exist",
      { auth: { method: "basic", keys: { resolve: async () => {} } } },
      /listener\.auth/,
    ],
    ["JWT without keys", { auth: { method: "jwt" } }, /listener\.auth/],
  ])("%s is a TypeError that names it", (_name, change, words) => {
    const listener = { ...base.listener, ...change } as unknown as ListenerOptions;
    expect(() => createReceiver({ listener })).toThrow(words);
    expect(() => createReceiver({ listener })).toThrow(TypeError);
  });

  it("takes the header Ed25519 only where that is asked for", async () => {
    const keys = { resolve: async () => ({ ok: false, code: "KEY_NOT_FOUND", detail: "none" }) as const };
    const token = `${Buffer.from('{"alg":"Ed25519","kid":"k"}').toString("base64url")}.e30.AA`;
    const request = signedAt(NOW, Buffer.from("{}"));
    const headers = { ...(request.headers as Record<string, string>), authorization: `Bearer ${token}` };
    const codeWith = async (allowEd25519: boolean | undefined) => {
      const listener: ListenerOptions = {
        id: LISTENER_ID,
        baseUrl: BASE_URL,
        auth: { method: "jwt", keys, allowEd25519 },
      };
      const verdict = await createReceiver({ listener, clock }).verify({ ...request, headers });
      return verdict.ok ? "" : verdict.code;
    };
    expect(await codeWith(undefined)).toBe("TOKEN_ALGORITHM_REFUSED");
    expect(await codeWith(true)).toBe("KEY_NOT_FOUND");
  });

  it.each([undefined, null, {}, { headers: {} }])(
    "handle(%j) says that it takes a web Request",
    async (given) => {
      const receiver = createReceiver({ ...base, clock });
      await expect(receiver.handle(given as unknown as Request, async () => {})).rejects.toThrow(
        /web Request/,
      );
    },
  );
});

describe("a verdict's steps", () => {
  it("have no empty fields, and no step that was not reached", async () => {
    const isTriggerActive = () => {
      throw new Error("no database");
    };
    const { verdict } = await receiveCounting(createReceiver({ ...base, clock, isTriggerActive }), signed());
    expect(verdict.checks.map(({ step }) => step).slice(-2)).toEqual(["replay", "trigger"]);
    for (const check of verdict.checks) expect(Object.values(check)).not.toContain(undefined);
    expect("cause" in (await createReceiver({ ...base, clock }).verify({ ...signed(), method: "GET" }))).toBe(
      false,
    );
  });
});
