// Reads private keys from the texts that people have them in, and makes them canonical.

import type { JWK } from "jose";
import { concatBytes, decodeUtf8, encodeBase64url, NO_TEXT } from "../core/bytes.js";
import type { HookproofError } from "../core/errors.js";
import { isObject } from "../core/json.js";
import { shown } from "../core/shown.js";
import {
  DAMAGED,
  encrypted,
  latin1,
  PUBLIC,
  type ReadKey,
  readDer,
  refuseBytes,
  SEQUENCE,
} from "./key-der.js";
import { unfitKey } from "./unfit-key.js";

/** No key is longer, and no text that has one should be. */
const MAX_LENGTH = 262_144;

/**
 * Reads a private key: a PEM (PKCS#8, PKCS#1 or SEC1) or a JWK, as it is or in quotes, with `\n` written out, inside the
 * JSON of a service account (`private_key`), a line of .env, YAML, or base64; the bytes of a file with any of them, or with
 * the key in DER; and Node's KeyObject.
 *
 * @throws {HookproofError} KEY_UNFIT with the reason, which never repeats the key
 */
export function readKey(material: string | JWK | Uint8Array): ReadKey {
  if (typeof material === "string") return readText(material, 0);
  return ArrayBuffer.isView(material) ? readBytes(material) : readMembers(material, 0);
}

function readBytes({ buffer, byteOffset, byteLength }: ArrayBufferView): ReadKey {
  const bytes = new Uint8Array(buffer, byteOffset, byteLength);
  const text = decodeUtf8(bytes);
  if (text !== undefined && !text.includes("\0")) return readText(text, 0);
  if (bytes[0] === SEQUENCE) return readDer(bytes);
  refuseBytes(bytes);
  throw unfitKey(NO_TEXT);
}

const NO_KEY = "is neither a PEM nor the JSON of a JWK";

function readText(text: string, depth: number): ReadKey {
  if (text.length > MAX_LENGTH) throw unfitKey(`is longer than ${MAX_LENGTH} characters, and so is no key`);
  if (text.includes("\0")) throw unfitKey(NO_TEXT);
  const plain = text.replace(/^\uFEFF/, "").trim();
  if (plain === "") throw unfitKey("is an empty text");
  if (depth > 4) throw unfitKey(NO_KEY);
  const value = plain.includes("-----BEGIN ") ? plain : withoutQuotes(withoutName(plain));
  const whole = jsonOf(value);
  const json = whole === undefined ? jwkAmong(plain) : whole;
  if (isLines(json)) return readText(json.join("\n"), depth + 1);
  if (json !== undefined)
    return typeof json === "string" ? readText(json, depth + 1) : readMembers(json, depth + 1);
  if (plain.includes("-----BEGIN ")) return readPem(plain);
  if (/-----BEGIN(?:%20|\+)/.test(plain)) return readText(fromUrl(plain), depth + 1);
  const { keys, refusal } = keysAmong(plain, depth);
  if (keys.length > 1) throw unfitKey(SEVERAL);
  const key = readHex(plain) ?? keys[0] ?? readBase64(value, depth);
  if (key) return key;
  throw refusal ?? refusedText(value, plain);
}

const SEVERAL = "is one of several private keys in the text; give one alone";

/** The keys of lines such as `NAME=value`, as a file of .env, YAML or a Secret has them; other lines may be no key. */
function keysAmong(text: string, depth: number): { keys: ReadKey[]; refusal: unknown } {
  const keys: ReadKey[] = [];
  let refusal: unknown;
  for (const line of text.split("\n", MAX_LINES)) {
    const named = line.trim();
    const value = withoutQuotes(withoutName(named));
    if (value === named || value.length < MIN_LENGTH) continue;
    try {
      const key = readHex(value) ?? readBase64(value, depth);
      if (key) keys.push(key);
    } catch (error) {
      refusal ??= error; // of a certificate, or of the first of several lines
    }
  }
  return { keys, refusal };
}

/** Of the base64 of the shortest key in DER, Ed25519's, the half. */
const MIN_LENGTH = 32;

/** More than any file of settings has. */
const MAX_LINES = 1_000;

