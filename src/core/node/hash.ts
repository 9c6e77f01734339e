// Hashes, HMAC and random ids by Node.
import {
  type Hmac as CryptoHmac,
  createHash,
  createHmac,
  hash,
  randomUUID,
  timingSafeEqual,
} from "node:crypto";
import type { HashName, Hmac } from "../hash-portable.js";

// Measured: a key object saves nothing over bytes, and costs more than a text that is used once, so the key stays as it
// came. What is used again comes as bytes (`secretBytes`).
export function hmacSha256(secret: string | Uint8Array): Hmac {
  return (head, body) => hmacState(secret, head, body).digest("base64url");
}

export function hmacSha256Base64(secret: string | Uint8Array): Hmac {
  return (head, body) => hmacState(secret, head, body).digest("base64");
}

function hmacState(secret: string | Uint8Array, head: string, body: string | Uint8Array): CryptoHmac {
  const state = createHmac("sha256", secret);
  return typeof body === "string" ? state.update(head + body) : state.update(head).update(body);
}

export function sha256Base64url(bytes: string | Uint8Array): string {
  return hash("sha256", bytes, "base64url");
}

export function sha256Base64(bytes: Uint8Array): string {
  return hash("sha256", bytes, "base64");
}

export function encodeBase64({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString("base64");
}

export function encodeBase64url({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString("base64url");
}

export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : undefined;
}

export function decodeBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = Buffer.from(text, "base64url");
  return bytes.toString("base64url") === text ? bytes : undefined;
}

export function digestOf(name: HashName, parts: readonly (string | Uint8Array)[]): string {
  const state = createHash(name);
  for (const part of parts) state.update(part);
  return state.digest("base64url");
}

export function hmacOf(name: HashName, key: Uint8Array, parts: readonly (string | Uint8Array)[]): string {
  const state = createHmac(name, key);
  for (const part of parts) state.update(part);
  return state.digest("base64url");
}

export function hmacHex(key: Uint8Array, parts: readonly (string | Uint8Array)[]): string {
  const state = createHmac("sha256", key);
  for (const part of parts) state.update(part);
  return state.digest("hex");
}

export function constantTimeEqual(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

export function newUuid(): string {
  return randomUUID();
}
