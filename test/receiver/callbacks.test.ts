import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  createEvent,
  createSender,
  hmacSigner,
  type SenderOptions,
  type Signer,
  signRequest,
} from "hookproof";
import { type OutboxAlert, type WatchOptions, watchOutbox } from "hookproof/alerts";
import { httpSignatureSigner, httpSignatureVerifier } from "hookproof/http-signature";
import { generateKey, type KeyResolver, remoteKeys } from "hookproof/jwks";
import { createOutbox, memoryStore, type OutboxOptions } from "hookproof/outbox";
import type { OutboxStore } from "hookproof/outbox/store";
import { createReceiver, memoryReplayStore, type ReceiverOptions, type Run } from "hookproof/receiver";
import type { Verifier } from "hookproof/schemes";
import { CAEP, securityEvent, securityEventSigner, securityEventVerifier } from "hookproof/set";
import ts from "typescript";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BASE_URL, clock, hmacParts, SECRET } from "../kit/hostile-target.js";
import { jwtParts, testKey } from "../kit/hostile-tokens.js";
import { LISTENER_ID, received } from "./received.js";

type Callback = (...args: never[]) => unknown;
/** Makes a callback that fails a few times and then does what the right one does. */
type Flaky = <Right extends Callback>(right: Right, times?: number) => Right;

/** No `instanceof Promise`, and waited for like one. */
function othersPromise(): unknown {
  const promise = {};
  Reflect.set(promise, "then", (_: unknown, reject: (error: Error) => void) => reject(new Error("failed")));
  return promise;
}

const WAYS: readonly [how: string, fail: () => unknown][] = [
  [
    "throws",
    () => {
      throw new Error("failed");
    },
  ],
  ["rejects", () => Promise.reject(new Error("failed"))],
  ["gives another library's promise that rejects", othersPromise],
];

const flakyBy =
  (fail: () => unknown): Flaky =>
  (right, times = 1) => {
    let left = times;
    return ((...args: never[]) => (left-- > 0 ? fail() : right(...args))) as typeof right;
  };

let unhandled: unknown[];
const onUnhandled = (reason: unknown) => void unhandled.push(reason);
beforeEach(() => {
  unhandled = [];
  process.on("unhandledRejection", onUnhandled);
});
afterEach(() => {
  process.off("unhandledRejection", onUnhandled);
});

/** Rejections that nobody looks at are told after the microtasks. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}

const ed = testKey("EdDSA");
const fixed: KeyResolver = {
  resolve: async () => ({
    ok: true,
    key: (await crypto.subtle.importKey("jwk", ed.jwk, "Ed25519", true, ["verify"])) as never,
  }),
};

/** What a receiver is made of, with one callback that fails; the same event comes five times. */
const RECEIVERS: Record<
  string,
  (flaky: Flaky) => Partial<ReceiverOptions> & { run?: Run; keys?: KeyResolver }
> = {
  "ReceiverOptions.onVerdict": (flaky) => ({ onVerdict: flaky(() => {}, 9) }),
  "ReceiverOptions.clock": (flaky) => ({ clock: { now: flaky(clock.now) } }),
  "ReceiverOptions.isTriggerActive": (flaky) => ({ isTriggerActive: flaky(() => true) }),
  "ListenerOptions.auth: keys": (flaky) => ({ keys: { resolve: flaky(fixed.resolve) } }),
  "ReceiverOptions.replayStore: reserve": (flaky) => {
    const store = memoryReplayStore({ clock });
    return { replayStore: { ...store, reserve: flaky(store.reserve) } };
  },
  "ReceiverOptions.replayStore: commit": (flaky) => {
    const store = memoryReplayStore({ clock });
    return { replayStore: { ...store, commit: flaky(store.commit) } };
  },
  "ReceiverOptions.replayStore: release": (flaky) => {
    const store = memoryReplayStore({ clock });
    return { replayStore: { ...store, release: flaky(store.release) }, isTriggerActive: () => false };
  },
  "MemoryReplayStoreOptions.clock": (flaky) => {
    let asked = 0;
    const failing = flaky(clock.now, 9);
    // It fails where it costs most: once the event has run.
    return {
      replayStore: memoryReplayStore({ clock: { now: () => (++asked === 2 ? failing() : clock.now()) } }),
    };
  },
  Run: (flaky) => ({ run: flaky(async () => {}) }),
};

