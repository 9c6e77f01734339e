import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as root from "hookproof";
import * as alerts from "hookproof/alerts";
import * as doctor from "hookproof/diagnose";
import * as httpSignature from "hookproof/http-signature";
import * as jwks from "hookproof/jwks";
import * as rotation from "hookproof/jwks/rotation";
import * as node from "hookproof/node";
import * as otel from "hookproof/otel";
import * as outbox from "hookproof/outbox";
import * as postgres from "hookproof/outbox/postgres";
import * as sqlite from "hookproof/outbox/sqlite";
import * as probes from "hookproof/probes";
import * as receiver from "hookproof/receiver";
import * as replay from "hookproof/replay";
import * as set from "hookproof/set";
import * as polling from "hookproof/set/polling";
import * as standard from "hookproof/standard-webhooks";
import * as testing from "hookproof/testing";
import { afterAll, describe, expect, it } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "hookproof-takers-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SECRET = "a-secret-of-more-than-thirty-two-characters";
const STANDARD = standard.generateStandardSecret();
const URL_OF_NOBODY = "http://127.0.0.1:9/api/v1/webhooks/incoming/lst_1";
const resolver = {
  resolve: async () => ({ ok: false as const, code: "KEY_NOT_FOUND" as const, detail: "" }),
};
const signer = root.hmacSigner({ secret: SECRET });
const { privateJwk, kid, alg } = await jwks.generateKey({ alg: "ES256" });
const key = { key: privateJwk, kid, alg };
const eventSigner = set.securityEventSigner({ issuer: "i", audience: "a", key });
const eventVerifier = set.securityEventVerifier({ issuer: "i", audience: "a", keys: resolver });
const event = root.createEvent({ a: 1 });
const listener = { id: "l", baseUrl: "https://a.example", auth: { method: "hmac", secret: SECRET } };
const store = outbox.memoryStore();
const sender = () => root.createSender({ url: URL_OF_NOBODY, signer });
const listeners = { one: { url: URL_OF_NOBODY, signer } };
const box = () => outbox.createOutbox({ store, listeners, quiet: true });

/** A request that is right but for its secret or key, so that a diagnosis looks at everything. */
const requestBy = async (by: root.Signer, payload: unknown = { a: 1 }) => {
  const { headers, body } = await root.signRequest({
    url: URL_OF_NOBODY,
    signer: by,
    event: root.createEvent(payload),
  });
  return { method: "POST", url: URL_OF_NOBODY, headers, body };
};
const requests = {
  own: await requestBy(signer),
  standard: await requestBy(standard.standardWebhooksSigner({ secrets: STANDARD })),
  message: await requestBy(httpSignature.httpSignatureSigner({ secret: `${SECRET}!`, keyId: "k" })),
  event: await requestBy(eventSigner, set.securityEvent("https://e.example/t", {})),
};

const probed = { url: URL_OF_NOBODY, auth: { method: "hmac", secret: SECRET } } as const;
const probedScheme = () =>
  probes.schemeProbeTarget({ scheme: "standard-webhooks", url: URL_OF_NOBODY, secrets: STANDARD });
const nobody = async () => ({ status: 400, headers: [], body: new Uint8Array(), truncated: false });

const give = (given: object) => given as never;
const keyStore = () => node.openKeyStore(mkdtempSync(join(folder, "keys-")));

/** A store with two keys of which one may go, and that one's id. */
async function retired(change: (keys: ReturnType<typeof keyStore>, kid: string) => Promise<unknown>) {
  const keys = keyStore();
  const made = await keys.generate({ alg: "ES256" });
  await keys.generate({ alg: "ES256" });
  return change(keys, made.kid);
}

async function exported(options: Parameters<ReturnType<typeof keyStore>["exportKey"]>[1]) {
  const keys = keyStore();
  return keys.exportKey((await keys.generate({ alg: "ES256" })).kid, options);
}

async function all(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}
const stoppingStore = give({ publication: { begin: () => Promise.reject(new Error("stopped")) } });

type Options = Record<string, unknown>;

