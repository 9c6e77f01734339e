// Listeners with one bug each, the third set: written from the specification, before a look at the probes.
import { createHash, createHmac } from "node:crypto";
import {
  again,
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
import { claims, RIGHT, SIGNING_KEY, sha256, tokens } from "./token-listeners.js";

type Bugs = Readonly<Record<string, readonly [words: string, Bug]>>;

export const inBase64 = (key: string | Buffer, input: string | Buffer) =>
  createHmac("sha256", key).update(input).digest("base64").replace("=", "");
const now = NOW / 1000;

/** A value with the members of every object in the order of their names. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, sorted(member)]));
}

/** Copies as a listener sees them that tells events apart by this name alone, and answers a copy so. */
function copies(answer: number, nameOf: (received: Received) => string = ({ eventId }) => eventId): Bug {
  return () => {
    const seen = new Set<string>();
    return {
      copy: (received) => {
        const name = nameOf(received);
        if (seen.has(name)) return answer;
        seen.add(name);
        return 0;
      },
    };
  };
}

const signedOver =
  (input: (received: Received) => string): Bug =>
  () => ({ input });
const idBy =
  (pattern: RegExp): Bug =>
  () => ({ id: ({ eventId }) => (pattern.test(eventId) ? 0 : 400) });

/** Each bug with words of the sentence that names it. */
export const NEWEST_BUGS: Bugs = {
  "the first of + and / replaced": [
    "more than once: it replaces only the first",
    () => ({ sign: (key, input) => inBase64(key, input).replace("+", "-").replace("/", "_") }),
  ],
  "/ not replaced": [
    "refuses those that have _:",
    () => ({ sign: (key, input) => inBase64(key, input).replaceAll("+", "-") }),
  ],
  "+ not replaced": [
    "refuses those that have -:",
    () => ({ sign: (key, input) => inBase64(key, input).replaceAll("/", "_") }),
  ],
  "the alphabet of base64": ["compares base64 with base64url", () => ({ sign: inBase64 })],
  "hex in base64url": [
    "base64 of hex",
    () => ({
      sign: (key, input) =>
        Buffer.from(createHmac("sha256", key).update(input).digest("hex")).toString("base64url"),
    }),
  ],
  "a column of 32 characters": ["a part of the secret", keyed(SECRET.slice(0, 32))],
  "question marks": [
    "reads the body as ASCII",
    overBody((got) => over(got, text(got).replace(/[^\0-\x7f]/g, "?"))),
  ],
  "UUIDs of version 7": ["accepts a UUID of version 7", idBy(/^[0-9a-f]{8}-[0-9a-f]{4}-7/i)],
  "copies by id and time": [
    "answers a processed event id as a new one",
    copies(409, (got) => got.eventId + got.timestamp),
  ],
  "the last id alone": [
    "answers a processed event id as a new one",
    () => {
      let last = "";
      return {
        copy: ({ eventId }) => {
          if (eventId === last) return 409;
          last = eventId;
          return 0;
        },
      };
    },
  ],
  "422 for a copy": ["422 and not 409", copies(422)],
  "500 for a copy, by a unique key": ["500 and not 409", copies(500)],
  "500 for every wrong proof": [
    "as where the verification throws and nobody catches it",
    (steps) => ({
      present: (got) => (got.timestamp && got.eventId ? 0 : 400),
      verify: (got) => (steps.sign(steps.key(), steps.input(got)) === got.signature ? 0 : 500),
    }),
  ],
  "keys in order": [
    "sorts its keys",
    overBody((got) => again(got, (value) => JSON.stringify(sorted(value)))),
  ],
  "Latin-1": ["as Latin-1", overBody((got) => over(got, got.body.toString("latin1")))],
  "a gateway's base64": ["base64", overBody((got) => over(got, got.body.toString("base64")))],
  "no white space": ["was not signed", overBody((got) => over(got, text(got).replace(/\s+/g, "")))],
  "a line break at the end": ["adds a line break", overBody((got) => over(got, `${text(got)}\n`))],
  "the consumed body": ["the body is consumed", overBody((got) => over(got, ""))],
  "the id without hyphens": [
    "removes the hyphens",
    signedOver((got) => `${got.timestamp}.${got.eventId.replaceAll("-", "")}.${text(got)}`),
  ],
  "the time as a float": [
    "with decimals",
    signedOver((got) => `${Number(got.timestamp).toFixed(1)}.${got.eventId}.${text(got)}`),
  ],
  "the time in milliseconds": [
    "into milliseconds",
    signedOver((got) => `${Number(got.timestamp) * 1000}.${got.eventId}.${text(got)}`),
  ],
  "line breaks between the parts": [
    "another separator",
    signedOver((got) => `${got.timestamp}\n${got.eventId}\n${text(got)}`),
  ],
  "nothing between the parts": [
    "without a separator",
    signedOver((got) => `${got.timestamp}${got.eventId}${text(got)}`),
  ],
  "the time left out": ["leaves the timestamp out", signedOver((got) => `${got.eventId}.${text(got)}`)],
  "NaN is no age": [
    "a text that is no number passes",
    () => ({ time: ({ timestamp }) => (Math.abs(now - Number(timestamp)) > 300 ? 400 : 0) }),
  ],
  "a window of ten minutes": [
    "301 s old",
    timeBy((got) => whole(got) && Math.abs(now - Number(got.timestamp)) <= 600),
  ],
  "401 for an old one": [
    "401 and not 400",
    () => ({ time: (got) => (whole(got) && Math.abs(now - Number(got.timestamp)) <= 300 ? 0 : 401) }),
  ],
  "an id with more around it": [
    "UUID in braces",
    idBy(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/i),
  ],
  "any variant": [
    "another variant",
    idBy(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/i),
  ],
  "a part of the signature": [
    "without its last character",
    verifyBy((should, given) => should.includes(given)),
  ],
  "a list of signatures": ["after v1,", verifyBy((should, given) => given.split(",").includes(should))],
  "204 for a right one": ["204 and not 200", () => ({ run: () => 204 })],
  "any method": ["with PUT instead of POST", () => ({ method: () => 0 })],
  "any listener": ["a listener id that does not exist", () => ({ path: () => 0 })],
};

const after = (pattern: RegExp): Bug =>
  tokens({ tokenOf: (authorization) => pattern.exec(authorization)?.[1] });

export const NEWEST_TOKEN_BUGS: Bugs = {
  "500 for every wrong one": [
    "as where the verification throws and nobody catches it",
    tokens({ mismatch: 500, refusal: 500 }),
  ],
  "nbf is wanted": ["tokens with nbf", claims({ nbf: (nbf) => typeof nbf === "number" })],
  "iat is wanted": ["tokens with iat", claims({ iat: (iat) => typeof iat === "number" })],
  "iss is wanted": ["tokens with iss", claims({ iss: (iss) => typeof iss === "string" })],
  "a minute after the end": [
    "expires now",
    claims({ exp: (exp) => Number.isSafeInteger(exp) && Number(exp) > now - 60 && Number(exp) <= now + 600 }),
  ],
  "eleven minutes": [
    "expires in 601 s",
    claims({ exp: (exp) => Number.isSafeInteger(exp) && Number(exp) > now && Number(exp) <= now + 660 }),
  ],
  "two minutes": [
    "a shorter life",
    claims({ exp: (exp) => Number.isSafeInteger(exp) && Number(exp) > now && Number(exp) <= now + 120 }),
  ],
  "the end of aud": [
    "the same path on another host",
    claims({ aud: (aud) => String(aud).endsWith("/lst_1") }),
  ],
  "aud as a list": ["a list in aud", claims({ aud: (aud) => Array.isArray(aud) })],
  "aud with https": [
    "aud has another scheme",
    claims({ aud: (aud, { headers }) => aud === `https://${headers.host}/api/v1/webhooks/incoming/lst_1` }),
  ],
  "the beginning of sub": [
    "sub ends in a slash",
    claims({ sub: (sub, { headers }) => String(sub).startsWith(`http://${headers.host}`) }),
  ],
  "sub is the host": ["sub has no scheme", claims({ sub: (sub, { headers }) => sub === headers.host })],
  "jti where it is there": [
    "jti only where it is there",
    claims({ jti: (jti, { eventId }) => jti === undefined || jti === eventId }),
  ],
  "SHA-512 of the body": [
    "with SHA-512",
    claims({ htb_s256: (hash, { body }) => hash === createHash("sha512").update(body).digest("base64url") }),
  ],
  "the hash of a trimmed body": [
    "trims the body",
    claims({ htb_s256: (hash, got) => hash === sha256(text(got).trim()) }),
  ],
  "the hash of Latin-1": [
    "as Latin-1",
    claims({ htb_s256: (hash, { body }) => hash === sha256(body.toString("latin1")) }),
  ],
  "eight characters of the hash": [
    "htb_s256 is padded",
    claims({ htb_s256: (hash, { body }) => String(hash).slice(0, 8) === sha256(body).slice(0, 8) }),
  ],
  "any scheme": ["after Basic", after(/^\w+ ([^ ,]+)$/)],
  "no scheme": ["without Bearer", after(/^(?:bearer )?([^ ,]+)$/i)],
  "no alg": [
    "without alg",
    tokens({ headerIsFine: (header) => RIGHT.headerIsFine({ ...header, alg: "ES256" }) }),
  ],
  "a kid of its own": [
    "a kid that is not in the key set",
    tokens({ headerIsFine: (header) => RIGHT.headerIsFine({ ...header, kid: SIGNING_KEY.kid }) }),
  ],
};

/** What answers every request alike, and words of what is said of it. */
export const NEWEST_ELSE: Readonly<Record<string, readonly [words: string, status: number, body: string]>> = {
  "API Gateway before a function": [
    "what the function answered",
    502,
    '{"message": "Internal server error"}',
  ],
  "a mesh": [
    "does not reach the application",
    503,
    "upstream connect error or disconnect/reset before headers",
  ],
  "Spring's filters": [
    "Spring Security",
    403,
    '{"timestamp":"2026-01-01T00:00:00.000+00:00","status":403,"error":"Forbidden","path":"/a"}',
  ],
  "FastAPI's models": [
    "the framework's validation",
    422,
    '{"detail":[{"type":"missing","loc":["body","name"],"msg":"Field required"}]}',
  ],
  "ASP.NET's models": [
    "the framework's validation",
    400,
    '{"title":"One or more validation errors occurred."}',
  ],
  "a parser of forms": ["no application/json at this address", 415, '{"error":"Unsupported Media Type"}'],
  "Cloud Run": [
    "asks for a login of its own",
    403,
    "<html><h2>Your client does not have permission to get URL <code>/a</code>.</h2></html>",
  ],
  "an identity proxy": ["asks for a login of its own", 401, "Invalid IAP credentials: empty token"],
  "a tunnel's page": [
    "asks for a login of its own",
    401,
    "<html><title>Tunnel website ahead!</title></html>",
  ],
};
