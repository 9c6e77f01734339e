import { gzipSync } from "node:zlib";
import { createSender, type DeliveryError, hmacSigner, jwtSigner, type Signer } from "hookproof";
import { httpSignatureSigner } from "hookproof/http-signature";
import { generateKey } from "hookproof/jwks";
import { securityEventSigner } from "hookproof/set";
import { standardWebhooksSigner } from "hookproof/standard-webhooks";
import { describe, expect, it } from "vitest";
import { httpServer, started } from "../kit/local-server.js";

const SECRET = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const GATEWAY = "k9-gateway-credential";
const TOKEN = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ1XzEifQ.c2lnbmF0dXJl";

/** What `DeliveryError` keeps of an answer. */
async function kept(
  body: string | Buffer,
  status = 400,
  headers: Record<string, string> = {},
): Promise<DeliveryError> {
  const server = await started(
    httpServer((request, response) => {
      request.resume().on("end", () => response.writeHead(status, headers).end(body));
    }),
  );
  const sender = createSender({
    url: `http://127.0.0.1:${server.port}/api/v1/webhooks/incoming/lst_1`,
    signer: hmacSigner({ secret: SECRET }),
    headers: { "X-Gateway": GATEWAY },
    retry: { maxAttempts: 2 },
    wait: async () => {},
  });
  return sender.send({ a: 1 }).catch((error: DeliveryError) => error) as Promise<DeliveryError>;
}