/** Every public function that takes options, with options that work. */
const TAKERS: Readonly<Record<string, readonly [options: Options, call: (options: Options) => unknown]>> = {
  createSender: [{ url: URL_OF_NOBODY, signer }, (o) => root.createSender(give(o))],
  retry: [{}, (o) => root.createSender({ url: URL_OF_NOBODY, signer, retry: o })],
  send: [{ signal: AbortSignal.abort() }, (o) => sender().send({ a: 1 }, o).catch(notDelivered)],
  sendMany: [{}, (o) => sender().sendMany([], o)],
  createEvent: [{}, (o) => root.createEvent({ a: 1 }, o)],
  hmacSigner: [{ secret: SECRET }, (o) => root.hmacSigner(give(o))],
  jwtSigner: [{ ...key }, (o) => root.jwtSigner(give(o))],
  signRequest: [{ url: URL_OF_NOBODY, signer, event }, (o) => root.signRequest(give(o))],
  sendToListeners: [{ listeners: () => undefined }, (o) => root.sendToListeners([], give(o))],
  generateKey: [{ alg: "EdDSA" }, (o) => jwks.generateKey(give(o))],
  importKey: [{ alg: "ES256" }, (o) => jwks.importKey(privateJwk, give(o))],
  remoteKeys: [{}, (o) => jwks.remoteKeys("https://keys.example.com/jwks.json", o)],
  nodeTransport: [{}, (o) => node.nodeTransport(o)],
  openKeyStore: [{}, (o) => node.openKeyStore("/nowhere", o)],
  sqliteReplayStore: [
    { open: () => node.openSqlite(":memory:", { driver: "libsql" }) },
    (o) => replay.sqliteReplayStore(give(o)),
  ],
  postgresReplayStore: [{ pool: { query() {}, connect() {} } }, (o) => replay.postgresReplayStore(give(o))],
  redisReplayStore: [{ client: { sendCommand() {} } }, (o) => replay.redisReplayStore(give(o))],
  memoryReplayStore: [{}, (o) => receiver.memoryReplayStore(o)],
  memoryStore: [{}, (o) => outbox.memoryStore(o)],
  createOutbox: [{ store, listeners, quiet: true }, (o) => outbox.createOutbox(give(o))],
  listenerCache: [{}, (o) => outbox.createOutbox({ store, listeners, listenerCache: o, quiet: true })],
  retention: [{}, (o) => outbox.createOutbox({ store, listeners, retention: o, quiet: true })],
  'the listener "one"': [
    { url: URL_OF_NOBODY, signer },
    (o) => outbox.createOutbox({ store, listeners: { one: give(o) }, quiet: true }),
  ],
  "an event for the outbox": [{ listener: "one", payload: { a: 1 } }, (o) => box().enqueue(give(o))],
  enqueue: [{}, (o) => box().enqueue({ listener: "one", payload: { a: 1 } }, give(o))],
  sqliteStore: [
    { open: () => node.openSqlite(join(folder, "outbox.db"), { driver: "libsql" }) },
    (o) => sqlite.sqliteStore(give(o)).close(),
  ],
  postgresStore: [{ pool: { query() {}, connect() {} } }, (o) => postgres.postgresStore(give(o))],
  createReceiver: [{ listener }, (o) => receiver.createReceiver(give(o))],
  listener: [listener, (o) => receiver.createReceiver({ listener: give(o) })],
  "listener.auth": [
    listener.auth,
    (o) => receiver.createReceiver({ listener: { ...listener, auth: give(o) } }),
  ],
  standardWebhooksSigner: [{ secrets: STANDARD }, (o) => standard.standardWebhooksSigner(give(o))],
  standardWebhooksVerifier: [{ secrets: STANDARD }, (o) => standard.standardWebhooksVerifier(give(o))],
  httpSignatureSigner: [{ secret: SECRET, keyId: "k" }, (o) => httpSignature.httpSignatureSigner(give(o))],
  httpSignatureVerifier: [
    { url: "https://a.example/x", keys: resolver },
    (o) => httpSignature.httpSignatureVerifier(give(o)),
  ],
  securityEventSigner: [{ issuer: "i", audience: "a", key }, (o) => set.securityEventSigner(give(o))],
  securityEventVerifier: [
    { issuer: "i", audience: "a", keys: resolver },
    (o) => set.securityEventVerifier(give(o)),
  ],
  securityEventPollHandler: [
    { store: outbox.memoryStore(), listener: "a", signer: eventSigner, authorize: () => true },
    (o) => polling.securityEventPollHandler(give(o)),
  ],
  pollSecurityEvents: [
    {
      url: "https://t.example/poll",
      authorization: "Bearer a",
      verifier: eventVerifier,
      run: async () => {},
      signal: AbortSignal.abort(),
    },
    (o) => polling.pollSecurityEvents(give(o)),
  ],
  securityEventStream: [
    { issuer: "https://t.example", streamId: "s", authorization: "Bearer a" },
    (o) => polling.securityEventStream(give(o)),
  ],
  openSqlite: [{ driver: "libsql" }, (o) => node.openSqlite(":memory:", o).close()],
  guardedLookup: [{}, (o) => node.guardedLookup(o)],
  readSigningKey: [{ kid: "k" }, (o) => node.readSigningKey(privateJwk, o)],
  publishKeySet: [
    { url: "https://keys.example.com/jwks.json", upload: () => {} },
    (o) => node.publishKeySet(stoppingStore, give(o)).catch(unlessOf(/^stopped$/)),
  ],
  jwksHandler: [{}, (o) => jwks.jwksHandler(jwks.createKeySet([]), o)],
  toJwksListener: [{}, (o) => node.toJwksListener(jwks.createKeySet([]), o)],
  checkKeySet: [{}, (o) => jwks.checkKeySet({ keys: [] }, o)],
  localKeys: [{}, (o) => jwks.localKeys({ keys: [] }, o)],
  rotationWaits: [{}, (o) => rotation.rotationWaits(o, 300)],
  compare: [{ sent: { headers: {} }, received: { headers: {} } }, (o) => doctor.compare(give(o))],
  planRotation: [{ now: 0, maxAgeSeconds: 300 }, (o) => rotation.planRotation([], "ES256", give(o))],
  otelObserver: [{}, (o) => otel.otelObserver(o)],
  eventCatalogue: [
    { toJsonSchema: () => ({}) },
    (o) => root.eventCatalogue({ a: give({ "~standard": { version: 1, validate: () => ({}) } }) }, o),
  ],
  diagnose: [{ request: requests.own, secret: `${SECRET}!` }, (o) => doctor.diagnose(give(o))],
  "diagnose (standard-webhooks)": [
    { scheme: "standard-webhooks", request: requests.standard, secrets: standard.generateStandardSecret() },
    (o) => doctor.diagnose(give(o)),
  ],
  "diagnose (http-signature)": [
    {
      scheme: "http-signature",
      request: requests.message,
      url: "https://a.example/x",
      secrets: { k: SECRET },
    },
    (o) => doctor.diagnose(give(o)),
  ],
  "diagnose (security-event-token)": [
    { scheme: "security-event-token", request: requests.event },
    (o) => doctor.diagnose(give(o)),
  ],
  selectProbes: [{}, (o) => probes.selectProbes(o)],
  runProbes: [{ only: "event-id-nil" }, (o) => probes.runProbes(probed, { transport: nobody, ...o }).next()],
  runSchemeProbes: [
    { only: "id-changed" },
    async (o) => probes.runSchemeProbes(await probedScheme(), { transport: nobody, ...o }).next(),
  ],
  schemeProbes: [{}, async (o) => probes.schemeProbes(await probedScheme(), o)],
  findListenerMistake: [{}, (o) => probes.findListenerMistake(probed, [], o)],
  createFakeReceiver: [{}, (o) => testing.createFakeReceiver([], o)],
  waitFor: [{}, (o) => testing.waitFor(() => true, o)],
  "createEvent (of a sender)": [{}, (o) => sender().createEvent({ a: 1 }, o)],
  "the filter of redrive": [{}, (o) => box().redrive(o)],
  redrive: [{}, (o) => box().redrive({}, o)],
  "the filter of drop": [{}, (o) => box().drop(o)],
  drop: [{}, (o) => box().drop({}, o)],
  "the filter of deadLetters": [{}, (o) => all(box().deadLetters(o))],
  deadLetters: [{}, (o) => all(box().deadLetters({}, o))],
  "the filter of pending": [{}, (o) => box().pending(o)],
  pending: [{}, (o) => box().pending({}, o)],
  cancel: [{ listener: "one" }, (o) => box().cancel(o)],
  pause: [{}, (o) => box().pause("one", o)],
  stop: [{}, (o) => box().stop(o)],
  "a message": [
    { listener: "one", payload: {} },
    (o) => all(root.sendToListeners([give(o)], { listeners: () => undefined })),
  ],
  generate: [{ alg: "ES256" }, (o) => keyStore().generate(give(o))],
  "importKey (of a store)": [{}, (o) => keyStore().importKey(privateJwk, o)],
  exportKey: [{ half: "private", format: "pem" }, (o) => exported(give(o))],
  rotate: [{}, (o) => keyStore().rotate("ES256", o)],
  rotateDue: [{}, (o) => keyStore().rotateDue(1e9, o)],
  retire: [{ force: true }, async (o) => retired((keys, one) => keys.retire(one, o))],
  remove: [{ force: true }, async (o) => retired((keys, one) => keys.remove(one, o))],
  exportKeySet: [{}, (o) => jwks.exportKeySet(jwks.createKeySet([]), o)],
  watchOutbox: [{ onAlert() {} }, (o) => alerts.watchOutbox(box(), give(o)).stop()],
};

