// Mistakes made by other people's programs, over HTTP: each is refused, and named alone.
import { execFileSync } from "node:child_process";
import { createPrivateKey } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { fileURLToPath } from "node:url";
import { type Mistake, mistakes } from "hookproof/diagnose";
import { httpSignatureVerifier } from "hookproof/http-signature";
import { generateKey, localKeys } from "hookproof/jwks";
import { createReceiver } from "hookproof/receiver";
import type { Verifier } from "hookproof/schemes";
import { securityEventVerifier } from "hookproof/set";
import { fixedClock } from "hookproof/testing";
import { CompactEncrypt, importJWK, SignJWT } from "jose";
import { expect, it } from "vitest";
import { httpServer, started } from "../kit/local-server.js";
import { mistakesOf } from "../kit/mistakes-of.js";
import { describeWith } from "../kit/needs.js";
import { hasTool } from "../kit/outside-tool.js";

const NOW = 1_767_225_600;
const SECRET = "a-secret-of-more-than-thirty-two-characters";
const URL_ = "https://hooks.example.com:8443/in?a=1";
const NAMES = { issuer: "https://idp.example.com/", audience: "https://rp.example.com/" };
const CLAIMS = {
  ...{ iss: NAMES.issuer, aud: NAMES.audience, jti: "id-1", iat: NOW },
  events: { "https://schemas.openid.net/secevent/caep/event-type/session-revoked": {} },
};

interface Sent {
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

/** The request with the header lines as a server of node:http has them. */
async function overHttp({ headers, body }: Sent): Promise<Sent> {
  let received: Sent | undefined;
  const { port } = await started(
    httpServer(async ({ rawHeaders }, response) => {
      const pairs = rawHeaders.flatMap((name, at) =>
        at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? ""] as const] : [],
      );
      received = { headers: pairs, body };
      response.end();
    }),
  );
  const byName: Record<string, string[]> = {};
  for (const [name, value] of headers) byName[name] = [...(byName[name] ?? []), value];
  const options = { method: "POST", port, host: "127.0.0.1", headers: byName, agent: false };
  const request = httpRequest(options).end(body);
  const [answer] = await once(request, "response");
  await once(answer.resume(), "end");
  return received as unknown as Sent;
}

type Naming = (sent: { headers: [string, string][]; body: string }) => Promise<readonly Mistake[]>;

async function judge(sent: Sent, verifier: Verifier, naming: Naming) {
  const { headers, body } = await overHttp(sent);
  const receiver = createReceiver({ verifier, clock: fixedClock(NOW * 1000) });
  const lines = headers.map(([name, value]) => [name, value] as [string, string]);
  const verdict = await receiver.verify({ method: "POST", url: URL_, headers: lines, body });
  return { ok: verdict.ok, ids: (await naming({ headers: lines, body })).map(({ id }) => id) };
}

async function judgeToken(sent: Sent, publicJwk: object) {
  const keys = localKeys({ keys: [publicJwk] } as never);
  return judge(sent, securityEventVerifier({ ...NAMES, keys }), (given) =>
    mistakesOf("security-event-token", { ...NAMES, ...given, keys, nowSeconds: NOW }),
  );
}

const PYTHON = "/usr/bin/python3";

describeWith("python3-jwt", hasTool(PYTHON, "-c", "import jwt, cryptography"))("Python", () => {
  const script = fileURLToPath(new URL("wrong-senders.py", import.meta.url));
  const python = (given: object): Sent =>
    JSON.parse(execFileSync(PYTHON, [script], { input: JSON.stringify(given), encoding: "utf8" }));
  const pemOf = (jwk: object) =>
    createPrivateKey({ key: jwk as never, format: "jwk" }).export({ format: "pem", type: "pkcs8" });

  it.each(["alg-none", "alg-other", "signature-in-der"])(
    "a security event token with %s",
    async (mistake) => {
      const { privateJwk, publicJwk } = await generateKey({ alg: "ES256", kid: "k1" });
      const common = { scheme: "set", mistake, body: "", now: NOW, claims: CLAIMS, pem: pemOf(privateJwk) };
      const { ok, ids } = await judgeToken(python(common), publicJwk);
      expect([ok, ids[0]]).toEqual([false, mistake]);
      expect(ids.slice(1)).toEqual([]);
    },
  );

  it.each([
    ...["header-twice", "digest-in-hex", "authority-without-port", "header-joined-otherwise"],
    ...["signature-in-der", "no mistake"],
  ])("an HTTP message signature with %s", async (mistake) => {
    const { privateJwk, publicJwk } = await generateKey({ alg: "ES256", kid: "k1" });
    const isByKey = mistake === "signature-in-der";
    const proof = isByKey ? { pem: pemOf(privateJwk) } : { secret: SECRET };
    const rules = {
      url: URL_,
      ...(isByKey ? { keys: localKeys({ keys: [publicJwk] }) } : { secrets: { k1: SECRET } }),
    };
    const sent = python({
      scheme: "http-signature",
      mistake,
      body: '{"n":1}',
      now: NOW,
      url: URL_,
      ...proof,
    });
    const found = await judge(sent, httpSignatureVerifier(rules), (given) =>
      mistakesOf("http-signature", { ...rules, ...given, nowSeconds: NOW }),
    );
    expect(found).toEqual(mistake === "no mistake" ? { ok: true, ids: [] } : { ok: false, ids: [mistake] });
  });
});

it("jose encrypts a token for a receiver that verifies signatures: token-encrypted", async () => {
  const { privateJwk, publicJwk } = await generateKey({ alg: "ES256", kid: "k1" });
  const signed = await new SignJWT(CLAIMS)
    .setProtectedHeader({ alg: "ES256", kid: "k1", typ: "secevent+jwt" })
    .sign(await importJWK(privateJwk, "ES256"));
  const { d: _private, ...recipient } = privateJwk as Record<string, unknown>;
  const body = await new CompactEncrypt(Buffer.from(signed))
    .setProtectedHeader({ alg: "ECDH-ES", enc: "A128GCM", cty: "secevent+jwt" })
    .encrypt(await importJWK({ ...recipient, alg: "ECDH-ES" } as never));
  const sent = { headers: [["Content-Type", "application/secevent+jwt"]] as [string, string][], body };
  expect(await judgeToken(sent, publicJwk)).toEqual({ ok: false, ids: ["token-encrypted"] });
});

it("every mistake of every scheme has a test that makes it", async () => {
  // The gathered requests name what each has in `expect`.
  const texts = ["./", "../doctor/schemes/", "../doctor/gathered/requests/"]
    .map((name) => new URL(name, import.meta.url))
    .flatMap((folder) => readdirSync(folder).map((name) => new URL(name, folder)))
    .filter(({ href }) => /\.(?:test\.ts|jsonl)$/.test(href))
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
  const schemes = ["standard-webhooks", "security-event-token", "http-signature"] as const;
  const all = (await Promise.all(schemes.map((scheme) => mistakes(scheme)))).flat();
  expect(all.length).toBeGreaterThan(75);
  // The ways to write a body are rows of the default scheme, whose tests make each.
  const ofDefault = new Set((await mistakes()).map(({ id }) => id));
  const isNamed = (id: string) =>
    ofDefault.has(id) || texts.includes(`"${id}"`) || texts.includes(`: ${id}"`);
  expect(all.map(({ id }) => id).filter((id) => !isNamed(id))).toEqual([]);
});