/** DER as `xxd -p` writes it. */
function readHex(text: string): ReadKey | undefined {
  const digits = text.replace(/[\s:]/g, "");
  if (digits.length % 2 !== 0 || !/^[\da-f]+$/i.test(digits)) return undefined;
  const bytes = Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  if (bytes[0] === SEQUENCE) return readDer(bytes);
  refuseBytes(bytes);
  return undefined;
}

/** `NAME=value` of .env, `export NAME=value` of a shell, `name: value` of YAML; padding of base64 is no value. */
function withoutName(text: string): string {
  const end = text.search(/[=:]/);
  const name = text.slice(0, Math.max(end, 0)).trim();
  const value = text.slice(end + 1).trim();
  return /^(?:export\s)?\s*[\w.-]+$/.test(name) && value !== "" && value !== "=" ? value : text;
}

function withoutQuotes(text: string): string {
  const [quote = ""] = text;
  return text.length > 1 && "\"'`".includes(quote) && text.endsWith(quote) ? text.slice(1, -1) : text;
}

/** The value of JSON, also where its quotes are escaped; nothing for other texts, and for a bare word or number. */
function jsonOf(text: string): unknown {
  if (!/^["{[]|^null$|^\d+$/.test(text)) return undefined;
  try {
    return JSON.parse(text.startsWith('{\\"') ? `"${text}"` : text) as unknown;
  } catch {
    return undefined;
  }
}

/** A JWK next to other lines, as a file of .env has them. */
function jwkAmong(text: string): unknown {
  const start = text.lastIndexOf("{", text.search(/"kty\\?"/));
  return start > 0 ? jsonOf(text.slice(start, text.indexOf("}", start) + 1)) : undefined;
}

/** A PEM as a list of its lines, as some tools keep texts in JSON. */
function isLines(json: unknown): json is string[] {
  return Array.isArray(json) && json.length > 1 && json.every((line) => typeof line === "string");
}

/** A PEM as it stands in a URL or a form. */
function fromUrl(text: string): string {
  try {
    return decodeURIComponent(text.includes("BEGIN+") ? text.replaceAll("+", "%20") : text);
  } catch {
    throw unfitKey(DAMAGED);
  }
}

const MEMBERS_WITH_KEYS = ["private_key", "privateKey"];

function readMembers(given: unknown, depth: number): ReadKey {
  if (!isObject(given)) throw unfitKey("is not a JWK");
  const members = given;
  if (typeof members.then === "function") throw unfitKey("is a Promise: await it");
  if (typeof members.export === "function" && depth === 0) return readMembers(exported(members), 1);
  if ("keys" in members) throw unfitKey("is a key set; bring one key of it");
  if (members.kty === undefined)
    for (const name of MEMBERS_WITH_KEYS) {
      const inner = members[name];
      if (typeof inner === "string") return readText(inner, depth + 1);
      if (typeof inner === "object" && inner !== null && depth < 4) return readMembers(inner, depth + 1);
    }
  if (members.kty === undefined)
    throw unfitKey(`is JSON, but no JWK: it has neither kty nor ${MEMBERS_WITH_KEYS[0]}`);
  if (members.d === undefined && members.kty !== "oct") throw unfitKey(PUBLIC);
  return { form: "jwk", jwk: canonicalJwk(members as unknown as JWK) };
}

/** The JWK of a KeyObject of Node. */
function exported(key: Readonly<Record<string, unknown>>): unknown {
  if (key.type === "public") throw unfitKey(PUBLIC);
  if (key.type === "secret") throw unfitKey("is symmetric");
  try {
    return { ...(key as unknown as { export(options: object): object }).export({ format: "jwk" }) };
  } catch {
    throw unfitKey("is an object that gives no JWK");
  }
}

function refusedText(text: string, whole: string): HookproofError {
  if (/^(?:ssh-|ecdsa-)\S+ AAAA/.test(text))
    return unfitKey("is a public key of OpenSSH; signing needs the private one");
  if (/^\S+\.(?:pem|key|json|jwk|p8|der|p12|pfx)$/.test(text) || /^(?:~|\.{0,2})\/\S+$/.test(text))
    return unfitKey("is the name of a file; give what is in it");
  if (/BEGIN\s(?:[A-Z0-9]{1,20}\s){0,3}PRIVATE\sKEY/.test(text))
    return unfitKey(
      "has BEGIN … PRIVATE KEY without five hyphens and plain spaces around it; a text program has changed them",
    );
  if (whole.startsWith("PuTTY-User-Key-File"))
    return unfitKey("is in PuTTY's own form, which is not read: export it as a PEM");
  if (text.startsWith("<RSAKeyValue"))
    return unfitKey("is in .NET's XML, which is not read: export it as a PEM");
  return unfitKey(NO_KEY);
}

/** Base64 of a PEM, of a JWK, or of the bytes of a key; also as one of several lines, as in a Secret of Kubernetes. */
function readBase64(text: string, depth: number): ReadKey | undefined {
  const start = text.indexOf(PEM_IN_BASE64);
  const [base64 = ""] = /^[\w+/\s-]*/.exec(text.slice(Math.max(start, 0)).replace(/\\[rn]/g, "")) ?? [];
  if (start < 0 && withoutPadding(text.replace(/\\[rn]/g, "")) !== base64.trimEnd()) return undefined;
  const characters = base64.replace(/\s/g, "");
  // What follows on the next line may leave one character too many.
  const isOdd = start >= 0 && characters.length % 4 === 1;
  const bytes = bytesOf(isOdd ? characters.slice(0, -1) : characters);
  if (bytes?.[0] === SEQUENCE) return readDer(bytes);
  if (bytes) refuseBytes(bytes);
  // Bytes of a line that follows the key's are behind its end.
  const inner = bytes && (start < 0 ? decodeUtf8(bytes) : throughEnd(latin1(bytes)));
  const isKey = /^\uFEFF?\s*(?:-----BEGIN |\{|LS0tLS1CRUdJTi)/.test(inner ?? "");
  return isKey ? readText(inner ?? "", depth + 1) : undefined;
}

function throughEnd(pem: string): string {
  const end = pem.indexOf("-----", pem.lastIndexOf("-----END ") + 9);
  return end < 0 ? pem : pem.slice(0, end + 5);
}

/** An expression would begin again at each of many such characters. */
function withoutPadding(text: string): string {
  let end = text.length;
  while (end > 0 && "= \t\r\n".includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** What every PEM begins with, in base64. */
const PEM_IN_BASE64 = "LS0tLS1CRUdJTi";

/** The bytes of base64 in either alphabet, with padding or without; nothing for other texts. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> | undefined {
  const standard = text.replaceAll("-", "+").replaceAll("_", "/");
  try {
    return Uint8Array.from(atob(standard), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

interface Block {
  readonly label: string;
  readonly body: string;
}

/** The blocks of a PEM text; what stands around them (names, indents, attributes) is not looked at. */
function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  for (const { 0: line, 1: label = "", index } of text.matchAll(/-----BEGIN ([A-Z0-9 ]{1,64})-----/g)) {
    const start = index + line.length;
    const end = text.indexOf(`-----END ${label}-----`, start);
    if (end < 0)
      throw unfitKey(
        `is cut off: it has BEGIN ${label} and no END. In .env it stands in quotes, with its lines or with \\n between them`,
      );
    blocks.push({ label, body: text.slice(start, end) });
  }
  return blocks;
}

function readPem(text: string): ReadKey {
  const blocks = blocksOf(text);
  const [block, another] = blocks.filter(({ label }) => label.endsWith("PRIVATE KEY"));
  if (block === undefined) {
    const labels = blocks.map(({ label }) => label).join(", ");
    if (/PUBLIC KEY|CERTIFICATE/.test(labels)) throw unfitKey(`${PUBLIC} (the PEM has ${labels})`);
    throw unfitKey(`cannot be read: the PEM has no private key, but ${labels}`);
  }
  if (another !== undefined) throw unfitKey(SEVERAL);
  const lines = block.body
    .replace(/\\+(?:r|u000d)/g, "")
    .replace(/\\+(?:n|u000a)/g, "\n")
    .replace(/\\+u003d/gi, "") // as Gson and Go write = in JSON
    .replace(/\\+u002b/gi, "+")
    .replace(/\\+u002f/gi, "/")
    .split(/\r?\n/);
  const isOfOldForm = lines.some((line) => /^\s*Proc-Type:.*ENCRYPTED/.test(line));
  if (isOfOldForm || block.label === "ENCRYPTED PRIVATE KEY") return encrypted(block.label, lines);
  const base64 = lines.join("").replace(/[\\\s"'=]/g, "");
  const bytes = bytesOf(base64);
  if (bytes === undefined) throw unfitKey(damaged(base64));
  if (block.label === "OPENSSH PRIVATE KEY") throw unfitKey(ofOpenSsh(bytes));
  return readDer(bytes);
}

function damaged(base64: string): string {
  const [other] = /[^\w+/-]/u.exec(base64) ?? [];
  if (other === undefined) return DAMAGED;
  return `cannot be read: the PEM has ${shown(other)} in it, which is no base64; its lines end with a line break, or with \\n`;
}

/** The kind of the key stands in it unencrypted. What works was tried with OpenSSH 9.2 and OpenSSL 3.0. */
function ofOpenSsh(bytes: Uint8Array): string {
  if (latin1(bytes.subarray(0, 400)).includes("ssh-ed25519"))
    return "is an Ed25519 key in OpenSSH's own form, which neither ssh-keygen nor openssl converts; make another: openssl genpkey -algorithm ed25519 -out key.pem";
  return "is in OpenSSH's own form; convert a copy of it, which is changed in place: ssh-keygen -p -m PKCS8 -f key";
}

/** The members that are bytes or numbers in base64url, for every kind of key (RFC 7518 section 6, RFC 8037). */
const NUMBERS = ["n", "e", "d", "p", "q", "dp", "dq", "qi"] as const;
const OF_32_OCTETS = ["x", "y", "d"] as const;

/** Other spellings of P-256 that other tools write. */
const P256 = /^(?:p-?256|prime256v1|secp256r1)$/i;

/**
 * The same key as RFC 7518 writes it: base64url without padding, numbers of RSA without leading zeros, coordinates of
 * P-256 with 32 octets, `EdDSA` where WebCrypto writes `Ed25519` (RFC 9864), and kinds and curves by their own names.
 *
 * @throws {HookproofError} KEY_UNFIT for a member that is no such number
 */
export function canonicalJwk(jwk: JWK): JWK {
  const canonical: Record<string, unknown> = { ...jwk };
  const { kty: kind, crv: curve }: { kty?: unknown; crv?: unknown } = jwk; // of strangers: of any type
  if (typeof kind === "string" && /^(?:rsa|ec|okp)$/i.test(kind)) canonical.kty = kind.toUpperCase();
  if (typeof curve === "string" && P256.test(curve)) canonical.crv = "P-256";
  const { kty, crv } = canonical;
  if (kty === "OKP" && jwk.alg === "Ed25519") canonical.alg = "EdDSA";
  const isFixed = (kty === "EC" && crv === "P-256") || (kty === "OKP" && crv === "Ed25519");
  const names = kty === "RSA" ? NUMBERS : isFixed ? OF_32_OCTETS : [];
  for (const name of names) {
    const text = canonical[name];
    if (text === undefined) continue;
    const bytes = typeof text === "string" ? bytesOf(text.replace(/[\s=]/g, "")) : undefined;
    if (bytes === undefined || bytes.length === 0)
      throw unfitKey(`has a member ${name} that is not base64url`);
    canonical[name] = encodeBase64url(kty === "RSA" ? minimal(bytes) : of32Octets(name, bytes, kty === "EC"));
  }
  return canonical as unknown as JWK;
}

function minimal(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte !== 0);
  return bytes.subarray(first < 0 ? bytes.length - 1 : first);
}

/** Leading zeros of a number mean nothing; the octets of Ed25519 are no number. */
function of32Octets(name: string, bytes: Uint8Array, isNumber: boolean): Uint8Array {
  const kept = isNumber ? minimal(bytes) : bytes;
  if (kept.length > 32 || (kept.length < 32 && !isNumber))
    throw unfitKey(`has a member ${name} of ${bytes.length} octets, where 32 belong`);
  return concatBytes([new Uint8Array(32 - kept.length), kept]);
}
