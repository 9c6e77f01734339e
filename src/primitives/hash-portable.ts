import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { encodeBase64url } from "./base64url.js";
import { bodyBytes, utf8 } from "./bytes.js";

/** A secret made ready for HMAC once; which form it takes is the variant's own affair. */
export interface HmacKey {
  readonly hmacKey: never;
}

/** Prepares a secret: the UTF-8 bytes of its text are the key. */
export function hmacKey(secret: string | Uint8Array): HmacKey {
  return hmac.create(sha256, bodyBytes(secret)) as unknown as HmacKey;
}

/** HMAC-SHA256 over head and then body, as 43 characters of base64url. */
export function hmacSha256(key: HmacKey, head: string, body: string | Uint8Array): string {
  const keyed = key as unknown as ReturnType<typeof hmac.create>;
  return encodeBase64url(keyed.clone().update(utf8(head)).update(bodyBytes(body)).digest());
}

/** SHA-256 as 43 characters of base64url. */
export function sha256Base64url(bytes: Uint8Array): string {
  return encodeBase64url(sha256(bytes));
}

/** Whether two texts are equal, in a time that depends only on their lengths. */
export function constantTimeEqual(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}
