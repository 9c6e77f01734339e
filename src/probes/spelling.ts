import { decodeBase64url } from "../primitives/base64url.js";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** base64url with an unused bit of its last character set: another text for the same bytes. */
export function withTrailingBit(text: string): string {
  return text.slice(0, -1) + ALPHABET.charAt(ALPHABET.indexOf(text.at(-1) ?? "") | 1);
}

/** base64url as hexadecimal. */
export function hexOf(text: string): string {
  return Array.from(decodeBase64url(text) ?? [], (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** base64url with the padding that base64 has. */
export function padded(text: string): string {
  return text + "=".repeat((4 - (text.length % 4)) % 4);
}