describe("the beginning of an answer", () => {
  it("is kept with each failed attempt, and not logged with it", async () => {
    const error = await kept('{"code": "MAINTENANCE",\r\n\t"message": "back at noon"}', 503);
    const line = '{"code": "MAINTENANCE", "message": "back at noon"}';
    expect(error.attempts.map(({ answer }) => answer)).toEqual([line, line]);
    expect(JSON.stringify(error.attempts)).not.toContain("noon");
  });

  it.each([
    ["a screen that is cleared", "\u001b[2Jgone\u009b1m\u202e!", "[2Jgone 1m !"],
    ["bytes that are no text", Buffer.from([0xff, 0x61, 0xfe, 0x62]), "a b"],
    ["a page", `<html>\n\n  <h1>Bad   Gateway</h1>`, "<html> <h1>Bad Gateway</h1>"],
    ["more than is kept", "é".repeat(9_000), "é".repeat(200)],
  ])("is one line that steers nothing: %s", async (_what, body, line) => {
    expect((await kept(body)).attempts[0]?.answer).toBe(line);
  });

  const accents = Buffer.from("d\xe9sactiv\xe9", "latin1");
  it.each<[string, string | Buffer, Record<string, string>, string | undefined]>([
    ["text without a Content-Type", "no such user", {}, "no such user"],
    ["text of any type", "no such user", { "Content-Type": "application/octet-stream" }, "no such user"],
    ["Latin-1 that says so", accents, { "Content-Type": "text/plain; charset=ISO-8859-1" }, "désactivé"],
    ["Latin-1 that says nothing", accents, {}, "d sactiv"],
    ["a charset that nobody has", "gone", { "Content-Type": "text/plain; charset=iso-8859-99" }, "gone"],
    ["a compressed text", gzipSync("no such user"), { "Content-Encoding": "gzip" }, undefined],
    ["a picture", Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1"), {}, undefined],
    [
      "UTF-16",
      Buffer.from("no such user", "utf16le"),
      { "Content-Type": "text/plain; charset=utf-16" },
      undefined,
    ],
  ])("is kept where it is text, whatever its type says: %s", async (_what, body, headers, line) => {
    expect((await kept(body, 400, headers)).attempts[0]?.answer).toBe(line);
  });

  it.each([
    ["a header of the sender's own", `unknown key ${GATEWAY}`, "unknown key […]"],
    ["all headers in base64", Buffer.from(`["x-gateway","${GATEWAY}"]`).toString("base64"), undefined],
    ["a header in hex", Buffer.from(GATEWAY).toString("hex"), "[…]"],
    ["a bearer token", "got Authorization: Bearer abcdef123456", undefined],
    ["basic", "you sent Basic dXNlcjpwYXNz", undefined],
    ["a JWT", `token ${TOKEN} has expired`, undefined],
    ["a secret of Standard Webhooks", "expected whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", undefined],
    ["its signature", "got v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", undefined],
    ["a member of JSON", '{"client_secret":"s3cr\\"et-value","a":1}', '{"client_secret":[…],"a":1}'],
    ["JSON in JSON", '{"sent":"{\\"password\\":\\"hunter2hunter2\\"}"}', undefined],
    ["a form", "user=u&password=hunter2hunter2&a=1", "user=u&password=[…]&a=1"],
    ["a header line", "Webhook-Signature: c2lnbmF0dXJlLW9mLXNvbWV0aGluZw", "Webhook-Signature: […]"],
    ["a cookie", "set-cookie: sid=abcdef123456; Path=/", undefined],
    ["a URL", "postgres://app:hunter2hunter2@db/x refused", "postgres://app:[…]@db/x refused"],
    ["an API key", "x-api-key: 'abcdef123456'", "x-api-key: […]"],
    ["a credential that ends beyond what is kept", `${"x".repeat(190)} ${GATEWAY}`, `${"x".repeat(190)} […]`],
  ])("has no credential: %s", async (_what, body, line) => {
    const answer = (await kept(body)).attempts[0]?.answer;
    expect(answer).toContain("[…]");
    expect(answer).not.toMatch(/gateway-cred|abcdef123456|dXNlcj|eyJ|MfKQ|g0hM|s3cr|hunter2|c2lnbmF/);
    if (line !== undefined) expect(answer).toBe(line);
  });

  it.each([
    '{"code":"SIGNATURE_INVALID","message":"The signature does not match; the token is missing."}',
    "token expired",
    "Bearer authentication required",
    "Digest mismatch",
    "invalid signature: timestamp too old",
    '{"token":"expired","signature":"mismatch"}',
  ])("says what refusals say in words: %s", async (said) => {
    expect((await kept(said, 401)).attempts[0]?.answer).toBe(said);
  });
});

describe("an answer that repeats what proves the request", () => {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const ways: readonly (readonly [string, (text: string) => string])[] = [
    ["as it is", (text) => text],
    ["in base64", base64],
    ["in base64url", (text) => Buffer.from(text).toString("base64url")],
    ["in base64, with all headers", (text) => base64(JSON.stringify({ "X-Request": "1", proof: text }))],
    ["in hex", (text) => Buffer.from(text).toString("hex")],
    ["in a URL", (text) => `/?proof=${encodeURIComponent(text)}`],
  ];
  const signers: Readonly<Record<string, () => Promise<Signer>>> = {
    "a token": async () =>
      jwtSigner({ key: (await generateKey({ alg: "ES256" })).privateJwk, kid: "k", alg: "ES256" }),
    "an HMAC": async () => hmacSigner({ secret: SECRET }),
    "Standard Webhooks": async () => standardWebhooksSigner({ secrets: `whsec_${base64("x".repeat(24))}` }),
    "a message signature": async () => httpSignatureSigner({ secret: SECRET, keyId: "a" }),
    "a security event token": async () =>
      securityEventSigner({
        key: { key: (await generateKey({ alg: "ES256" })).privateJwk, kid: "k", alg: "ES256" },
        issuer: "https://issuer.example",
        audience: "https://audience.example",
      }),
  };
  it.each(Object.keys(signers))("keeps none of it: %s", async (name) => {
    for (const [how, write] of ways) {
      let proof = "";
      const server = await started(
        httpServer((request, response) => {
          const chunks: Buffer[] = [];
          request.on("data", (chunk: Buffer) => chunks.push(chunk));
          request.on("end", () => {
            const { authorization, signature } = request.headers;
            const named = request.headers["webhook-signature"] ?? signature ?? authorization;
            const body = Buffer.concat(chunks).toString();
            const text = String(named ?? body);
            proof = text.split(/[\s,:=]+/).find((part) => part.length > 32) ?? text;
            response.writeHead(401).end(`no such event: ${write(text)}`);
          });
        }),
      );
      const sender = createSender({
        url: `http://127.0.0.1:${server.port}/api/v1/webhooks/incoming/lst_1`,
        signer: await (signers[name] as () => Promise<Signer>)(),
        retry: { maxAttempts: 1 },
      });
      const payload =
        name === "a security event token" ? { events: { "https://e.example/1": {} } } : { a: 1 };
      const error = (await sender.send(payload).catch((thrown: unknown) => thrown)) as DeliveryError;
      const answer = error.attempts?.[0]?.answer ?? `${error}`;
      expect(answer, how).toMatch(/^no such event: /);
      // At both ends a character may stay that holds some bits of it.
      const middle = proof.slice(4, -4).match(/.{12}/g) ?? [];
      expect(middle.length).toBeGreaterThan(0);
      const left = [answer, Buffer.from(answer.slice(15), "base64").toString("latin1")].join(" ");
      for (const piece of middle)
        for (const [, coded] of ways.slice(0, 1)) expect(left, how).not.toContain(coded(piece));
      expect(answer.length, `${how}: ${answer}`).toBeLessThan(120);
    }
  });
});
