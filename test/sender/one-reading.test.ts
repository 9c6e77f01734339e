// A URL has one reading: what is signed is what is sent, in every scheme, or it is refused where it is handed in.
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { createEvent, createSender, hmacSigner, jwtSigner, signRequest } from "hookproof";
import { httpSignatureSigner, httpSignatureVerifier } from "hookproof/http-signature";
import { generateKey, localKeys, remoteKeys } from "hookproof/jwks";
import { createOutbox, memoryStore } from "hookproof/outbox";
import { createReceiver } from "hookproof/receiver";
import { generateStandardSecret, standardWebhooksSigner } from "hookproof/standard-webhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const LISTENER = "/api/v1/webhooks/incoming/lst_1";
const { privateJwk, publicJwk, kid, alg } = await generateKey({ alg: "ES256" });
const key = { key: privateJwk, kid, alg };
const SIGNERS = {
  hmac: hmacSigner({ secret: "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE" }),
  jwt: jwtSigner(key),
  "standard-webhooks": standardWebhooksSigner({ secrets: generateStandardSecret() }),
  "http-signature": httpSignatureSigner({ key }),
};

/** The URL of each request as it came over the wire, and the request. */
const came: [url: string, request: IncomingMessage, body: Buffer][] = [];
const server = createServer(async (request, answer) => {
  const body = Buffer.concat(await request.toArray());
  came.push([`http://${request.headers.host}${request.url}`, request, body]);
  answer.end("{}");
});
beforeAll(() => new Promise<void>((done) => server.listen(0, "127.0.0.1", done)));
afterAll(() => new Promise((done) => server.close(done)));
const here = () => `127.0.0.1:${(server.address() as AddressInfo).port}`;

/** A URL as it is handed in, with HERE for host and port; a path of a listener is added where there is no query. */
const ONE: readonly string[] = [
  "http://HERE",
  "HTTP://HERE/",
  "http://HERE/./a",
  "http://HERE/a/../b",
  "http://HERE/%2e%2e/a/%2E",
  "http://HERE//a",
  "http://HERE/a b",
  "http://HERE/a\"b'c",
  "http://HERE/a<b>`{c}|^",
  "http://HERE/ä/%c3%a4/%zz",
  "http://HERE/a;b=c,d@e:f",
  "http://HERE/a%0d%0ab%00",
  "http://HERE/\u202e\u00a0/a",
  "http://HERE/a?",
  "http://HERE/a?b=\"c\"&d='e'&f=g h&ä",
  "http://1２7。0。0。1:PORT/a",
  "http://0x7f.1:PORT/a",
  "http://127.0.0.1:0PORT/a",
];

describe.each(Object.entries(SIGNERS))("%s", (name, signer) => {
  const isOwn = name === "hmac" || name === "jwt";
  it.each(ONE)("what is signed for %j is what is sent", async (form) => {
    if (isOwn && form.includes("?")) return; // a listener of the service has no query
    const port = here().split(":")[1] ?? "";
    const text = form.replace("HERE", here()).replace("PORT", port);
    const url = isOwn ? `${text.replace(/\/$/, "")}${LISTENER}` : text;
    let signed = "";
    const noting = {
      scheme: signer.scheme,
      sign: (request: Parameters<typeof signer.sign>[0]) => {
        signed = request.url;
        return signer.sign(request);
      },
    };
    await createSender({ url, signer: noting }).send({ a: 1 });
    const [wire = "", request, body = Buffer.alloc(0)] = came.at(-1) ?? [];
    expect(wire).toBe(signed);
    const headers = Object.entries(request?.headers ?? {}).map(([line, value]) => [line, String(value)]);
    if (name === "jwt") {
      const [, claims = ""] = String(request?.headers.authorization).split(".");
      expect(JSON.parse(Buffer.from(claims, "base64url").toString()).aud).toBe(wire);
    }
    if (name === "http-signature") {
      const verifier = httpSignatureVerifier({ url: text, keys: localKeys({ keys: [publicJwk] }) });
      const received = new Request(wire, {
        method: "POST",
        headers: headers as [string, string][],
        body: new Uint8Array(body),
      });
      expect((await createReceiver({ verifier }).handle(received, async () => {})).status).toBe(200);
    }
  });
});

/** What a URL parser drops or turns into something else without a word, and what carries credentials. */
const REFUSED = [
  "https://h.example\t/a",
  "https://h.example/a\nb",
  "ht\rtps://h.example/a",
  " https://h.example/a",
  "https://h.example/a ",
  "https://h.example/a\u00a0",
  "https://h.example/a\u0001",
  "https://h.example/\u0000a",
  "https://h.example/\ud800",
  "https://h.example\\@other.example/a",
  "https:\\\\h.example/a",
  "https:h.example/a",
  "https:/h.example/a",
  "https:///h.example/a",
  "//h.example/a",
  "h.example/a",
  "https://u:p@h.example/a",
  "https://u@h.example/a",
  "https://@h.example/a",
  "https://:@h.example/a",
  "https://h.example@other.example/a",
  "https://[h.example]/a",
  "https://h example/a",
  "https://h.example:65536/a",
  "https://h.example/a#b",
  "https://h.example/a#",
];

describe.each(REFUSED)("%j is refused where it is handed in", (form) => {
  const refused = expect.objectContaining({ code: "LISTENER_URL_INVALID" });
  it.each(Object.entries(SIGNERS))(
    "to a sender, signRequest and an outbox, with %s",
    async (name, signer) => {
      const url = name === "hmac" || name === "jwt" ? form.replace(/(.)a\b/, `$1a${LISTENER}`) : form;
      expect(() => createSender({ url, signer })).toThrow(refused);
      await expect(signRequest({ url, signer, event: createEvent(1) })).rejects.toEqual(refused);
      const listeners = { a: { url, signer } };
      expect(() => createOutbox({ store: memoryStore(), listeners })).toThrow(refused);
    },
  );

  it("to a key set's resolver and a verifier", () => {
    if (form.includes("#")) return; // which these never send
    expect(() => remoteKeys(form)).toThrow(expect.objectContaining({ code: "KEY_SET_URL_REFUSED" }));
    const keys = localKeys({ keys: [publicJwk] });
    expect(() => httpSignatureVerifier({ url: form, keys })).toThrow(/^url must be the receiver's whole URL/);
  });
});
