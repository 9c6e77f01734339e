// What every runtime must be able to do, with nothing of any runtime in it: `runtimes.mjs` runs it in each of them.
import {
  createEvent,
  createSender,
  hmacSigner,
  jwtSigner,
  newEventId,
  signHmac,
  verifyHmac,
} from "hookproof";
import { diagnose } from "hookproof/diagnose";
import { createKeySet, generateKey, jwksHandler, localKeys } from "hookproof/jwks";
import { createOutbox, memoryStore } from "hookproof/outbox";
import { createReceiver, memoryReplayStore } from "hookproof/receiver";
import { createFakeReceiver, fixedClock, outboxStoreContract, replayStoreContract } from "hookproof/testing";

const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const BASE_URL = "https://tenant.example.com";
const URL_OF_LISTENER = `${BASE_URL}/api/v1/webhooks/incoming/lst_1`;
const ALGORITHMS = ["RS256", "ES256", "EdDSA"];

/**
 * @param {{ vectors: object, listenerUrl?: string }} given the protocol's vectors, and a listener with `SECRET`
 *   that can be reached over HTTP
 * @returns {Promise<Record<string, string>>} "ok" for each capability, or what went wrong
 */
export async function runSuite({ vectors, listenerUrl }) {
  const capabilities = {
    sign: () => signVectors(vectors.hmac),
    verify: () => verifyTokens(vectors),
    send: () => sendEvents(listenerUrl),
    receive: () => receiveEvents(),
    "key sets": () => publishKeys(),
    outbox: () => keepEvents(),
    diagnose: () => explain(vectors.hmac[0]),
  };
  const results = {};
  for (const [name, run] of Object.entries(capabilities)) {
    results[name] = await run().then(
      () => "ok",
      (error) => String(error?.message ?? error),
    );
  }
  return results;
}

async function signVectors(cases) {
  for (const { secret, timestamp, eventId, bodyBase64, signature } of cases) {
    const input = { secret, timestamp, eventId, body: bytesOf(bodyBase64) };
    same("signature", signHmac(input), signature);
    same("verifyHmac", verifyHmac({ ...input, signature }), true);
    same("verifyHmac of another body", verifyHmac({ ...input, body: "[0]", signature }), false);
  }
  for (const alg of ALGORITHMS) {
    const { privateJwk, kid } = await generateKey({ alg });
    const event = createEvent({ a: 1 });
    const signer = jwtSigner({ key: privateJwk, kid, alg, baseUrl: BASE_URL });
    const timestamp = String(Math.floor(Date.now() / 1000));
    const { headers } = await signer.sign({
      url: URL_OF_LISTENER,
      timestamp,
      eventId: event.id,
      body: event.body,
    });
    same("header", headers[0][0], "Authorization");
  }
}

async function verifyTokens({ jwt, keys }) {
  const resolver = localKeys({ keys: keys.map(({ jwk }) => jwk) });
  for (const { name, now, eventId, bodyBase64, url, baseUrl, token, valid } of jwt) {
    const receiver = createReceiver({
      listener: { id: url.split("/").at(-1), baseUrl, auth: { method: "jwt", keys: resolver } },
      clock: fixedClock(now * 1000),
    });
    const { ok } = await receiver.verify({
      method: "POST",
      url,
      headers: {
        "Content-Type": "application/json",
        "Webhook-Timestamp": String(now),
        "Webhook-Event-Id": eventId,
        Authorization: `Bearer ${token}`,
      },
      body: bytesOf(bodyBase64),
    });
    same(`token ${name}`, ok, valid);
  }
}

async function sendEvents(listenerUrl) {
  const fake = createFakeReceiver([503, { accept: true, drop: true }], { secret: SECRET });
  const sender = createSender({
    url: URL_OF_LISTENER,
    signer: hmacSigner({ secret: SECRET }),
    transport: fake.transport,
    wait: async () => {},
  });
  const receipt = await sender.send({ type: "user.offboarded" });
  same("outcome after a 503 and a lost answer", [receipt.outcome, receipt.attempts.length], ["accepted", 3]);
  if (!listenerUrl) return;

  const real = createSender({ url: listenerUrl, signer: hmacSigner({ secret: SECRET }) });
  const eventId = newEventId();
  same("over HTTP", (await real.send({ n: 1 }, { eventId })).outcome, "accepted");
  const again = createSender({ url: listenerUrl, signer: hmacSigner({ secret: SECRET }) });
  same("once more over HTTP", (await again.send({ n: 1 }, { eventId })).outcome, "duplicate");
}

