import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createSender } from "hookproof";
import { createKeySet, generateKey, localKeys, remoteKeys } from "hookproof/jwks";
import { openKeyStore, toJwksListener, toNodeListener } from "hookproof/node";
import { createOutbox, memoryStore } from "hookproof/outbox";
import { createReceiver } from "hookproof/receiver";
import { CAEP, securityEvent, securityEventSigner, securityEventVerifier } from "hookproof/set";
import { createLocalJWKSet, createRemoteJWKSet, importJWK, type JWTPayload, jwtVerify, SignJWT } from "jose";
import { describe, expect, it, onTestFinished } from "vitest";
import { httpServer, started } from "../kit/local-server.js";
import { describeWith } from "../kit/needs.js";
import { hasTool } from "../kit/outside-tool.js";

const ISSUER = "https://idp.example.com/";
const AUDIENCE = "https://receiver.example.com/";
const ALGORITHMS = ["ES256", "RS256", "EdDSA"] as const;
const event = securityEvent(
  CAEP.credentialChange,
  { credential_type: "fido2-roaming", change_type: "create", friendly_name: "Janes Schlüssel 🔐" },
  { sub_id: { format: "iss_sub", iss: ISSUER, sub: "u_1" }, txn: "8675309", toe: 1_767_225_600 },
);

/** A recipient that has only jose: it answers as RFC 8935 says. */
async function recipientOfJose(keys: Parameters<typeof jwtVerify>[1]) {
  const taken: JWTPayload[] = [];
  const { port } = await started(
    httpServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      try {
        const { payload } = await jwtVerify(Buffer.concat(chunks), keys, {
          typ: "secevent+jwt",
          issuer: ISSUER,
          audience: AUDIENCE,
          requiredClaims: ["jti", "iat", "events"],
        });
        taken.push(payload);
        response.writeHead(202).end();
      } catch (error) {
        response.writeHead(400, { "Content-Type": "application/json", "Content-Language": "en" });
        response.end(JSON.stringify({ err: "invalid_key", description: (error as Error).message }));
      }
    }),
  );
  return { url: `http://127.0.0.1:${port}/events`, taken };
}

async function post(url: string, token: string): Promise<[number, string]> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/secevent+jwt", Accept: "application/json" },
    body: token,
  });
  return [response.status, await response.text()];
}

/** Our receiver over HTTP, and what its run was given. */
async function ourRecipient(keys: ReturnType<typeof localKeys>) {
  const taken: unknown[] = [];
  const receiver = createReceiver({
    verifier: securityEventVerifier({ issuer: ISSUER, audience: AUDIENCE, keys }),
  });
  const { port } = await started(
    httpServer(toNodeListener(receiver, async ({ payload }) => taken.push(payload))),
  );
  return { url: `http://127.0.0.1:${port}/events`, taken };
}

describe.each(ALGORITHMS)("jose, %s", (alg) => {
  it("verifies what we send, and signs what we receive", async () => {
    const record = await generateKey({ alg, kid: "k1" });
    const jwks = await createKeySet([record]).publicJwks();
    const { url, taken } = await recipientOfJose(createLocalJWKSet(jwks as never));
    const key = { key: record.privateJwk, kid: "k1", alg };
    const signer = securityEventSigner({ issuer: ISSUER, audience: AUDIENCE, key });
    const { eventId } = await createSender({ url, signer }).send(event);
    expect(taken).toEqual([{ iss: ISSUER, iat: expect.any(Number), jti: eventId, aud: AUDIENCE, ...event }]);

    const ours = await ourRecipient(localKeys(jwks));
    const token = await new SignJWT({ ...event })
      .setProtectedHeader({ alg, kid: "k1", typ: "secevent+jwt" })
      .setIssuer(ISSUER)
      .setAudience([AUDIENCE, "https://other.example.com/"])
      .setJti("any text, not a UUID")
      .setIssuedAt()
      .sign(await importJWK(record.privateJwk, alg));
    expect(await post(ours.url, token)).toEqual([202, ""]);
    expect(await post(ours.url, token)).toEqual([202, ""]);
    expect(ours.taken).toMatchObject([{ jti: "any text, not a UUID", events: event.events }]);
    const [status, text] = await post(ours.url, `${token.slice(0, -4)}AAAA`);
    expect([status, JSON.parse(text).err]).toEqual([400, "invalid_key"]);
  });
});

