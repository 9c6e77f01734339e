// Listeners with one bug each, gathered after the others and without a look at the probes.
import { createHash, createHmac, verify as verifySignature } from "node:crypto";
import {
  again,
  ageOf,
  type Bug,
  keyed,
  NOW,
  over,
  overBody,
  type Received,
  SECRET,
  text,
  timeBy,
  verifyBy,
  whole,
} from "./listeners.js";
import { claims, publicKey, RIGHT, SIGNING_KEY, sha256, tokens } from "./token-listeners.js";

type Bugs = Readonly<Record<string, readonly [words: string, Bug]>>;

const escaped = (json: string) =>
  json
    .replace(/[^\0-\x7f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .replaceAll("/", "\\/");

/** A value as Python's json.dumps prints it. */
function dumps(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(dumps).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).map(([name, item]) => `${dumps(name)}: ${dumps(item)}`);
    return `{${members.join(", ")}}`;
  }
  return escaped(JSON.stringify(value)).replaceAll("\\/", "/");
}

/** The body as text, each piece of 16 KiB decoded alone: `text += chunk`. */
function inPieces({ body }: Received): string {
  let read = "";
  for (let at = 0; at < body.length; at += 16_384) read += body.subarray(at, at + 16_384).toString();
  return read;
}

const hmac = (key: string | Buffer, input: string | Buffer) => createHmac("sha256", key).update(input);

/** A copy is looked for, and remembered only after a while. */
function slowMemory(): (received: Received) => Promise<number> {
  const seen = new Set<string>();
  return async ({ eventId }) => {
    if (seen.has(eventId.toLowerCase())) return 409;
    await new Promise((resolve) => setTimeout(resolve, 20));
    seen.add(eventId.toLowerCase());
    return 0;
  };
}

function answering200ToCopies(): (received: Received) => number {
  const seen = new Set<string>();
  return ({ eventId }) => {
    if (seen.has(eventId.toLowerCase())) return 200;
    seen.add(eventId.toLowerCase());
    return 0;
  };
}