async function receiveEvents() {
  const receiver = createReceiver({
    listener: { id: "lst_1", baseUrl: BASE_URL, auth: { method: "hmac", secret: SECRET } },
    replayStore: memoryReplayStore(),
  });
  const body = '{"a":1}';
  const timestamp = String(Math.floor(Date.now() / 1000));
  const eventId = newEventId();
  const signature = signHmac({ secret: SECRET, timestamp, eventId, body });
  const post = async (text) => {
    const request = new Request(URL_OF_LISTENER, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "Webhook-Timestamp": timestamp,
        "Webhook-Event-Id": eventId,
        "Webhook-Signature": signature,
      },
      body: text,
    });
    return (await receiver.handle(request, async () => {})).status;
  };
  same("another body", await post("{}"), 401);
  same("the event", await post(body), 200);
  same("a copy", await post(body), 409);
  await runContract(replayStoreContract, memoryReplayStore);
}

async function publishKeys() {
  const records = await Promise.all(ALGORITHMS.map((alg) => generateKey({ alg })));
  const response = await jwksHandler(createKeySet(records))(new Request(`${BASE_URL}/.well-known/jwks.json`));
  const jwks = await response.json();
  same("kids", jwks.keys.map(({ kid }) => kid).sort(), records.map(({ kid }) => kid).sort());
  for (const { alg, kid, privateJwk } of records) {
    const receiver = createReceiver({
      listener: { id: "lst_1", baseUrl: BASE_URL, auth: { method: "jwt", keys: localKeys(jwks) } },
    });
    const sender = createSender({
      url: URL_OF_LISTENER,
      signer: jwtSigner({ key: privateJwk, kid, alg }),
      transport: async ({ url, method, headers, body }) => {
        const request = new Request(url, { method, headers, body });
        const answer = await receiver.handle(request, async () => {});
        return {
          status: answer.status,
          headers: [...answer.headers],
          body: new Uint8Array(await answer.arrayBuffer()),
          truncated: false,
        };
      },
    });
    same(alg, (await sender.send({ alg })).outcome, "accepted");
  }
}

async function keepEvents() {
  const clock = fixedClock("2026-01-01T00:00:00Z");
  const accepting = createFakeReceiver([{ accept: true, drop: true }], { secret: SECRET, clock });
  const refusing = createFakeReceiver([410], { secret: SECRET, clock });
  const listener = { url: URL_OF_LISTENER, signer: hmacSigner({ secret: SECRET }) };
  const outbox = createOutbox({
    store: memoryStore({ clock }),
    clock,
    listeners: {
      offboarding: { ...listener, transport: accepting.transport },
      "offboarding again": { ...listener, transport: accepting.transport },
      archive: { ...listener, transport: refusing.transport },
    },
  });
  const { eventId } = await outbox.enqueue({ listener: "offboarding", payload: { n: 1 } });
  await outbox.drain();
  same("a lost answer", await standings(outbox, eventId), ["pending, 1"]);
  clock.advance(60_000);
  await outbox.drain();
  same("the next attempt", await standings(outbox, eventId), ["delivered delivered, 2"]);
  for (const name of ["offboarding again", "archive"])
    await outbox.enqueue({ listener: name, eventId, payload: { n: 1 } });
  await outbox.drain();
  same("a copy, and a refusal", (await standings(outbox, eventId)).sort(), [
    "dead, 1",
    "delivered delivered, 2",
    "delivered duplicate, 1",
  ]);
  const letters = [];
  for await (const { event, code } of outbox.deadLetters()) letters.push([event.listener, code]);
  same("dead letters", letters, [["archive", "REQUEST_REFUSED"]]);
  await runContract(outboxStoreContract, memoryStore);
}

async function standings(outbox, eventId) {
  const entries = await outbox.find(eventId);
  return entries.map(({ state, outcome, attempts }) =>
    [[state, outcome].filter(Boolean).join(" "), attempts.length].join(", "),
  );
}

/** Holds a store in memory to its contract, every case on a store of its own. */
async function runContract(contract, createStore) {
  for (const { name, run } of contract) {
    const clock = fixedClock("2026-01-01T00:00:00Z");
    const store = createStore({ clock });
    await run({ open: () => store, passTime: (ms) => clock.advance(ms) }).catch((error) => {
      throw new Error(`${name}: ${error.message}`);
    });
  }
}

async function explain({ secret, timestamp, eventId, bodyBase64, wrongIfSecretIsDecoded }) {
  const diagnosis = await diagnose({
    secret,
    request: {
      method: "POST",
      url: URL_OF_LISTENER,
      headers: {
        "Content-Type": "application/json",
        "Webhook-Timestamp": timestamp,
        "Webhook-Event-Id": eventId,
        "Webhook-Signature": wrongIfSecretIsDecoded,
      },
      body: bytesOf(bodyBase64),
    },
  });
  same("the mistake", diagnosis.mistakes[0]?.id, "secret-base64url-decoded");
}

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

function same(what, actual, expected) {
  const [seen, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (seen !== wanted) throw new Error(`${what}: expected ${wanted}, got ${seen}`);
}
