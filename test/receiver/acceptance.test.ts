import { inspect } from "node:util";
import {
  createReceiver,
  type ListenerOptions,
  memoryReplayStore,
  type ReplayStore,
  type Verdict,
} from "hookproof/receiver";
import { describe, expect, it } from "vitest";
import { BASE_URL, clock, hmacListener, OTHER_SECRET, SECRET } from "../kit/hostile-target.js";
import { LISTENER_ID, receiveCounting, signed } from "./received.js";

const base = hmacListener(LISTENER_ID);
const fail = async (): Promise<never> => {
  throw new Error("postgres://user:password@db failed");
};

describe("the trigger", () => {
  it("inactive is 404 TRIGGER_INACTIVE, and the id is not used up", async () => {
    let active: boolean | Promise<boolean> = false;
    const receiver = createReceiver({ ...base, clock, isTriggerActive: () => active });
    const request = signed();
    for (const state of [false, Promise.resolve(false)]) {
      active = state;
      const { status, verdict, runs } = await receiveCounting(receiver, request);
      expect([status, verdict, runs]).toMatchObject([404, { code: "TRIGGER_INACTIVE" }, 0]);
    }
    active = Promise.resolve(true);
    expect(await receiveCounting(receiver, request)).toMatchObject({ status: 200, runs: 1 });
    active = false;
    // A processed id is told before the trigger is asked.
    expect(await receiveCounting(receiver, request)).toMatchObject({ status: 409, runs: 0 });
  });

  it("that cannot be asked is 503, and the id is not used up", async () => {
    let works = false;
    const receiver = createReceiver({
      ...base,
      clock,
      isTriggerActive: () => {
        if (works) return true;
        throw new Error("no database");
      },
    });
    const request = signed();
    expect(await receiveCounting(receiver, request)).toMatchObject({ status: 503, runs: 0 });
    works = true;
    expect(await receiveCounting(receiver, request)).toMatchObject({ status: 200, runs: 1 });
  });
});

describe("the run", () => {
  it.each<[string, () => Promise<unknown>]>([
    ["rejects", fail],
    [
      "throws at once",
      () => {
        throw new Error("at once");
      },
    ],
    ["rejects with nothing", () => Promise.reject()],
  ])("that %s is 503, says nothing of why, and may come again", async (_name, run) => {
    const receiver = createReceiver({ ...base, clock });
    const request = signed();
    const first = await receiveCounting(receiver, request, run);
    expect(first).toMatchObject({ status: 503, runs: 1, verdict: { code: "RUN_FAILED" } });
    expect(JSON.stringify([first.body, first.verdict])).not.toContain("password");
    expect(await receiveCounting(receiver, request)).toMatchObject({ status: 200, runs: 1 });
    expect(await receiveCounting(receiver, request)).toMatchObject({ status: 409, runs: 0 });
  });

  it("is finished before the answer, and what it gives is not sent", async () => {
    const receiver = createReceiver({ ...base, clock });
    let finished = false;
    const { body } = await receiveCounting(receiver, signed(), async () => {
      await new Promise(setImmediate);
      finished = true;
      return { secret: "x" };
    });
    expect([finished, body]).toEqual([true, "{}"]);
  });
});

describe("the replay store", () => {
  const memory = () => memoryReplayStore({ clock });

  it("that fails to reserve is 503 and nothing runs", async () => {
    const receiver = createReceiver({ ...base, clock, replayStore: { ...memory(), reserve: fail } });
    expect(await receiveCounting(receiver, signed())).toMatchObject({
      status: 503,
      runs: 0,
      verdict: { code: "REPLAY_STORE_UNAVAILABLE" },
    });
  });

  it("that throws at once is 503 as well", async () => {
    const reserve: ReplayStore["reserve"] = () => {
      throw new Error("not connected");
    };
    const receiver = createReceiver({ ...base, clock, replayStore: { ...memory(), reserve } });
    expect(await receiveCounting(receiver, signed())).toMatchObject({ status: 503, runs: 0 });
  });

  it("that fails to commit is 503, never 200", async () => {
    const receiver = createReceiver({ ...base, clock, replayStore: { ...memory(), commit: fail } });
    expect(await receiveCounting(receiver, signed())).toMatchObject({
      status: 503,
      runs: 1,
      verdict: { code: "REPLAY_STORE_UNAVAILABLE" },
    });
  });

  it("that fails to release leaves the answer as it was", async () => {
    const replayStore = { ...memory(), release: fail };
    const failing = createReceiver({ ...base, clock, replayStore });
    expect(await receiveCounting(failing, signed(), fail)).toMatchObject({
      status: 503,
      verdict: { code: "RUN_FAILED" },
    });
    const inactive = createReceiver({ ...base, clock, replayStore, isTriggerActive: () => false });
    expect(await receiveCounting(inactive, signed())).toMatchObject({ status: 404 });
  });

  it("is asked with the id in lower case, and given back its own reservation", async () => {
    const seen: unknown[] = [];
    const reservation = { listenerId: LISTENER_ID, eventId: "x", token: "its-own" };
    const replayStore: ReplayStore = {
      reserve: async (...asked) => {
        seen.push(asked);
        return { state: "reserved", reservation };
      },
      commit: async (given) => void seen.push(given),
      release: fail,
    };
    const eventId = "9B2F8D1C-3A4E-4F5B-8C6D-7E8F9A0B1C2D";
    const receiver = createReceiver({ ...base, clock, replayStore });
    await receiveCounting(receiver, signed({ eventId }));
    expect(seen).toEqual([[LISTENER_ID, eventId.toLowerCase()], reservation]);
  });

  it("copies of an event in flight get 503 at once where nothing is waited for", async () => {
    const receiver = createReceiver({ ...base, clock, inFlightWaitMs: 0 });
    const request = signed();
    let open = (): void => {};
    const first = receiveCounting(receiver, request, () => new Promise<void>((resolve) => (open = resolve)));
    await new Promise(setImmediate);
    expect(await receiveCounting(receiver, request)).toMatchObject({ status: 503, runs: 0 });
    open();
    expect(await first).toMatchObject({ status: 200, runs: 1 });
  });
});