describe.each(WAYS)("a callback of a receiver that %s", (_how, fail) => {
  it.each(Object.keys(RECEIVERS))("%s: ends no process, and runs no event twice", async (name) => {
    const { run, keys, ...options } = (RECEIVERS[name] as (flaky: Flaky) => never)(
      flakyBy(fail),
    ) as Partial<ReceiverOptions> & { run?: Run; keys?: KeyResolver };
    const auth = keys ? ({ method: "jwt", keys } as const) : ({ method: "hmac", secret: SECRET } as const);
    const receiver = createReceiver({
      listener: { id: LISTENER_ID, baseUrl: BASE_URL, auth },
      clock,
      inFlightWaitMs: 0,
      ...options,
    });
    const ran = new Map<string, number>();
    const count: Run = async (event, reservation) => {
      await run?.(event, reservation);
      ran.set(event.id, (ran.get(event.id) ?? 0) + 1);
    };
    // Another event before it, so that a store of one id has one to forget.
    const events = [1, 2].map(() => (keys ? jwtParts(LISTENER_ID, ed) : hmacParts(LISTENER_ID)));
    for (const parts of events)
      for (let copy = 0; copy < 4; copy++) {
        const { status } = await receiver.receive(received(parts), count);
        expect([200, 401, 404, 409, 503]).toContain(status);
      }
    await settled();
    expect(unhandled).toEqual([]);
    for (const runs of ran.values()) expect(runs).toBe(1);
    if (!name.endsWith("release")) expect(ran.size).toBe(2);
  });
});

const VERIFIED_URL = "https://hooks.example.com/events";
const issued = { issuer: "https://a.example/", audience: "https://b.example/" };
const signingKey = {
  key: ed.privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  kid: ed.kid,
  alg: "EdDSA",
} as const;

/** The verifiers of other schemes that ask for keys, each with its signer. */
const VERIFIERS: Record<string, (keys: KeyResolver) => { verifier: Verifier; signer: Signer }> = {
  "HttpSignatureVerifierOptions.keys": (keys) => ({
    verifier: httpSignatureVerifier({ url: VERIFIED_URL, keys }),
    signer: httpSignatureSigner({ key: signingKey }),
  }),
  "SecurityEventVerifierOptions.keys": (keys) => ({
    verifier: securityEventVerifier({ ...issued, keys }),
    signer: securityEventSigner({ ...issued, key: signingKey }),
  }),
};

describe.each(WAYS)("a callback of a verifier that %s", (_how, fail) => {
  it.each(Object.keys(VERIFIERS))("%s: ends no process, and runs no event twice", async (name) => {
    const flaky = { resolve: flakyBy(fail)(fixed.resolve) };
    const { verifier, signer } = VERIFIERS[name]?.(flaky) ?? expect.fail();
    const receiver = createReceiver({ verifier, clock });
    const event = createEvent(
      securityEvent(
        CAEP.sessionRevoked,
        { event_timestamp: 1 },
        { sub_id: { format: "opaque", id: "u_123" } },
      ),
    );
    const timestamp = Math.floor(clock.now() / 1_000);
    const request = await signRequest({ url: VERIFIED_URL, signer, event, timestamp });
    let runs = 0;
    const statuses: number[] = [];
    for (let copy = 0; copy < 4; copy++)
      statuses.push((await receiver.receive(request, async () => void runs++)).status);
    await settled();
    expect(unhandled).toEqual([]);
    expect([401, 503]).toContain(statuses[0]);
    expect(runs).toBe(1);
  });
});

const LISTENER_URL = `${BASE_URL}/api/v1/webhooks/incoming/${LISTENER_ID}`;
const answer = async () => ({ status: 200, headers: [], body: new Uint8Array(), truncated: false });
const signer = hmacSigner({ secret: SECRET });
const failingOnce = () => {
  let calls = 0;
  return async () => ({ ...(await answer()), status: ++calls === 1 ? 503 : 200 });
};

const SENDERS: Record<string, (flaky: Flaky) => Partial<SenderOptions>> = {
  "SenderOptions.observe": (flaky) => ({ observe: flaky(() => {}, 99) }),
  "SenderOptions.clock": (flaky) => ({ clock: { now: flaky(clock.now) } }),
  "SenderOptions.random": (flaky) => ({ random: flaky(() => 0), transport: failingOnce() }),
  "SenderOptions.wait": (flaky) => ({ wait: flaky(async () => {}), transport: failingOnce() }),
  "AttemptOptions.signer": (flaky) => ({ signer: { ...signer, sign: flaky(signer.sign) } as Signer }),
  "AttemptOptions.transport": (flaky) => ({ transport: flaky(answer) }),
};

