// How close are the schemes to the bare primitives that they cannot do without, and to the packages of npm? By processor
// time, so that a machine that does other work too can answer. "By hand" is what a receiver has to do by the
// specification beside the primitives, without a verdict: schemes-by-hand.mjs.
import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  sign,
  timingSafeEqual,
  verify,
} from "node:crypto";
import { httpSignatureSigner, httpSignatureVerifier } from "hookproof/http-signature";
import { generateKey, localKeys } from "hookproof/jwks";
import { createReceiver } from "hookproof/receiver";
import { CAEP, securityEvent, securityEventSigner, securityEventVerifier } from "hookproof/set";
import {
  generateStandardKeys,
  generateStandardSecret,
  standardWebhooksSigner,
  standardWebhooksVerifier,
} from "hookproof/standard-webhooks";
import { createSigner, createVerifier, httpbis } from "http-message-signatures";
import { CompactSign, compactVerify, importJWK } from "jose";
import * as standard from "standardwebhooks";
import * as svix from "svix";
import { httpSignatureByHand, securityEventByHand, standardWebhooksByHand } from "./schemes-by-hand.mjs";
import { interleaved, report } from "./support.mjs";

const url = "https://hooks.example.com/in";
const eventId = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
const now = new Date();
const timestamp = String(Math.floor(now / 1000));
const body = Buffer.from(JSON.stringify({ text: "x".repeat(1013) }));
const text = body.toString();
const rounds = { rounds: 101, roundMs: 15, byProcessor: true }; // short, so that both cases of a round meet the same load
const decoder = new TextDecoder("utf-8", { fatal: true });

const secret = generateStandardSecret();
const key = Buffer.from(secret.slice("whsec_".length), "base64");
const peers = { standardwebhooks: new standard.Webhook(secret), svix: new svix.Webhook(secret) };
const signer = standardWebhooksSigner({ secrets: secret });
const verifier = standardWebhooksVerifier({ secrets: secret });
const bare = () => createHmac("sha256", key).update(`${eventId}.${timestamp}.`).update(body).digest("base64");
const headers = {
  "webhook-id": eventId,
  "webhook-timestamp": timestamp,
  "webhook-signature": `v1,${bare()}`,
};
const received = { all: (name) => (headers[name.toLowerCase()] ? [headers[name.toLowerCase()]] : []) };
const request = { method: "POST", url, headers: received, body, nowSeconds: () => Number(timestamp) };
const receiver = createReceiver({ verifier });
const byHand = standardWebhooksByHand({ key });
/** A line whose own request it refuses would be fast. */
const checked = async (answer) => {
  const found = await answer;
  if (!found || found.ok === false)
    throw new Error(`the bench's own request is refused: ${found?.checks.at(-1).code}`);
};
await checked(byHand(request));

report({
  question: "Standard Webhooks v1, sign, 1 KB",
  results: await interleaved(
    {
      "bare createHmac": bare,
      standardWebhooks: () => signer.sign({ url, timestamp, eventId, body }),
      standardwebhooks: () => peers.standardwebhooks.sign(eventId, now, text),
      svix: () => peers.svix.sign(eventId, now, text),
    },
    rounds,
  ),
  ratios: [
    { of: "standardWebhooks", to: "bare createHmac", goal: 0.9 },
    { of: "standardWebhooks", to: "standardwebhooks", goal: 4 },
    { of: "standardWebhooks", to: "svix", goal: 4 },
  ],
});

report({
  question: "Standard Webhooks v1, verify and parse, 1 KB",
  results: await interleaved(
    {
      "bare createHmac and JSON.parse": () =>
        timingSafeEqual(Buffer.from(bare()), Buffer.from(headers["webhook-signature"].slice(3))) &&
        JSON.parse(decoder.decode(body)),
      "by hand, as specified": () => byHand(request),
      standardWebhooksVerifier: () => verifier.verify(request),
      "receiver.verify, all checks": () => receiver.verify({ method: "POST", url, headers, body }),
      standardwebhooks: () => peers.standardwebhooks.verify(text, headers),
      svix: () => peers.svix.verify(text, headers),
    },
    rounds,
  ),
  ratios: [
    { of: "standardWebhooksVerifier", to: "bare createHmac and JSON.parse", goal: 0.9 },
    { of: "standardWebhooksVerifier", to: "by hand, as specified", goal: 0.9 },
    { of: "standardWebhooksVerifier", to: "standardwebhooks", goal: 4 },
    { of: "standardWebhooksVerifier", to: "svix", goal: 4 },
  ],
});

const keys = await generateStandardKeys();
const seed = Buffer.from(keys.privateKey.slice("whsk_".length), "base64");
const pkcs8 = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]);
const privateKey = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" });
const signed = Buffer.concat([Buffer.from(`${eventId}.${timestamp}.`), body]);
const publicKey = createPublicKey(privateKey);
const signature = sign(null, signed, privateKey);
const keyed = standardWebhooksSigner({ secrets: keys.privateKey });
const keyedVerifier = standardWebhooksVerifier({ secrets: keys.publicKey });
const keyedHeaders = { ...headers, "webhook-signature": `v1a,${signature.toString("base64")}` };
const keyedRequest = { ...request, headers: { all: (name) => [keyedHeaders[name.toLowerCase()]] } };
const keyedByHand = standardWebhooksByHand({ publicKey });
for (const answer of [keyedByHand(keyedRequest), keyedVerifier.verify(keyedRequest)]) await checked(answer);

