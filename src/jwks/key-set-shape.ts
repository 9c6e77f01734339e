// How large a key set may be, what people serve in place of one, and misspelt keys.

import { decodeBase64url, decodeUtf8, isBase64url, NO_TEXT } from "../core/bytes.js";
import { onlyValue } from "../core/headers.js";
import { isObject } from "../core/json.js";
import { shown } from "../core/shown.js";
import type { TransportResponse } from "../http/transport.js";
import { isAlgorithm } from "../jwt/algorithms.js";

/** A key set with more keys is refused. */
export const MAX_KEY_SET_KEYS = 50;

/** What people serve in place of a key set. */
export type OtherShape =
  | "list"
  | "key"
  | "page"
  | "pem"
  | "text"
  | "configuration"
  | "wrapped"
  | "map"
  | "other";

const WORDS: Readonly<Record<OtherShape, string>> = {
  list: 'it is a bare list; write { "keys": [ … ] } around it',
  key: 'it is a single key; write { "keys": [ … ] } around it',
  page: "it is an HTML page, such as a login or an error page",
  pem: "it is PEM, and listeners read JWK",
  text: "it is a JSON text inside of a text: it was serialised twice",
  configuration: "it is an OpenID configuration; the key set is at its jwks_uri",
  wrapped: "the key set is inside of another member",
  map: "keys is not a list, or the keys are members of an object by their kid",
  other: "",
};

/** What a document is that has no list of keys; `undefined` if it has one. Takes texts that are no JSON as well. */
export function otherShapeOf(document: unknown): OtherShape | undefined {
  if (typeof document === "string") return shapeOfText(document);
  if (Array.isArray(document)) return "list";
  if (!isObject(document)) return "other";
  if (Array.isArray(document.keys)) return undefined;
  if ("kty" in document) return "key";
  if (typeof document.jwks_uri === "string") return "configuration";
  const inside = Object.values(document).slice(0, 50).filter(isObject);
  if (inside.some(({ keys }) => Array.isArray(keys))) return "wrapped";
  const isMap = isObject(document.keys) || inside.some((one) => "kty" in one);
  return isMap || isCertificates(document) ? "map" : "other";
}

/** The same in words, to stand behind a colon; empty if nothing more is known. */
export function wordsOfShape(document: unknown): string {
  const shape = otherShapeOf(document);
  return shape === undefined || shape === "other" ? "" : `: ${WORDS[shape]}`;
}

/**
 * Why an answer with status 200 is no JSON, as far as its first bytes and `Content-Encoding` show it: "not JSON: it is
 * empty". Gzip is unpacked before, so what still begins as gzip could not be.
 */
export function whyNoJson({ body, headers }: Pick<TransportResponse, "body" | "headers">): string {
  if (body.length === 0) return "not JSON: it is empty";
  if (startsWith(body, [0x1f, 0x8b])) return "not JSON: its gzip is damaged, cut off, or in gzip once more";
  if (startsWith(body, UTF8_MARK)) return "not JSON: it begins with a byte order mark";
  const isMarked = startsWith(body, [0xff, 0xfe]) || startsWith(body, [0xfe, 0xff]);
  if (isMarked || body.subarray(0, 2).includes(0)) return `not JSON: it ${NO_TEXT}`;
  if (decodeUtf8(body) !== undefined)
    return `not JSON${wordsOfShape(new TextDecoder().decode(body.subarray(0, 200)))}`;
  const coding = onlyValue(headers, "content-encoding");
  return coding === undefined || /^(?:x-)?gzip$|^identity$/i.test(coding)
    ? "not UTF-8"
    : `not JSON: it is compressed as ${shown(coding, 20)}, and only gzip was asked for`;
}

const UTF8_MARK = [0xef, 0xbb, 0xbf];

function startsWith(bytes: Uint8Array, start: readonly number[]): boolean {
  return start.every((byte, index) => bytes[index] === byte);
}

function shapeOfText(text: string): OtherShape {
  const start = text.slice(0, 200).trimStart();
  if (start.startsWith("<")) return "page";
  if (start.startsWith("-----BEGIN")) return "pem";
  try {
    return isObject(JSON.parse(text)) ? "text" : "other";
  } catch {
    return "other";
  }
}

function isCertificates(document: Readonly<Record<string, unknown>>): boolean {
  return Object.values(document).some((one) => typeof one === "string" && one.startsWith("-----BEGIN"));
}

/** The members that hold a public key's numbers, in base64url. */
const NUMBERS = ["n", "e", "x", "y"] as const;

/** The characters of 32 octets, which a coordinate of P-256 and a key of Ed25519 have, zeros in front included. */
const COORDINATE_LENGTH = 43;