describe.each(WAYS)("a callback of a sender that %s", (_how, fail) => {
  it.each(Object.keys(SENDERS))("%s: at most fails that send, and the next one works", async (name) => {
    const options = SENDERS[name]?.(flakyBy(fail));
    const sender = createSender({
      url: LISTENER_URL,
      signer,
      transport: answer,
      clock,
      wait: async () => {},
      ...options,
    });
    await sender.send({ number: 1 }).catch(() => {});
    expect(await sender.send({ number: 2 })).toMatchObject({ outcome: "accepted" });
    await settled();
    expect(unhandled).toEqual([]);
  });
});

const pollMs = 1;
const storeWith = (
  change: (store: OutboxStore<never>) => Partial<OutboxStore<never>>,
): OutboxStore<never> => {
  const store = memoryStore();
  return { ...store, ...change(store) };
};
const plain = {
  encrypt: async (body: Uint8Array) => ({ body, keyId: "k" }),
  decrypt: async (body: Uint8Array) => body,
};

const STORE_METHODS = [
  "claim",

  "markDelivered",
  "reschedule",
  "expire",
  "prune",
  "release",
  "stats",
  "now",
  "onWork",
] as const;

const OUTBOXES: Record<string, (flaky: Flaky) => Partial<OutboxOptions<never>>> = {
  "OutboxOptions.observe": (flaky) => ({ observe: flaky(() => {}, 99) }),
  "OutboxOptions.clock": (flaky) => ({ clock: { now: flaky(Date.now, 3) } }),
  "OutboxOptions.random": (flaky) => ({ random: flaky(() => 0) }),
  "OutboxOptions.wait": (flaky) => ({
    wait: flaky((ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)), 3),
  }),
  "OutboxOptions.encryption": (flaky) => ({
    encryption: { encrypt: plain.encrypt, decrypt: flaky(plain.decrypt) },
  }),
  ...Object.fromEntries(
    STORE_METHODS.map((name) => [
      `OutboxOptions.store: ${name}`,
      (flaky: Flaky) => ({
        store: storeWith((store) =>
          typeof store[name] === "function" ? { [name]: flaky(store[name] as Callback) } : {},
        ),
      }),
    ]),
  ),
};

describe.each(WAYS)("a callback of an outbox that %s", (_how, fail) => {
  it.each(Object.keys(OUTBOXES))("%s: ends no process, and the event arrives", async (name) => {
    const arrived: string[] = [];
    const transport: SenderOptions["transport"] = async ({ headers }) => {
      arrived.push(headers.find(([one]) => one === "Webhook-Event-Id")?.[1] ?? "");
      // The first attempt is to be repeated, so that the waits and the jitter are asked for.
      return { ...(await answer()), status: arrived.length === 1 ? 503 : 200 };
    };
    const outbox = createOutbox<never>({
      store: memoryStore(),
      listeners: { one: { url: LISTENER_URL, signer, transport, retry: { firstDelayMs: 1, maxDelayMs: 1 } } },
      pollMs,
      ...OUTBOXES[name]?.(flakyBy(fail)),
    });
    const enqueue = () => outbox.enqueue({ listener: "one", payload: { number: 1 } });
    const { eventId } = await enqueue().catch(enqueue).catch(enqueue).catch(enqueue);
    outbox.start();
    await expect
      .poll(async () => (await outbox.find(eventId).catch(() => []))[0]?.state, { interval: 5 })
      .toBe("delivered");
    await outbox.stop({ timeoutMs: 10_000 });
    await settled();
    expect(unhandled).toEqual([]);
  });
});

const WATCHES: Record<string, (flaky: Flaky) => Partial<WatchOptions>> = {
  "WatchOptions.onAlert": () => ({}),
  "WatchOptions.clock": (flaky) => ({ clock: { now: flaky(Date.now) } }),
};

