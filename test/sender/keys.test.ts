import { createSign, generateKeyPairSync, type KeyObject } from "node:crypto";
import { createSender, jwtSigner, type SigningKey } from "hookproof";
import { generateKey, localKeys } from "hookproof/jwks";
import type { ListenerOptions } from "hookproof/receiver";
import { afterEach, describe, expect, it } from "vitest";
import { type ReceiverServer, receiverServer } from "../kit/receiver-server.js";

let server: ReceiverServer | undefined;
afterEach(() => server?.stop());

const wait = async () => {};

function keySet(...keys: { kid: string; key: KeyObject }[]): ListenerOptions["auth"] {
  const jwks = keys.map(({ kid, key }) => ({
    ...key.export({ format: "jwk" }),
    kid,
    use: "sig",
    alg: "ES256",
  }));
  return { method: "jwt", keys: localKeys({ keys: jwks }) };
}

const p256 = () => generateKeyPairSync("ec", { namedCurve: "P-256" });

describe("a key outside the process", () => {
  it.each(["der", "ieee-p1363"] as const)("signs as ES256 in the form %s", async (dsaEncoding) => {
    const { privateKey, publicKey } = p256();
    server = await receiverServer({ auth: keySet({ kid: "k1", key: publicKey }) });
    const vault = async (bytes: Uint8Array) =>
      createSign("sha256").update(bytes).sign({ key: privateKey, dsaEncoding });
    const sender = createSender({
      url: server.url,
      signer: jwtSigner({ key: vault, kid: "k1", alg: "ES256" }),
      wait,
    });
    // DER drops leading zeros of r and s, about once in 128 signatures each: many signatures meet that case.
    for (let i = 0; i < 300; i++) expect((await sender.send({ i })).outcome).toBe("accepted");
  });

  it("that fails is asked again, and nothing is sent meanwhile", async () => {
    const { privateKey, publicKey } = p256();
    server = await receiverServer({ auth: keySet({ kid: "k1", key: publicKey }) });
    let asked = 0;
    const vault = async (bytes: Uint8Array) => {
      asked += 1;
      if (asked < 3) throw new Error("the vault is sealed");
      return createSign("sha256").update(bytes).sign({ key: privateKey, dsaEncoding: "der" });
    };
    const sender = createSender({
      url: server.url,
      signer: jwtSigner({ key: vault, kid: "k1", alg: "ES256" }),
      wait,
    });
    const receipt = await sender.send({ a: 1 });
    expect(receipt.attempts.map(({ code }) => code)).toEqual(["SIGNER_FAILED", "SIGNER_FAILED", undefined]);
    expect(server.requests).toHaveLength(1);
  });

  it("that never answers ends with the attempt's time, or at the caller's word", async () => {
    server = await receiverServer();
    const sender = createSender({
      url: server.url,
      signer: jwtSigner({ key: () => new Promise(() => {}), kid: "k1", alg: "ES256" }),
      attemptTimeoutMs: 20,
      retry: { maxAttempts: 2 },
      wait,
    });
    const late = await sender.trySend({ a: 1 });
    expect(late).toMatchObject({ ok: false, code: "TIMED_OUT", attempts: [{}, {}] });
    const patient = createSender({
      url: server.url,
      signer: jwtSigner({ key: () => new Promise(() => {}), kid: "k1", alg: "ES256" }),
    });
    const stopped = await patient.trySend({ a: 1 }, { signal: AbortSignal.timeout(20) });
    expect(stopped).toMatchObject({ ok: false, code: "ABORTED" });
    expect(server.requests).toHaveLength(0);
  });

  it.each([
    ["nothing", undefined],
    ["a text", "c2lnbmF0dXJl"],
    ["a signature of another size", new Uint8Array(63)],
    ["DER that is cut off", new Uint8Array([0x30, 0x44, 0x02, 0x20, 1, 2, 3])],
  ])("that gives %s has failed", async (_what, given) => {
    server = await receiverServer();
    const key = async () => given as Uint8Array;
    const sender = createSender({
      url: server.url,
      signer: jwtSigner({ key, kid: "k1", alg: "ES256" }),
      wait,
    });
    expect(await sender.trySend({ a: 1 })).toMatchObject({ ok: false, code: "SIGNER_FAILED" });
    expect(server.requests).toHaveLength(0);
  });
});

describe("a key that is rotated", () => {
  it("is asked for at every attempt, so that a retry signs with the new one", async () => {
    const old = await generateKey({ alg: "ES256" });
    const fresh = await generateKey({ alg: "EdDSA" });
    const kids: string[] = [];
    server = await receiverServer({
      auth: { method: "jwt", keys: localKeys({ keys: [old.publicJwk, fresh.publicJwk] }) },
      intercept(request, response, receive) {
        const token = request.headers.authorization?.slice("Bearer ".length) ?? "";
        kids.push(JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString()).kid);
        if (kids.length > 1) return receive(request, response);
        request.resume();
        response.writeHead(503).end();
      },
    });
    const keyOf = ({ kid, alg, privateJwk }: typeof old): SigningKey => ({ key: privateJwk, kid, alg });
    let current = keyOf(old);
    const sender = createSender({
      url: server.url,
      signer: jwtSigner(() => current),
      wait: async () => {
        current = keyOf(fresh);
      },
    });
    expect((await sender.send({ a: 1 })).attempts).toHaveLength(2);
    expect(kids).toEqual([old.kid, fresh.kid]);
  });
});