type Key = Readonly<Record<string, unknown>>;

/** Base64url of so many random octets has other characters as well. */
const HEX = /^(?:[0-9a-f]{64,}|[0-9A-F]{64,})$/;

/** The members of which readers of any language expect a text. */
const TEXTS = ["kty", "use", "alg", "kid", "crv", ...NUMBERS] as const;

/** Whether a member is of another type than RFC 7517 says, for which some readers refuse the whole set. */
export function hasOtherTypes(jwk: Key): boolean {
  const isText = (value: unknown) => typeof value === "string";
  const isTexts = (value: unknown) => value === undefined || (Array.isArray(value) && value.every(isText));
  return !TEXTS.every((name) => jwk[name] === undefined || isText(jwk[name])) || !isTexts(jwk.key_ops);
}

/** Whether a modulus is even, as none of RSA is; a text that cannot be read is not. */
export function hasEvenModulus({ n }: Key): boolean {
  const last = typeof n === "string" ? decodeBase64url(n)?.at(-1) : undefined;
  return last !== undefined && last % 2 === 0;
}

/** What is wrong with the spelling of a key's numbers (RFC 7518, 2 and 6); `undefined` if nothing is. */
export function misspellingOf(jwk: Key): string | undefined {
  for (const name of NUMBERS) {
    const text = jwk[name];
    if (text === undefined) continue;
    if (typeof text !== "string") return `${name} is no text`;
    if (HEX.test(text)) return `${name} is written in hex and not in base64url`;
    if (text.endsWith("=")) return `${name} is padded with =`;
    if (/[+/]/.test(text)) return `${name} is standard base64 and not base64url`;
    if (!isBase64url(text)) return `${name} is not base64url`;
    const isNumber = name === "n" || name === "e";
    if (isNumber && text.startsWith("A") && decodeBase64url(text)?.[0] === 0)
      return `${name} begins with a zero octet`;
    if (!isNumber && isAlgorithm(jwk.alg) && text.length !== COORDINATE_LENGTH)
      return `${name} is not of 32 octets`;
  }
  return undefined;
}

/** Whether the certificate of a key is another key's; a key without one has the right one. */
export function hasOtherCertificate(jwk: Key): boolean {
  if (jwk.x5c === undefined) return false;
  const [first] = Array.isArray(jwk.x5c) ? jwk.x5c : [];
  const certificate = typeof first === "string" ? fromBase64(first) : undefined;
  const key = certificate && publicKeyOf(certificate);
  if (key === undefined) return true;
  // The key's numbers stand in the certificate as they are, whatever the algorithm.
  const written = latin1(key);
  const numbers = jwk.kty === "RSA" ? [jwk.n] : [jwk.x, jwk.y].filter((one) => one !== undefined);
  return !numbers.every((one) => {
    const bytes = typeof one === "string" ? decodeBase64url(one) : undefined;
    // A number that cannot be read is another rule's.
    return bytes === undefined || written.includes(latin1(bytes));
  });
}

/** A key set has 64 KiB at most, and so have its certificates. */
const MAX_CERTIFICATE_LENGTH = 65_536;

/** A certificate is standard base64 (RFC 7517, 4.7). */
function fromBase64(text: string): Uint8Array | undefined {
  if (text.length > MAX_CERTIFICATE_LENGTH) return undefined;
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** The subject's public key in a certificate: the first sequence behind the two names and the validity. */
function publicKeyOf(certificate: Uint8Array): Uint8Array | undefined {
  const outer = elementAt(certificate, 0);
  const signed = outer && elementAt(certificate, outer.start);
  if (signed === undefined) return undefined;
  let at = signed.start;
  // version (if any), serial number, algorithm, issuer, validity, subject
  const before = certificate[at] === 0xa0 ? 6 : 5;
  for (let count = 0; count < before; count++) {
    const element = elementAt(certificate, at);
    if (element === undefined) return undefined;
    at = element.end;
  }
  const key = elementAt(certificate, at);
  return key && certificate.subarray(key.start, key.end);
}

/** One element of DER: where its content begins and ends. */
function elementAt(bytes: Uint8Array, at: number): { start: number; end: number } | undefined {
  const first = bytes[at + 1];
  if (first === undefined) return undefined;
  const more = first < 0x80 ? 0 : first & 0x7f;
  if (more > 3) return undefined;
  let length = more === 0 ? first : 0;
  for (let index = 0; index < more; index++) length = length * 256 + (bytes[at + 2 + index] ?? 0);
  const start = at + 2 + more;
  return start + length <= bytes.length ? { start, end: start + length } : undefined;
}

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}
