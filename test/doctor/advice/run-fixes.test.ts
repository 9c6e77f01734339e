// What a fix says is done as it is printed, and the request is accepted then.
import { createHash, createHmac, createPrivateKey, generateKeyPairSync, webcrypto } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createEvent, jwtSigner, signRequest } from "hookproof";
import { diagnose } from "hookproof/diagnose";
import { checkKeySet, generateKey, localKeys } from "hookproof/jwks";
import { createReceiver, type ReceivedRequest } from "hookproof/receiver";
import { standardWebhooksVerifier } from "hookproof/standard-webhooks";
import { fixedClock } from "hookproof/testing";
import { importJWK, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { itWith } from "../../kit/needs.js";
import { hasTool } from "../../kit/outside-tool.js";
import { temporaryFolder } from "../../kit/temporary-folder.js";
import { readVectors } from "../../vectors/vector-file.js";
import { allAdvice } from "./advice.js";
import { PIECES, type Piece, piecesOf } from "./pieces.js";
import {
  answeredKeySet,
  canSign,
  isText,
  parsed,
  posted,
  postedByNode,
  runElsewhere,
  runInNode,
  signedInput,
  tokenValues,
} from "./run-piece.js";

interface WrongRequest {
  readonly mistake: string;
  readonly name: string;
  readonly secret: string;
  readonly headers: Record<string, string>;
  readonly bodyBase64: string;
}

const NOW = 1_767_225_600;
const BASE_URL = "https://tenant.example.com";
const URL_OF_LISTENER = `${BASE_URL}/api/v1/webhooks/incoming/lst_1`;
const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const BODY = '{"type":"user.offboarded","name":"Zoë"}';

interface Given {
  readonly secret: string;
  readonly timestamp: string;
  readonly eventId: string;
  readonly body: Uint8Array;
}
const RIGHT: Given = {
  secret: SECRET,
  timestamp: String(NOW),
  eventId: "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10",
  body: Buffer.from(BODY),
};

const inputOf = ({ timestamp, eventId, body }: Given) =>
  Buffer.concat([Buffer.from(`${timestamp}.${eventId}.`), body]);
const macOf = (given: Given, key: string | Uint8Array = given.secret) =>
  createHmac("sha256", key).update(inputOf(given)).digest("base64url");

/** Whether a listener with the right secret takes a request. */
async function isAccepted(
  given: Given,
  headers: Readonly<Record<string, string>>,
  url = URL_OF_LISTENER,
): Promise<boolean> {
  const auth = { method: "hmac", secret: given.secret } as const;
  const listener = { id: "lst_1", baseUrl: BASE_URL, auth };
  const clock = fixedClock(Number(given.timestamp) * 1000);
  const request: ReceivedRequest = { method: "POST", url, headers, body: given.body };
  return (await createReceiver({ listener, clock, allowDocumentedSecret: true }).verify(request)).ok;
}

const headersOf = ({ timestamp, eventId }: Given, signature: string) => ({
  "Content-Type": "application/json",
  "Webhook-Timestamp": timestamp,
  "Webhook-Event-Id": eventId,
  "Webhook-Signature": signature,
});

const key = await generateKey({ alg: "ES256", kid: "k1" });
const keys = localKeys({ keys: [key.publicJwk] });

async function acceptsToken(
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
  known = keys,
): Promise<boolean> {
  const listener = { id: "lst_1", baseUrl: BASE_URL, auth: { method: "jwt", keys: known } } as const;
  const request: ReceivedRequest = { method: "POST", url: URL_OF_LISTENER, headers, body };
  return (await createReceiver({ listener, clock: fixedClock(NOW * 1000) }).verify(request)).ok;
}

async function tokenRequest() {
  const event = createEvent(Buffer.from(BODY), { eventId: RIGHT.eventId });
  const signer = jwtSigner({ key: key.privateJwk, kid: "k1", alg: "ES256" });
  return signRequest({ url: URL_OF_LISTENER, signer, event, clock: fixedClock(NOW * 1000) });
}

/** Standard Webhooks: a secret, its key, and the text that is signed. */
const STANDARD = (() => {
  const bytes = createHash("sha256").update("a key for tests").digest();
  return { secret: `whsec_${bytes.toString("base64")}`, key: bytes, text: `msg_1.${NOW}.${BODY}` };
})();

const PAIR = generateKeyPairSync("ed25519");

async function acceptsStandard(signature: string, secrets = STANDARD.secret): Promise<boolean> {
  const verifier = standardWebhooksVerifier({ secrets });
  const headers = {
    "Content-Type": "application/json",
    "webhook-id": "msg_1",
    "webhook-timestamp": String(NOW),
    "webhook-signature": signature,
  };
  const request: ReceivedRequest = { method: "POST", url: "/", headers, body: Buffer.from(BODY) };
  return (await createReceiver({ verifier, clock: fixedClock(NOW * 1000) }).verify(request)).ok;
}

/** Runs a piece with right values, or with those that it is to correct, and sees whether what it makes is accepted. */
async function isRunAccepted(piece: Piece, given: Given): Promise<boolean> {
  const { secret, timestamp, eventId, body } = given;
  const text = Buffer.from(body).toString();
  const signature = macOf(given);
  const folder = temporaryFolder("fix");
  const path = join(folder, "secret");
  writeFileSync(path, `${secret}\n`);
  const request = await tokenRequest();
  const token = (request.headers.Authorization ?? "").slice("Bearer ".length);
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const [head = "", claims = ""] = token.split(".");
  const ofToken = piece.part === "tokenSignature";
  const values = {
    secret,
    timestamp,
    eventId,
    body:
      piece.code.includes("encode(body)") || piece.language !== "node" || isText(text, body) ? text : body,
    bytes: body,
    payload: parsed(text),
    input: ofToken ? Buffer.from(`${head}.${claims}`) : inputOf(given),
    head: `${timestamp}.${eventId}.`,
    req: { body },
    request: new Request("http://x/", { method: "POST", body: Buffer.from(body) }),
    event: { body: Buffer.from(body).toString("base64"), isBase64Encoded: true },
    mac: createHmac("sha256", secret).update(inputOf(given)),
    digest: Buffer.from(signature, "base64url"),
    signature: ofToken ? Buffer.from(token.split(".")[2] ?? "", "base64url") : signature,
    headers: {},
    newSecret: "HR4fAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxw",
    oldSecret: secret,
    key:
      piece.part === "tokenSignature"
        ? { ...key.privateJwk }
        : piece.code.includes("subtle")
          ? await webcrypto.subtle.importKey(
              "raw",
              Buffer.from(secret),
              { name: "HMAC", hash: "SHA-256" },
              false,
              ["sign"],
            )
          : key.privateJwk,
    kid: "k1",
    alg: "ES256",
    token: piece.code.includes("trim") ? `${token}\n` : token,
    makeToken: async () => token,
    records: [key],
    pem: pair.publicKey.export({ type: "spki", format: "pem" }),
    url: URL_OF_LISTENER,
    baseUrl: BASE_URL,
    listenerId: "lst_1",
    path,
    ...(piece.part.startsWith("standard")
      ? {
          secret: STANDARD.secret,
          key: STANDARD.key,
          text: STANDARD.text,
          hmac: createHmac("sha256", STANDARD.key).update(STANDARD.text),
        }
      : {}),
    ...(piece.part === "standardPair" ? { key: PAIR.privateKey, text: Buffer.from(STANDARD.text) } : {}),
    part: Buffer.from(claims, "base64url"),
    loadSecret: async () => ({ secret }),
    ...(/base64url\(|^sign\(claims/.test(piece.code) ? tokenValues(token, key.privateJwk) : {}),
    ...piece.given?.({ secret, signature, baseUrl: BASE_URL }),
  };
  if (ofToken) values.key = createPrivateKey({ key: key.privateJwk as never, format: "jwk" }) as never;
  const bytesOfToken = Buffer.from(token.split(".")[2] ?? "", "base64url");
  const rsa = piece.part === "rsaSignature" ? await generateKey({ alg: "RS256", kid: "r1" }) : undefined;
  const rsaInput = `${Buffer.from('{"alg":"RS256","kid":"r1"}').toString("base64url")}.${claims}`;
  if (rsa) {
    values.key = createPrivateKey({ key: rsa.privateJwk as never, format: "jwk" }) as never;
    values.input = Buffer.from(rsaInput);
  }
  const run = () =>
    piece.language === "node"
      ? runInNode(piece, values, () => Number(timestamp) * 1000)
      : Promise.resolve(
          runElsewhere(piece, {
            ...{ secret, timestamp, eventId, body: text, input: inputOf(given).toString() },
            pem: rsa && createPrivateKey({ key: rsa.privateJwk as never, format: "jwk" }).export(PEM),
            ...(rsa ? { input: rsaInput } : {}),
            r: BigInt(`0x${bytesOfToken.subarray(0, 32).toString("hex")}`).toString(),
          }),
        );
  if (piece.part === "refusal")
    return run().then(
      () => false,
      () => true,
    );
  if (piece.part === "answer") return (await checkKeySet(await answeredKeySet(piece, key.publicJwk))).ok;
  if (piece.part === "posted" && piece.language === "node") {
    const sent = await postedByNode(piece, headersOf(given, signature), body);
    return sent.method === "POST" && isAccepted({ ...given, body: sent.body }, sent.headers);
  }
  if (piece.part === "posted") {
    const sent = { ...given, body: await posted(piece.code, body) };
    return isAccepted(sent, headersOf(sent, macOf(given)));
  }
  const made = await run();
  const asText = () => (made instanceof Uint8Array ? Buffer.from(made).toString() : String(made));
  switch (piece.part) {
    case "secret":
      return isAccepted(given, headersOf(given, macOf(given, asText())));
    case "keyBytes":
      return isAccepted(given, headersOf(given, macOf(given, made as Uint8Array)));
    case "hmac":
      return isAccepted(
        given,
        headersOf(given, (made as ReturnType<typeof createHmac>).update(inputOf(given)).digest("base64url")),
      );
    case "hmacOfAll":
      return isAccepted(given, headersOf(given, (made as ReturnType<typeof createHmac>).digest("base64url")));
    case "input":
    case "head": {
      const input = createHmac("sha256", secret)
        .update(made as string)
        .digest("base64url");
      return isAccepted(given, headersOf(given, input));
    }
    case "timestamp": {
      const now = Number(asText());
      const fresh = { ...given, timestamp: asText().trim() };
      return Math.abs(now - Date.now() / 1000) < 60 || now === Number(timestamp)
        ? isAccepted(fresh, headersOf(fresh, macOf(fresh)))
        : false;
    }
    case "eventId": {
      const fresh = { ...given, eventId: asText() };
      return isAccepted(fresh, headersOf(fresh, macOf(fresh)));
    }
    case "body": {
      const bytes = made instanceof ArrayBuffer ? Buffer.from(made) : Buffer.from(made as string);
      const sent = { ...given, body: bytes };
      return isAccepted(sent, headersOf(sent, macOf(sent)));
    }
    case "signature": {
      const bytes = Buffer.isBuffer(made) && made.length === 32 ? made.toString("base64url") : asText();
      return isAccepted(given, headersOf(given, bytes));
    }
    case "signer": {
      const event = createEvent(body, { eventId });
      const sent = await signRequest({
        url: URL_OF_LISTENER,
        signer: made as never,
        event,
        clock: fixedClock(Number(timestamp) * 1000),
      });
      if (piece.code.startsWith("jwtSigner")) return acceptsToken(sent.headers, event.body);
      // With two secrets the new one signs first, which the listener does not know yet.
      const secrets = piece.code.includes("newSecret") ? values.newSecret : secret;
      return isAccepted({ ...given, secret: secrets }, sent.headers);
    }
    case "tokenSignature": {
      const signed = `${head}.${claims}.${typeof made === "string" ? made : Buffer.from(made as Uint8Array).toString("base64url")}`;
      return acceptsToken({ ...request.headers, Authorization: `Bearer ${signed}` }, request.body);
    }
    case "tokenInput": {
      const line = `Bearer ${signedInput(asText(), key.privateJwk)}`;
      return acceptsToken({ ...request.headers, Authorization: line }, request.body);
    }
    case "authorization": {
      const value = asText();
      const line = value.startsWith("Bearer ") ? value : `Bearer ${value}`;
      return acceptsToken({ ...request.headers, Authorization: line }, request.body);
    }
    case "keyRecord": {
      const { publicJwk } = made as typeof key;
      return (await checkKeySet({ keys: [publicJwk] })).ok;
    }
    case "keySet": {
      const answer = await (made as (request: Request) => Promise<Response>)(new Request("http://x/"));
      return (await checkKeySet(await answer.json())).ok;
    }
    case "publicKey":
      return (await checkKeySet({ keys: [{ ...(made as object), kid: "p", use: "sig", alg: "ES256" }] })).ok;
    case "subject":
      return made === BASE_URL;
    case "claims": {
      const all = {
        ...(made as object),
        jti: eventId,
        htm: "POST",
        exp: NOW + 300,
        htb_s256: createHash("sha256").update(request.body).digest("base64url"),
      };
      const signed = await new SignJWT(all)
        .setProtectedHeader({ alg: "ES256", kid: "k1" })
        .sign(await importJWK(key.privateJwk, "ES256"));
      return acceptsToken({ ...request.headers, Authorization: `Bearer ${signed}` }, request.body);
    }
    case "standard":
      return acceptsStandard(asText());
    case "standardPair": {
      const { x = "" } = PAIR.publicKey.export({ format: "jwk" });
      return acceptsStandard(asText(), `whpk_${Buffer.from(x, "base64url").toString("base64")}`);
    }
    case "standardKey":
    case "standardHmac": {
      const mac = made instanceof Uint8Array ? createHmac("sha256", made) : (made as typeof values.mac);
      const signed = piece.code.endsWith(".update(text)") ? mac : mac.update(STANDARD.text);
      return acceptsStandard(`v1,${signed.digest("base64")}`);
    }
    case "address":
      return String(made) === URL_OF_LISTENER;
    case "segment":
      return acceptsToken(
        { ...request.headers, Authorization: `Bearer ${head}.${asText()}.${token.split(".")[2]}` },
        request.body,
      );
    case "rsaSignature": {
      const signed = `${rsaInput}.${Buffer.from(made as Uint8Array).toString("base64url")}`;
      const headers = { ...request.headers, Authorization: `Bearer ${signed}` };
      return acceptsToken(headers, request.body, localKeys({ keys: rsa ? [rsa.publicJwk] : [] }));
    }
    case "half":
      return Buffer.from(made as Uint8Array).equals(bytesOfToken.subarray(0, 32));
    case "fingerprint":
      return made === `sha256:${createHash("sha256").update(secret).digest("hex").slice(0, 8)}`;
    case "line":
      return asText() === inputOf(given).toString("base64");
    default:
      return false;
  }
}

const PEM = { type: "pkcs8", format: "pem" } as const;

const HAS = {
  node: true,
  python3: hasTool("/usr/bin/python3", "--version"),
  cryptography: hasTool("/usr/bin/python3", "-c", "import cryptography"),
  php: hasTool("php", "--version"),
  ruby: hasTool("ruby", "--version"),
  sh: hasTool("sh", "-c", "command -v openssl && command -v basenc && command -v curl"),
};

const toolOf = ({ code, language }: Piece) =>
  code.startsWith("padding.") ? "python3-cryptography" : language;
const advice = await allAdvice();

describe("a piece of code in fixes is run as it is printed, and what it makes is accepted:", () => {
  for (const piece of PIECES)
    itWith(toolOf(piece), piece.code.startsWith("padding.") ? HAS.cryptography : HAS[piece.language])(
      `${piece.language}: ${piece.code}`,
      async () => {
        expect(advice.filter(({ fix }) => piecesOf(fix).includes(piece)).map(({ id }) => id)).not.toEqual([]);
        expect(await isRunAccepted(piece, RIGHT)).toBe(true);
      },
    );
});

describe("who makes a mistake is refused, and who does what the diagnosis says is accepted:", () => {
  const { cases, printed } = readVectors<{ cases: WrongRequest[]; printed: WrongRequest[] }>("mistakes.json");
  it.each([...cases, ...printed].map((one) => [one.name, one] as const))("%s", async (_, wrong) => {
    const body = new Uint8Array(Buffer.from(wrong.bodyBase64, "base64"));
    const { headers, secret } = wrong;
    const clock = fixedClock(NOW * 1000);
    const { mistakes } = await diagnose({ request: { headers, body }, secret, clock });
    const said = mistakes.find(({ id }) => id === wrong.mistake);
    const given: Given = {
      ...RIGHT,
      secret,
      body:
        parsed(Buffer.from(body).toString()) === null || !isText(Buffer.from(body).toString(), body)
          ? RIGHT.body
          : body,
    };
    expect(await isAccepted({ ...given, body }, headers)).toBe(false);
    // A signer refuses the secret of the documentation, which most of these requests are signed with.
    const own = { ...given, secret: canSign(secret) ? secret.trim() : SECRET };
    for (const piece of piecesOf(said?.fix ?? ""))
      if (piece.language === "node") expect(await isRunAccepted(piece, own), piece.code).toBe(true);
  });
});