describe.each(WAYS)("a callback of a watch that %s", (_how, fail) => {
  it.each(Object.keys(WATCHES))("%s: ends no process, and the alert is told", async (name) => {
    const flaky = flakyBy(fail);
    const told: string[] = [];
    const onAlert = flaky(({ kind }: OutboxAlert) => void told.push(kind), 2);
    const dead = [{ listener: "one", pending: 0, dead: 1, oldestAgeMs: 0 }];
    const outbox = { stats: flaky(async () => dead) };
    const watch = watchOutbox(outbox, { onAlert, everyMs: 1, ...WATCHES[name]?.(flaky) });
    await expect.poll(() => told, { interval: 5 }).toEqual(["dead-letters"]);
    watch.stop();
    await settled();
    expect(unhandled).toEqual([]);
  });
});

describe("a key set that is fetched", () => {
  it.each(WAYS)("asks again after a transport or a clock that %s", async (_how, fail) => {
    const key = await generateKey({ alg: "EdDSA", kid: "k" });
    const body = new TextEncoder().encode(JSON.stringify({ keys: [key.publicJwk] }));
    const transport = async () => ({ ...(await answer()), body });
    const time = { value: 0 };
    let asked = 0;
    for (const failsAt of [1, 2, 3, 4, 5]) {
      asked = 0;
      time.value += 3_600_000;
      let isBroken = true;
      const now = () => (++asked === failsAt && isBroken ? (fail() as number) : time.value);
      const keys = remoteKeys("https://keys.example.com/jwks.json", { transport, clock: { now } });
      await keys.resolve("k", "EdDSA");
      isBroken = false;
      time.value += 60_000;
      expect(await keys.resolve("k", "EdDSA")).toMatchObject({ ok: true });
    }
    const flaky = flakyBy(fail)(transport);
    const keys = remoteKeys("https://keys.example.com/jwks.json", {
      transport: flaky,
      clock: { now: () => time.value },
    });
    expect(await keys.resolve("k", "EdDSA")).toMatchObject({ ok: false, code: "KEY_SET_UNAVAILABLE" });
    time.value += 10_000;
    expect(await keys.resolve("k", "EdDSA")).toMatchObject({ ok: true });
    await settled();
    expect(unhandled).toEqual([]);
  });
});

/** Callbacks of calls that only their caller waits for: what they throw is the call's own rejection. */
const OF_ONE_CALL = new Set([
  "RemoteKeysOptions.transport",
  "SendToListenersOptions.listeners",
  "EventCatalogueOptions.toJsonSchema",
  "KeyOptions.clock",
  "KeyStoreOptions.clock",
  "SqliteReplayStoreOptions.clock",
  "SqliteReplayStoreOptions.open",
  "SqliteStoreOptions.clock",
  "SqliteStoreOptions.open",
  "GroupCommitOptions.failure",
  // Polls of security event tokens: a poll is one call of the recipient's, and so is each of a stream (test/polling).
  ...["transport", "clock"].map((name) => `TransmitterOptions.${name}`),
  ...["store", "signer", "clock", "encryption"].map((name) => `EndpointOptions.${name}`),
  ...["run", "clock", "onFailure"].map((name) => `PollsOptions.${name}`),
]);

it("every option of the library that is a callback, or has some, is in one of the tables", () => {
  const source = fileURLToPath(new URL("../../src/", import.meta.url));
  const tables = [RECEIVERS, VERIFIERS, SENDERS, OUTBOXES, WATCHES]
    .flatMap(Object.keys)
    .map((name) => name.split(":")[0]);
  const found = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !/^(?:doctor|testing)/.test(name))
    .flatMap((name) => callbacksIn(readFileSync(`${source}${name}`, "utf8")));
  expect(found.length).toBeGreaterThan(20);
  expect(found.filter((name) => !tables.includes(name) && !OF_ONE_CALL.has(name))).toEqual([]);
});

const HAS_CALLBACKS =
  /=>|\b(?:Observer|Clock|Transport|ReplayStore|KeyResolver|Signer|OutboxStore|BodyEncryption|Run)\b/;

function callbacksIn(text: string): string[] {
  const found: string[] = [];
  ts.createSourceFile("x.ts", text, ts.ScriptTarget.Latest, true).forEachChild((node) => {
    if (!ts.isInterfaceDeclaration(node) || !node.name.text.endsWith("Options")) return;
    for (const member of node.members) {
      const isCallback =
        ts.isMethodSignature(member) ||
        (ts.isPropertySignature(member) && HAS_CALLBACKS.test(member.type?.getText() ?? ""));
      if (isCallback) found.push(`${node.name.text}.${member.name?.getText()}`);
    }
  });
  return found;
}
