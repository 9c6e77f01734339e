import { gzipSync } from "node:zlib";
import { createSender, type DeliveryError, hmacSigner } from "hookproof";
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