report({
  question: "Standard Webhooks v1a, 1 KB",
  results: await interleaved(
    {
      "raw node:crypto, sign": () => sign(null, signed, privateKey),
      "standardWebhooks, sign": () => keyed.sign({ url, timestamp, eventId, body }),
      "raw node:crypto, verify": () => verify(null, signed, publicKey, signature),
      "by hand, as specified": () => keyedByHand(keyedRequest),
      "standardWebhooksVerifier, verify": () => keyedVerifier.verify(keyedRequest),
    },
    rounds,
  ),
  ratios: [
    { of: "standardWebhooks, sign", to: "raw node:crypto, sign", goal: 0.9 },
    { of: "standardWebhooksVerifier, verify", to: "raw node:crypto, verify", goal: 0.9 },
    { of: "standardWebhooksVerifier, verify", to: "by hand, as specified", goal: 0.9 },
  ],
});

const linesOf = (pairs) => {
  const all = new Map(pairs.map(([name, value]) => [name.toLowerCase(), [value]]));
  return { all: (name) => all.get(name.toLowerCase()) ?? [] };
};
const parts = { url, timestamp, eventId, body };
const requestOf = async (signer, type) => {
  const { headers: proof, body: sent = body } = await signer.sign(parts);
  const lines = [["Content-Type", type], ["Webhook-Event-Id", eventId], ...proof];
  return { ...request, headers: linesOf(lines), body: sent };
};

const shared = "a secret that both sides know: 32 bytes or more";
const withSecret = httpSignatureSigner({ secret: shared, keyId: "k1" });
const secretVerifier = httpSignatureVerifier({ url, secrets: { k1: shared } });
const secretRequest = await requestOf(withSecret, "application/json");
const bareDigest = () => createHash("sha256").update(body).digest("base64");
const base = "x".repeat(420); // as long as the text that is signed
const hmacOf = (text) => createHmac("sha256", shared).update(text).digest("base64");
const bareProof = () => [bareDigest(), hmacOf(base)];
const secretByHand = httpSignatureByHand({
  url,
  alg: "hmac-sha256",
  isRight: (text, proof) => timingSafeEqual(Buffer.from(hmacOf(text)), Buffer.from(proof)),
});
for (const answer of [secretByHand(secretRequest), secretVerifier.verify(secretRequest)])
  await checked(answer);

/** The package of npm as people call it: it signs and verifies, and the digest of the body is theirs to make. */
const fields = ["@method", "@target-uri", "content-type", "content-digest", "webhook-event-id"];
const contentDigest = () => `sha-256=:${bareDigest()}:`;
function peerBy(signingKey, verifyingKey, alg) {
  const [key, verifies] = [createSigner(signingKey, alg, "k1"), createVerifier(verifyingKey, alg)];
  const config = { key, fields, params: ["created", "keyid", "alg"] };
  const keyLookup = async () => ({ id: "k1", algs: [alg], verify: verifies });
  const rules = { keyLookup, requiredFields: fields, requiredParams: config.params, maxAge: 300 };
  const plain = { "content-type": "application/json", "webhook-event-id": eventId };
  return {
    sign: () =>
      httpbis.signMessage(config, {
        ...{ method: "POST", url },
        headers: { ...plain, "content-digest": contentDigest() },
      }),
    verify: async (message) =>
      message.headers["content-digest"] === contentDigest() &&
      (await httpbis.verifyMessage(rules, message)) &&
      JSON.parse(decoder.decode(body)),
  };
}
const peer = peerBy(shared, shared, "hmac-sha256");
const peerMessage = await peer.sign();

report({
  question: "HTTP message signatures with HMAC, 1 KB",
  results: await interleaved(
    {
      "bare createHash and createHmac": bareProof,
      "httpSignatureSigner, sign": () => withSecret.sign(parts),
      "the same, compare and JSON.parse": () => {
        const [digest, proof] = bareProof();
        timingSafeEqual(Buffer.from(digest), Buffer.from(digest));
        timingSafeEqual(Buffer.from(proof), Buffer.from(proof));
        return JSON.parse(decoder.decode(body));
      },
      "by hand, as specified": () => secretByHand(secretRequest),
      "httpSignatureVerifier, verify": () => secretVerifier.verify(secretRequest),
      "http-message-signatures, sign": () => peer.sign(),
      "http-message-signatures, verify": () => peer.verify(peerMessage),
    },
    rounds,
  ),
  ratios: [
    { of: "httpSignatureSigner, sign", to: "bare createHash and createHmac", goal: 0.9 },
    { of: "httpSignatureVerifier, verify", to: "the same, compare and JSON.parse", goal: 0.9 },
    { of: "httpSignatureVerifier, verify", to: "by hand, as specified", goal: 0.9 },
    { of: "httpSignatureSigner, sign", to: "http-message-signatures, sign", goal: 4 },
    { of: "httpSignatureVerifier, verify", to: "http-message-signatures, verify", goal: 4 },
  ],
});