function notDelivered(error: unknown): void {
  if (!(error instanceof root.DeliveryError)) throw error;
}

function unlessOf(words: RegExp) {
  return (error: Error) => {
    if (!words.test(error.message)) throw error;
  };
}

/** What a call throws or rejects with. */
async function failureOf(call: () => unknown): Promise<Error | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

/** The functions of the API reference that take an object of options, by their parameter's name or type. */
function takersOfReference(): string[] {
  const folder = join(import.meta.dirname, "../../docs/api");
  return readdirSync(folder).flatMap((page) => {
    const functions = readFileSync(join(folder, page), "utf8").split(/^### /m).slice(1);
    return functions.flatMap((text) => {
      const signature = /^```ts\nfunction (\w+)(?:<[^(]*>)?\(([^;]*?)\):/ms.exec(text);
      if (signature === null) return [];
      const [, name = "", parameters = ""] = signature;
      const isTaker =
        /\b(?:options|filter|rules|input)\b/.test(parameters) ||
        /#### Parameters[^#]*#####[^#]*Options/.test(text);
      return isTaker ? [name] : [];
    });
  });
}

it("every function of the API reference that takes options is in the table", () => {
  const takers = takersOfReference();
  expect(takers.length).toBeGreaterThan(35);
  expect(takers.filter((name) => !(name in TAKERS))).toEqual([]);
});

describe("an option that there is not", () => {
  it.each(Object.entries(TAKERS))(
    "is refused by %s, with the nearest or with all",
    async (what, [options, call]) => {
      expect(await failureOf(() => call(options))).toBeUndefined();
      const failure = await failureOf(() => call({ ...options, zzzzzz: 1 }));
      expect(failure).toBeInstanceOf(TypeError);
      const shown = what
        .replace(/ \(.*/, "")
        .replace(/^(?:jwksHandler|toJwksListener)$/, "the host of a key set")
        .replace(/^rotate(?:Due)?$/, "rotationWaits");
      expect(failure?.message).toMatch(`${shown} has no option "zzzzzz"; it has `);
      for (const name of optionsIn(failure)) {
        const misspelt = `${name.slice(0, -1)}${name.at(-1) === "x" ? "y" : "x"}`;
        const near = await failureOf(() => call({ ...options, [misspelt]: 1 }));
        expect(near?.message).toMatch(/did you mean \w+\?$|; it has/);
      }
    },
  );

  it("has its nearest name said", () => {
    const refused = (name: string) => () => root.createSender({ url: URL_OF_NOBODY, signer, [name]: 3 });
    expect(refused("retries")).toThrow('createSender has no option "retries"; did you mean retry?');
    expect(refused("timeout")).toThrow("did you mean attemptTimeoutMs?");
    expect(refused("singer")).toThrow("did you mean signer?");
  });
});

/** The options that a refusal lists. */
function optionsIn(failure: Error | undefined): string[] {
  return /; it has (.*)$/.exec(failure?.message ?? "")?.[1]?.split(", ") ?? [];
}

const BAD: readonly unknown[] = [
  ...[null, "", "x", "a\0b", "http://[bad", "http://", -1, 0.5, Number.NaN, 1e300, true],
  ...[[], [5], ["x"], [undefined], {}, { x: 1 }, new Date(Number.NaN), new Map()],
];
const RAW =
  /\bE[A-Z]{3,}: |ERR_|Invalid URL|is not a function|is not iterable|Cannot (?:read|convert|destructure)|not an object|is not defined/;

describe("a bad value is taken, or refused by a code or by the option's name", () => {
  it.each(Object.entries(TAKERS))("%s", async (_what, [options, call]) => {
    const names = optionsIn(await failureOf(() => call({ ...options, zzzzzz: 1 })));
    const failures: string[] = [];
    for (const name of names)
      for (const value of BAD) {
        const failure = await failureOf(() => call({ ...options, [name]: value }));
        if (failure === undefined) continue;
        const isNamed =
          "code" in failure ||
          failure.message.includes(name) ||
          /key|alg|kid|secret|the listener/.test(failure.message);
        if (!isNamed || RAW.test(failure.message))
          failures.push(`${name}: ${String(value)}: ${failure.message}`);
      }
    expect(failures).toEqual([]);
  });
});

/** Options that people take from an environment variable. */
const OF_ENVIRONMENT = /^(?:url|secrets?|key|authorization)$/;

/** Functions that are given such a text by itself, or further inside. */
const GIVEN: Readonly<Record<string, (text: string) => unknown>> = {
  hmacSigner: (text) => root.hmacSigner({ secret: [SECRET, text] }),
  signHmac: (text) => root.signHmac({ ...signed, secret: text }),
  verifyHmac: (text) => root.verifyHmac({ ...signed, secret: text, signature: "" }),
  jwtSigner: (text) => root.jwtSigner({ ...key, key: text }),
  importKey: (text) => jwks.importKey(give(text as never), { alg: "ES256" }),
  remoteKeys: (text) => jwks.remoteKeys(text),
  readSigningKey: (text) => node.readSigningKey(text),
  standardWebhooksVerifier: (text) => standard.standardWebhooksVerifier({ secrets: [text] }),
  "httpSignatureVerifier, secrets": (text) =>
    httpSignature.httpSignatureVerifier({ url: URL_OF_NOBODY, secrets: { k: text } }),
  "httpSignatureSigner, key": (text) => httpSignature.httpSignatureSigner({ key: { ...key, key: text } }),
  "createReceiver, secret": (text) =>
    receiver.createReceiver({ listener: { ...listener, auth: { method: "hmac", secret: text } } }),
  "createReceiver, baseUrl": (text) =>
    receiver.createReceiver({ listener: { ...listener, baseUrl: text } as never }),
  "createOutbox, url": (text) =>
    outbox.createOutbox({ store, listeners: { one: { url: text, signer } }, quiet: true }),
  "runProbes, url": (text) => probes.runProbes({ ...probed, url: text }).next(),
};
const signed = { timestamp: 1, eventId: root.newEventId(), body: "{}" };

describe("a text that an environment variable has not given is refused with that as the likely cause", () => {
  const taken = Object.entries(TAKERS).flatMap(([what, [options, call]]) =>
    Object.keys(what === "diagnose" ? {} : options) // a diagnosis needs no secret
      .filter((name) => OF_ENVIRONMENT.test(name) && typeof options[name] === "string")
      .map((name): [string, (text: string) => unknown] => [
        `${what}, ${name}`,
        (text) => call({ ...options, [name]: text }),
      ]),
  );
  it.each([...Object.entries(GIVEN), ...taken])("%s", async (what, call) => {
    for (const text of [process.env.HOOKPROOF_NO_SUCH_VARIABLE, ""])
      expect((await failureOf(() => call(text as string)))?.message).toMatch(
        /is (?:undefined|empty|undefined or empty): (?:is )?its environment variable (?:set\?|may not be set\.?)$/,
      );
    if (/url$/i.test(what))
      expect((await failureOf(() => call(`${undefined}/api/v1`)))?.message).toContain("environment variable");
  });
});
