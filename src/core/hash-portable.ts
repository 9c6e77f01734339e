// Hashes, HMAC and random ids for runtimes without Node's own.
import { hmac } from "@noble/hashes/hmac.js";
import { md5, sha1 } from "@noble/hashes/legacy.js";
import { sha256, sha384, sha512 } from "@noble/hashes/sha2.js";
import { v4 } from "uuid";
import { bodyBytes, decodeBase64, decodeBase64url, encodeBase64, encodeBase64url, utf8 } from "./bytes.js";

// For what is encoded or decoded at every event: Node has it twenty times as fast.
export { decodeBase64, decodeBase64url, encodeBase64, encodeBase64url };

/** The HMAC-SHA256 of head and then body, by a secret that was made ready once. */
export type Hmac = (head: string, body: string | Uint8Array) => string;

/** HMAC-SHA256 as 43 characters of base64url; the UTF-8 bytes of a secret's text are the key. */
export function hmacSha256(secret: string | Uint8Array): Hmac {
  const digest = keyed(secret);
  return (head, body) => encodeBase64url(digest(head, body));
}

/** HMAC-SHA256 as 44 characters of base64 in the standard alphabet. */
export function hmacSha256Base64(secret: string | Uint8Array): Hmac {
  const digest = keyed(secret);
  return (head, body) => encodeBase64(digest(head, body));
}

function keyed(secret: string | Uint8Array): (head: string, body: string | Uint8Array) => Uint8Array {
  const ready = hmac.create(sha256, bodyBytes(secret));
  return (head, body) => ready.clone().update(utf8(head)).update(bodyBytes(body)).digest();
}

/** SHA-256 as 43 characters of base64url; of a text, its UTF-8. */
export function sha256Base64url(bytes: string | Uint8Array): string {
  return encodeBase64url(sha256(bodyBytes(bytes)));
}

/** SHA-256 as 44 characters of base64 in the standard alphabet. */
export function sha256Base64(bytes: Uint8Array): string {
  return encodeBase64(sha256(bytes));
}

/** The hashes people take; the protocol itself knows SHA-256 alone. */
export type HashName = "md5" | "sha1" | "sha256" | "sha384" | "sha512";

/** The hash of all parts, one after the other, as base64url. */
export function digestOf(name: HashName, parts: readonly (string | Uint8Array)[]): string {
  const state = hashNamed(name).create();
  for (const part of parts) state.update(bodyBytes(part));
  return encodeBase64url(state.digest());
}

/** The HMAC of all parts, one after the other, as base64url. */
export function hmacOf(name: HashName, key: Uint8Array, parts: readonly (string | Uint8Array)[]): string {
  const state = hmac.create(hashNamed(name), key);
  for (const part of parts) state.update(bodyBytes(part));
  return encodeBase64url(state.digest());
}

/** The HMAC-SHA256 of all parts as hex, for a search that tries thousands. */
export function hmacHex(key: Uint8Array, parts: readonly (string | Uint8Array)[]): string {
  const state = hmac.create(sha256, key);
  for (const part of parts) state.update(bodyBytes(part));
  return Array.from(state.digest(), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// A table of them would keep all five in every bundle.
function hashNamed(name: HashName): typeof md5 | typeof sha1 | typeof sha256 | typeof sha384 | typeof sha512 {
  if (name === "sha256") return sha256;
  if (name === "md5") return md5;
  if (name === "sha384") return sha384;
  return name === "sha1" ? sha1 : sha512;
}

/** Whether two texts are equal, in a time that depends only on their lengths. */
export function constantTimeEqual(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}

/** A random UUID of version 4. It stands here as Node has one, and the package is twenty files to find and to read. */
export function newUuid(): string {
  return v4();
}