const pair = await generateKey({ alg: "EdDSA", kid: "k1" });
const pairKeys = [
  createPrivateKey({ key: pair.privateJwk, format: "jwk" }),
  createPublicKey({ key: pair.publicJwk, format: "jwk" }),
];
const withKey = httpSignatureSigner({ key: { key: pair.privateJwk, kid: "k1", alg: "EdDSA" } });
const keyVerifier = httpSignatureVerifier({ url, keys: localKeys({ keys: [pair.publicJwk] }) });
const keyRequest = await requestOf(withKey, "application/json");
const pairPeer = peerBy(...pairKeys, "ed25519");
const pairMessage = await pairPeer.sign();
const [baseBytes, baseSignature] = [Buffer.from(base), sign(null, Buffer.from(base), pairKeys[0])];
const pairByHand = httpSignatureByHand({
  url,
  alg: "ed25519",
  isRight: (text, proof) => verify(null, Buffer.from(text), pairKeys[1], Buffer.from(proof, "base64")),
});
for (const answer of [pairByHand(keyRequest), keyVerifier.verify(keyRequest)]) await checked(answer);

report({
  question: "HTTP message signatures with Ed25519, 1 KB",
  results: await interleaved(
    {
      "raw node:crypto, digest and sign": () => [bareDigest(), sign(null, baseBytes, pairKeys[0])],
      "httpSignatureSigner, sign": () => withKey.sign(parts),
      "raw node:crypto, digest, verify and JSON.parse": () =>
        bareDigest() &&
        verify(null, baseBytes, pairKeys[1], baseSignature) &&
        JSON.parse(decoder.decode(body)),
      "by hand, as specified": () => pairByHand(keyRequest),
      "httpSignatureVerifier, verify": () => keyVerifier.verify(keyRequest),
      "http-message-signatures, sign": () => pairPeer.sign(),
      "http-message-signatures, verify": () => pairPeer.verify(pairMessage),
    },
    rounds,
  ),
  ratios: [
    { of: "httpSignatureSigner, sign", to: "raw node:crypto, digest and sign", goal: 0.9 },
    {
      of: "httpSignatureVerifier, verify",
      to: "raw node:crypto, digest, verify and JSON.parse",
      goal: 0.9,
    },
    { of: "httpSignatureVerifier, verify", to: "by hand, as specified", goal: 0.9 },
    { of: "httpSignatureSigner, sign", to: "http-message-signatures, sign" },
    { of: "httpSignatureVerifier, verify", to: "http-message-signatures, verify" },
  ],
});

const { kid, alg, privateJwk, publicJwk } = await generateKey({ alg: "ES256" });
const resolver = localKeys({ keys: [publicJwk] });
const names = { issuer: "https://idp.example.com/", audience: "https://receiver.example.com/" };
const transmitter = securityEventSigner({ ...names, key: { key: privateJwk, kid, alg } });
const recipient = securityEventVerifier({ ...names, keys: resolver });
const event = securityEvent(CAEP.sessionRevoked, { reason_admin: { en: "x".repeat(900) } });
Object.assign(parts, { body: Buffer.from(JSON.stringify(event)) });
const setRequest = await requestOf(transmitter, "application/secevent+jwt");
const [privateKeyOfJose, publicKeyOfJose] = [
  await importJWK(privateJwk, alg),
  await importJWK(publicJwk, alg),
];
const claims = { iss: names.issuer, iat: Number(timestamp), jti: eventId, aud: names.audience, ...event };
const token = decoder.decode(setRequest.body);
const recipientByHand = securityEventByHand({ key: publicKeyOfJose, ...names, algorithms: [alg] });
for (const answer of [recipientByHand(setRequest), recipient.verify(setRequest)]) await checked(answer);

report({
  question: "Security event tokens with ES256, 1 KB",
  results: await interleaved(
    {
      "bare jose, sign": () =>
        new CompactSign(Buffer.from(JSON.stringify(claims)))
          .setProtectedHeader({ alg, kid, typ: "secevent+jwt" })
          .sign(privateKeyOfJose),
      "securityEventSigner, sign": () => transmitter.sign(parts),
      "bare jose, verify and JSON.parse": async () =>
        JSON.parse(decoder.decode((await compactVerify(token, publicKeyOfJose)).payload)),
      "by hand, as specified": () => recipientByHand(setRequest),
      "securityEventVerifier, verify": () => recipient.verify(setRequest),
    },
    rounds,
  ),
  ratios: [
    { of: "securityEventSigner, sign", to: "bare jose, sign", goal: 0.9 },
    { of: "securityEventVerifier, verify", to: "bare jose, verify and JSON.parse", goal: 0.9 },
    { of: "securityEventVerifier, verify", to: "by hand, as specified", goal: 0.9 },
  ],
});
