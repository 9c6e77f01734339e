import {
  createReceiver,
  memoryReplayStore,
  type ReceiverOptions,
  type ReplayStore,
} from "hookproof/receiver";
import { describe, expect, it } from "vitest";
import {
  BASE_URL,
  clock,
  hmacParts,
  NOW,
  type Parts,
  pathOf,
  replaced,
  SECRET,
  without,
} from "../kit/hostile-target.js";
import { jwtListener, jwtParts, testKey } from "../kit/hostile-tokens.js";
import { LISTENER_ID, receiveCounting, received, signed } from "./received.js";

const key = testKey("EdDSA");
const INSIDE = "203.0.113.7";
const allowedCidrs = ["203.0.113.0/24"];
const hmacListener = {
  id: LISTENER_ID,
  baseUrl: BASE_URL,
  auth: { method: "hmac", secret: SECRET } as const,
  allowedCidrs,
};
const jwtListenerOf = { ...jwtListener(LISTENER_ID, [key]).listener, allowedCidrs };

const BEFORE_CREDENTIAL = [
  "listener",
  "method",
  "headers",
  "source",
  "size",
  "timestamp",
  "event-id",
  "content-type",
  "window",
];
const ACCEPTANCE = ["replay", "trigger", "run"];

/** A store that must not be touched. */
const untouchable: ReplayStore = {
  reserve: () => Promise.reject(new Error("reserve was called")),
  commit: () => Promise.reject(new Error("commit was called")),
  release: () => Promise.reject(new Error("release was called")),
};

describe("the checks of a request that is accepted, in the service's order", () => {
  it("with HMAC", async () => {
    const receiver = createReceiver({ listener: hmacListener, clock });
    const { status, verdict, runs } = await receiveCounting(receiver, { ...signed(), sourceAddress: INSIDE });
    expect([status, verdict.ok, runs]).toEqual([200, true, 1]);
    expect(verdict.checks.map(({ step }) => step)).toEqual([
      ...BEFORE_CREDENTIAL,
      ...["signature", "media-type", "body"],
      ...ACCEPTANCE,
    ]);
    expect(verdict.checks.filter(({ ok, code }) => !ok || code !== undefined)).toEqual([]);
  });

  it("with a token", async () => {
    const receiver = createReceiver({ listener: jwtListenerOf, clock });
    const parts = jwtParts(LISTENER_ID, key, { claims: { nbf: NOW } });
    const { status, verdict } = await receiveCounting(receiver, received(parts, INSIDE));
    expect(status).toBe(200);
    expect(verdict.checks.map(({ step }) => step)).toEqual([
      ...BEFORE_CREDENTIAL,
      ...["token", "key", "token-signature", "claims"],
      ...["exp", "nbf", "sub", "aud", "jti", "htm", "htb_s256", "media-type", "body"],
      ...ACCEPTANCE,
    ]);
  });
});

/** One thing wrong with a request or with what is behind the receiver, and the answer it gets. */
interface Fault {
  readonly code: string;
  readonly status: number;
  spoil?(parts: Parts): Parts;
  readonly options?: Partial<ReceiverOptions>;
  readonly sourceAddress?: string;
}

const drop = (name: string) => (parts: Parts) => ({ ...parts, headers: without(parts.headers, name) });
const put = (name: string, value: string) => (parts: Parts) => ({
  ...parts,
  headers: replaced(parts.headers, name, value),
});
const body = (text: string) => (parts: Parts) => ({ ...parts, body: Buffer.from(text) });

/** Every fault of an HMAC request, in the order in which the pipeline must find them. */
const FAULTS: readonly Fault[] = [
  { code: "LISTENER_UNKNOWN", status: 404, spoil: (parts) => ({ ...parts, target: pathOf("lst_2") }) },
  { code: "METHOD_NOT_ALLOWED", status: 405, spoil: (parts) => ({ ...parts, method: "PUT" }) },
  { code: "SOURCE_NOT_ALLOWED", status: 403, sourceAddress: "198.51.100.1" },
  { code: "BODY_TOO_LARGE", status: 413, spoil: body(" ".repeat(65_537)) },
  { code: "TIMESTAMP_MALFORMED", status: 400, spoil: put("Webhook-Timestamp", "soon") },
  { code: "EVENT_ID_MISSING", status: 400, spoil: drop("Webhook-Event-Id") },
  { code: "CONTENT_TYPE_MISSING", status: 400, spoil: drop("Content-Type") },
  { code: "TIMESTAMP_OUT_OF_WINDOW", status: 400, spoil: put("Webhook-Timestamp", "1") },
  { code: "SIGNATURE_MALFORMED", status: 401, spoil: put("Webhook-Signature", "short") },
  { code: "SIGNATURE_MISMATCH", status: 401, spoil: put("Webhook-Signature", "A".repeat(43)) },
  { code: "CONTENT_TYPE_UNSUPPORTED", status: 415, spoil: put("Content-Type", "text/plain") },
  {
    code: "CONTENT_ENCODING_UNSUPPORTED",
    status: 415,
    spoil: (parts) => ({ ...parts, headers: [...parts.headers, ["Content-Encoding", "gzip"]] }),
  },
  { code: "BODY_NOT_JSON", status: 400 },
  { code: "EVENT_DUPLICATE", status: 409 },
  { code: "TRIGGER_INACTIVE", status: 404, options: { isTriggerActive: () => false } },
  { code: "RUN_FAILED", status: 503 },
];