describe("several secrets", () => {
  it("are all accepted, with one memory of ids, and no third", async () => {
    const auth = { method: "hmac", secret: [OTHER_SECRET, SECRET] } as const;
    const receiver = createReceiver({ listener: { id: LISTENER_ID, baseUrl: BASE_URL, auth }, clock });
    const eventId = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
    expect(await receiveCounting(receiver, signed({ eventId }))).toMatchObject({ status: 200 });
    expect(await receiveCounting(receiver, signed({ eventId, secret: OTHER_SECRET }))).toMatchObject({
      status: 409,
    });
    expect(await receiveCounting(receiver, signed({ secret: OTHER_SECRET }))).toMatchObject({ status: 200 });
    expect(await receiveCounting(receiver, signed({ secret: "third" }))).toMatchObject({ status: 401 });
  });
});

describe("a configuration that cannot work is refused before any request", () => {
  const { listener } = base;
  const jwt = (keys: unknown) => ({ ...listener, auth: { method: "jwt", keys } }) as ListenerOptions;

  it.each<[string, unknown, object]>([
    ["an id with a slash", { ...listener, id: "a/b" }, { name: "TypeError" }],
    ["an empty id", { ...listener, id: "" }, { name: "TypeError" }],
    ["no auth method", { ...listener, auth: {} }, { name: "TypeError" }],
    ["no secret", { ...listener, auth: { method: "hmac" } }, { code: "SECRET_INVALID" }],
    [
      "an empty list of secrets",
      { ...listener, auth: { method: "hmac", secret: [] } },
      { name: "TypeError" },
    ],
    ["an empty secret", { ...listener, auth: { method: "hmac", secret: "" } }, { code: "SECRET_INVALID" }],
    [
      "an empty one of two secrets",
      { ...listener, auth: { method: "hmac", secret: ["a", ""] } },
      { code: "SECRET_INVALID" },
    ],
    ["no keys", jwt(undefined), { name: "TypeError" }],
    ["a URL in place of keys", jwt("https://keys.example.com"), { name: "TypeError" }],
    [
      "a range with bits past its prefix",
      { ...listener, allowedCidrs: ["10.0.0.1/8"] },
      { code: "CIDR_INVALID" },
    ],
    ["an address in place of a range", { ...listener, allowedCidrs: ["10.0.0.1"] }, { code: "CIDR_INVALID" }],
    [
      "a base URL with a query",
      { ...listener, baseUrl: "https://a.example/?x" },
      { code: "LISTENER_URL_INVALID" },
    ],
    ["a base URL without a scheme", { ...listener, baseUrl: "a.example" }, { code: "LISTENER_URL_INVALID" }],
  ])("%s", (_name, refused, error) => {
    expect(() => createReceiver({ listener: refused as ListenerOptions })).toThrow(
      expect.objectContaining(error) as Error,
    );
  });

  it("a trusted proxy that is no range", () => {
    expect(() => createReceiver({ listener, trustedProxies: ["proxy"] })).toThrow(/address range/);
  });
});

describe("the verdict", () => {
  it("is told to onVerdict with its cause, which no print of it shows", async () => {
    const verdicts: Verdict[] = [];
    const receiver = createReceiver({ ...base, clock, onVerdict: (verdict) => verdicts.push(verdict) });
    const request = signed();
    await receiveCounting(receiver, request, fail);
    await receiveCounting(receiver, request);
    await receiveCounting(receiver, request);
    const [failed, ...rest] = verdicts;
    expect(failed).toMatchObject({
      ok: false,
      code: "RUN_FAILED",
      cause: { message: expect.stringContaining("failed") },
    });
    expect(inspect(failed, { depth: 9 }) + JSON.stringify(failed)).not.toContain("password");
    expect(rest).toMatchObject([{ ok: true }, { ok: false, code: "EVENT_DUPLICATE" }]);
  });

  it("has the cause of a replay store that failed", async () => {
    let seen: Verdict | undefined;
    const replayStore: ReplayStore = { ...memoryReplayStore({ clock }), reserve: fail };
    const receiver = createReceiver({
      ...base,
      clock,
      replayStore,
      onVerdict: (verdict) => (seen = verdict),
    });
    expect(await receiveCounting(receiver, signed())).toMatchObject({ status: 503, runs: 0 });
    expect(seen).toMatchObject({
      code: "REPLAY_STORE_UNAVAILABLE",
      cause: { message: expect.stringContaining("db failed") },
    });
  });

  it("changes nothing when onVerdict throws", async () => {
    const onVerdict = () => {
      throw new Error("the log is full");
    };
    const receiver = createReceiver({ ...base, clock, onVerdict });
    expect(await receiveCounting(receiver, signed())).toMatchObject({ status: 200, runs: 1 });
  });
});