it("a key store rotates under the outbox, and jose fetches the key set: no event is refused", async () => {
  const folder = mkdtempSync(join(tmpdir(), "hookproof-set-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const keyStore = openKeyStore(folder);
  await keyStore.generate({ alg: "ES256" });
  const keySet = createKeySet(keyStore);
  const jwks = await started(httpServer(toJwksListener(keySet)));
  const jwksUrl = `http://127.0.0.1:${jwks.port}/.well-known/jwks.json`;
  const joses = await recipientOfJose(createRemoteJWKSet(new URL(jwksUrl), { cooldownDuration: 0 }));
  const ours = await ourRecipient(
    remoteKeys(jwksUrl, { allowInsecureLoopback: true, allowedCidrs: ["127.0.0.0/8"] }),
  );
  const signer = securityEventSigner({
    issuer: ISSUER,
    audience: AUDIENCE,
    key: () => keySet.signingKey("ES256"),
  });
  const outbox = createOutbox({
    store: memoryStore(),
    listeners: { jose: { url: joses.url, signer }, ours: { url: ours.url, signer } },
    quiet: true,
  });
  const kids = new Set<string>();
  for (const rotates of [false, true]) {
    if (rotates) await keyStore.rotate("ES256", { immediately: true });
    kids.add((await keySet.signingKey("ES256")).kid);
    await outbox.enqueue({ listeners: ["jose", "ours"], payload: event });
    await outbox.drain();
  }
  expect(kids.size).toBe(2);
  expect(joses.taken.map(({ jti }) => jti)).toEqual(ours.taken.map((claims) => (claims as JWTPayload).jti));
  expect(joses.taken.length).toBe(2);
});

const PYTHON = "/usr/bin/python3";

describeWith("python3-jwt", hasTool(PYTHON, "-c", "import jwt, cryptography"))("PyJWT", () => {
  const script = fileURLToPath(new URL("security-event-token.py", import.meta.url));
  const python = (given: object) =>
    JSON.parse(execFileSync(PYTHON, [script], { input: JSON.stringify(given), encoding: "utf8" }));

  it("verifies what we send, and signs what we receive", async () => {
    const { kid, alg, privateJwk, publicJwk } = await generateKey({ alg: "ES256", kid: "k1" });
    const signer = securityEventSigner({
      issuer: ISSUER,
      audience: AUDIENCE,
      key: { key: privateJwk, kid, alg },
    });
    const sent: string[] = [];
    const transport: Parameters<typeof createSender>[0]["transport"] = async ({ body }) => {
      sent.push(Buffer.from(body ?? "").toString());
      return { status: 202, headers: [], body: new Uint8Array(), truncated: false };
    };
    const { eventId } = await createSender({ url: AUDIENCE, signer, transport }).send(event);
    const read = python({
      do: "verify",
      token: sent[0],
      jwk: publicJwk,
      alg,
      audience: AUDIENCE,
      issuer: ISSUER,
    });
    expect(read).toEqual({
      header: { alg, kid, typ: "secevent+jwt" },
      claims: { iss: ISSUER, iat: expect.any(Number), jti: eventId, aud: AUDIENCE, ...event },
    });

    const ours = await ourRecipient(localKeys({ keys: [publicJwk] }));
    const claims = { iss: ISSUER, aud: AUDIENCE, jti: "py-1", iat: Math.floor(Date.now() / 1000), ...event };
    const { token } = python({ do: "sign", jwk: privateJwk, alg, claims });
    expect(await post(ours.url, token)).toEqual([202, ""]);
    expect(ours.taken).toEqual([claims]);
  });
});