export const LATE_BUGS: Bugs = {
  "json.dumps of the parsed body": [
    "as Python's json.dumps does: it parses the body and serialises it again",
    overBody((got) => again(got, dumps)),
  ],
  "json_encode of the parsed body": [
    "as PHP's json_encode does: it parses the body and serialises it again",
    overBody((got) => again(got, (value) => escaped(JSON.stringify(value)))),
  ],
  "another header": [
    "it reads X-Webhook-Signature where Webhook-Signature belongs",
    ({ present, ...steps }) => ({
      present: (got) => present({ ...got, signature: got.headers["x-webhook-signature"]?.toString() }),
      verify: (got) =>
        steps.sign(SECRET, steps.input(got)) === got.headers["x-webhook-signature"] ? 0 : 401,
    }),
  ],
  "200 to a copy": ["it answers a processed event id as a new one", () => ({ copy: answering200ToCopies() })],
  "401 for whatever is missing": [
    "It answers 401 and not 400 to a request without Webhook-Timestamp",
    ({ present }) => ({
      present: (got) => (got.timestamp && got.eventId && got.signature ? present(got) : 401),
    }),
  ],
  "one spelling of the type": [
    "it compares the whole header, and not the media type alone",
    () => ({
      type: ({ headers }) =>
        headers["content-type"] === undefined
          ? 400
          : headers["content-type"] === "application/json"
            ? 0
            : 415,
    }),
  ],
  "a limit of characters": [
    "It accepts a body of 65,537 bytes",
    () => ({ size: (got) => (text(got).length > 65_536 ? 413 : 0) }),
  ],
  "64,000 bytes": [
    "to a correct request of 65,536 bytes: its limit is lower",
    () => ({ size: ({ body }) => (body.length > 64_000 ? 413 : 0) }),
  ],
  "objects and lists alone": [
    "a body that is a text, not an object",
    (steps) => {
      const { json } = steps;
      return { json: (got) => (/^\s*[{[]/.test(text(got)) ? json(got) : 400) };
    },
  ],
  "its own time is signed": [
    "another timestamp than the one that was signed",
    overBody((got) => `${NOW / 1000}.${got.eventId}.${text(got)}`),
  ],
  "hex passes too": [
    "the correct signature in hexadecimal",
    verifyBy(
      (should, given) => given === should || given === Buffer.from(should, "base64url").toString("hex"),
    ),
  ],
  "a prefix passes too": [
    "the correct signature after sha256=",
    verifyBy((should, given) => given.replace(/^sha256=/, "") === should),
  ],
  "300,000 seconds": [
    "its window is wider than 5 minutes",
    timeBy((got) => whole(got) && Math.abs(ageOf(got)) <= 300_000),
  ],
  "it fails where the signature is missing": [
    "It answers 500 and not 401 to a request without Webhook-Signature",
    ({ present }) => ({
      present: async (got) => ((await present(got)) === 401 ? 500 : present(got)),
    }),
  ],
  "text += chunk": ["read as text piece by piece", overBody((got) => over(got, inPieces(got)))],
  "the body's text is verified": [
    "it verifies a text of the body, and not its bytes",
    overBody((got) => over(got, text(got))),
  ],
  "401 for what is no JSON": [
    "It answers 401 and not 400 to a body that is not JSON, correctly signed.",
    ({ json }) => ({ json: async (got) => ((await json(got)) === 0 ? 0 : 401) }),
  ],
  "the secret with a byte order mark": ["its secret begins with a byte order mark", keyed(`\uFEFF${SECRET}`)],
  "the secret's hash as the key": [
    "it hashes the secret, or keeps only its hash",
    keyed(createHash("sha256").update(SECRET).digest("hex")),
  ],
  "key and message swapped": [
    "it swaps the key and the message",
    () => ({ sign: (key, input) => createHmac("sha256", input).update(key).digest("base64url") }),
  ],
  "no type passes": [
    "It accepts a request without Content-Type",
    ({ type }) => ({ type: (got) => (got.headers["content-type"] ? type(got) : 0) }),
  ],
  "sha256(secret + text)": [
    "it computes a hash and no HMAC",
    () => ({ sign: (key, input) => createHash("sha256").update(key).update(input).digest("base64url") }),
  ],
  "422 for what is malformed": [
    "It answers 422 and not 400",
    (steps) => {
      const { present, time, id, json, type } = steps;
      const made =
        (step: typeof time): typeof time =>
        async (got) =>
          (await step(got)) === 400 ? 422 : step(got);
      return { present: made(present), time: made(time), id: made(id), json: made(json), type: made(type) };
    },
  ],
  "the hash of the body is signed": [
    "it verifies a hash of the body",
    overBody((got) => over(got, createHash("sha256").update(got.body).digest("hex"))),
  ],
  "a clock an hour ahead": [
    "its clock is ahead",
    timeBy((got) => whole(got) && Math.abs(ageOf(got) + 3_600) <= 300),
  ],
  "Standard Webhooks": [
    "as Standard Webhooks makes them: it verifies by that scheme",
    () => ({
      input: (got) => `${got.eventId}.${got.timestamp}.${text(got)}`,
      sign: (key, input) => `v1,${hmac(Buffer.from(String(key), "base64"), input).digest("base64")}`,
    }),
  ],
  "copies at the same time": ["five copies of one event at the same time", () => ({ copy: slowMemory() })],
};

const now = NOW / 1000;

export const LATE_TOKEN_BUGS: Bugs = {
  "signatures in DER": [
    "it verifies DER and not 64 bytes",
    tokens({
      isSigned: ({ input, signature }) => {
        try {
          return verifySignature(
            "sha256",
            Buffer.from(input),
            { key: publicKey, dsaEncoding: "der" },
            signature,
          );
        } catch {
          return false;
        }
      },
    }),
  ],
  "a minute": [
    "it demands a shorter life than 10 minutes",
    claims({ exp: (exp) => Number(exp) > now && Number(exp) <= now + 60 }),
  ],
  "the hash with padding": [
    "it compares base64url with =",
    claims({ htb_s256: (hash, { body }) => hash === `${sha256(body)}=` }),
  ],
  "htm in small letters": ["it compares htm in lower case", claims({ htm: (htm) => htm === "post" })],
  "sub without https": ["whose sub has no scheme", claims({ sub: (sub, got) => sub === got.headers.host })],
  "five minutes after the end": [
    "It accepts a token that expires now",
    claims({
      exp: (exp) => Number.isSafeInteger(exp) && Number(exp) > now - 300 && Number(exp) <= now + 600,
    }),
  ],
  "the hash's hex in base64url": [
    "it encodes the hex text once more",
    claims({
      htb_s256: (hash, { body }) =>
        hash === Buffer.from(createHash("sha256").update(body).digest("hex")).toString("base64url"),
    }),
  ],
  "it fails at what is no token": [
    "It answers 500 and not 401 to a token that is a word",
    tokens(
      { tokenOf: (header) => RIGHT.tokenOf(header) },
      {
        present: (got) => {
          if (!got.timestamp || !got.eventId) return 400;
          const token = /^bearer (\S+)$/i.exec(got.headers.authorization ?? "")?.[1];
          if (token === undefined) return 401;
          try {
            for (const part of token.split(".").slice(0, 2))
              JSON.parse(Buffer.from(part, "base64url").toString());
            return token.split(".").length === 3 ? 0 : 500;
          } catch {
            return 500;
          }
        },
      },
    ),
  ],
  "exp as a text": [
    "It accepts a token whose exp is a text",
    claims({ exp: (exp) => Number(exp) > now && Number(exp) <= now + 600 }),
  ],
  "no kid": [
    "It accepts a token without kid",
    tokens({
      headerIsFine: ({ kid = SIGNING_KEY.kid, ...header }) => RIGHT.headerIsFine({ ...header, kid }),
    }),
  ],
  "copies by their token": [
    "it answers a processed event id as a new one",
    tokens({}, { nameOf: ({ headers }) => headers.authorization ?? "" }),
  ],
};