describe("of several faults the first in the order is the answer", () => {
  it.each(FAULTS.map((fault, index) => [fault.code, index] as const))("%s", async (code, index) => {
    const faults = FAULTS.slice(index);
    const has = (one: string) => faults.some((fault) => fault.code === one);
    let parts = hmacParts(LISTENER_ID, {
      body: code !== "BODY_NOT_JSON" && !has("BODY_NOT_JSON") ? "{}" : "{",
    });
    // Applied from the last to the first: where two touch the same header, the earlier one is there to be found.
    for (const { spoil } of faults.toReversed()) parts = spoil?.(parts) ?? parts;
    const replayStore = memoryReplayStore({ clock });
    if (has("EVENT_DUPLICATE")) {
      const reserved = await replayStore.reserve(LISTENER_ID, parts.eventId);
      if (reserved.state === "reserved") await replayStore.commit(reserved.reservation);
    }
    const receiver = createReceiver({
      listener: hmacListener,
      clock,
      replayStore,
      ...Object.assign({}, ...faults.map(({ options }) => options)),
    });
    const source = faults.find(({ sourceAddress }) => sourceAddress)?.sourceAddress ?? INSIDE;
    const answer = await receiveCounting(receiver, received(parts, source), async () => {
      throw new Error("the automation failed");
    });

    const { status } = FAULTS[index] as Fault;
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([status, code]);
    expect(answer.runs).toBe(code === "RUN_FAILED" ? 1 : 0);
    // Everything before it passed, and nothing after it was looked at.
    const { checks } = answer.verdict;
    expect(checks.map(({ ok }) => ok)).toEqual([...checks.slice(1).map(() => true), false]);
    expect(checks.at(-1)?.code).toBe(code);
  });

  it("a bad signature on a processed id is 401", async () => {
    const receiver = createReceiver({ listener: hmacListener, clock });
    const parts = hmacParts(LISTENER_ID);
    expect((await receiveCounting(receiver, received(parts, INSIDE))).status).toBe(200);
    const forged = hmacParts(LISTENER_ID, { eventId: parts.eventId, secret: "another" });
    expect((await receiveCounting(receiver, received(forged, INSIDE))).status).toBe(401);
    expect((await receiveCounting(receiver, received(parts, INSIDE))).status).toBe(409);
  });
});

describe("what a step may touch", () => {
  it("verify gives the verdict of steps 0 to 6 and touches no store, however often", async () => {
    const isTriggerActive = (): never => {
      throw new Error("the trigger was asked");
    };
    const receiver = createReceiver({
      listener: hmacListener,
      clock,
      replayStore: untouchable,
      isTriggerActive,
    });
    const request = { ...signed({ body: '{"a":[1]}' }), sourceAddress: INSIDE };
    for (let i = 0; i < 2; i++) {
      const verdict = await receiver.verify(request);
      expect(verdict).toMatchObject({
        ok: true,
        event: { listenerId: LISTENER_ID, timestamp: NOW, payload: { a: [1] } },
      });
      expect(verdict.checks.at(-1)?.step).toBe("body");
    }
  });

  it.each<[string, Partial<Parts>, string]>([
    ["404", { target: pathOf("lst_2") }, INSIDE],
    ["405", { method: "GET" }, INSIDE],
    ["403", {}, "198.51.100.1"],
  ])("%s is answered without reading the body", async (status, over, source) => {
    const receiver = createReceiver({ listener: hmacListener, clock, replayStore: untouchable });
    let pulled = 0;
    const chunks: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          pulled++;
          return { done: true, value: undefined };
        },
      }),
    };
    const request = { ...received({ ...hmacParts(LISTENER_ID), ...over }, source), body: chunks };
    expect((await receiveCounting(receiver, request)).status).toBe(Number(status));
    expect(pulled).toBe(0);
  });

  it("keys are asked for only once everything before has passed, and once", async () => {
    const asked: string[] = [];
    const inner = jwtListenerOf.auth.method === "jwt" ? jwtListenerOf.auth.keys : undefined;
    const keys = {
      resolve: (kid: string, alg: "RS256" | "ES256" | "EdDSA" | "Ed25519") => {
        asked.push(`${kid} ${alg}`);
        return inner?.resolve(kid, alg) as never;
      },
    };
    const receiver = createReceiver({ ...jwtListener(LISTENER_ID, keys), clock });
    await receiver.verify(received(jwtParts(LISTENER_ID, key, { timestamp: "1" })));
    await receiver.verify(received(jwtParts(LISTENER_ID, key, { header: { jku: "https://a.example" } })));
    expect(asked).toEqual([]);
    expect((await receiver.verify(received(jwtParts(LISTENER_ID, key)))).ok).toBe(true);
    expect(asked).toEqual(["eddsa EdDSA"]);
  });

  it.each<[string, () => unknown]>([
    ["rejects", () => Promise.reject(new Error("down"))],
    ["answers nothing", () => undefined],
    ["answers false without a code", () => ({ ok: false })],
    ["answers a code of its own", () => ({ ok: false, code: "FINE" })],
    ["answers yes without a key", () => ({ ok: true })],
    ["answers a truthy word", () => ({ ok: "yes", key: {} })],
  ])("a key resolver that %s lets nobody in: 401", async (_name, resolve) => {
    const receiver = createReceiver({ ...jwtListener(LISTENER_ID, { resolve } as never), clock });
    const answer = await receiveCounting(receiver, received(jwtParts(LISTENER_ID, key)));
    expect([answer.status, answer.runs]).toEqual([401, 0]);
  });
});
