import { decodeBase64url } from "../primitives/base64url.js";

/** Encodings as other languages and tools have them: forgiving, and besides UTF-8 and strict base64url. */

/** The bytes of hex in either case. */
export function parseHex(text: string): Uint8Array | undefined {
  if (text === "" || text.length % 2 === 1 || !/^[0-9a-fA-F]*$/.test(text)) return undefined;
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(text.slice(i * 2, i * 2 + 2), 16);
  return bytes;
}

/** Bytes as hex in lower case. */
export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The bytes of base64 in either alphabet, padded or not, with set bits after the last byte ignored. */
export function decodeAnyBase64(text: string): Uint8Array | undefined {
  const url = text
    .replace(/(?<!=)=+$/, "")
    .replaceAll("+", "-")
    .replaceAll("/", "_");
  const strict = decodeBase64url(url);
  if (strict || url.length % 4 < 2) return strict;
  const whole = decodeBase64url(`${url}${"A".repeat(4 - (url.length % 4))}`);
  return whole?.subarray(0, Math.floor((url.length * 3) / 4));
}

/** As arguments of one call, which no engine refuses. */
const CHARACTERS_AT_ONCE = 4_096;

/** Bytes read as Latin-1: each is the character of its own number. */
export function latin1Text(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += CHARACTERS_AT_ONCE)
    text += String.fromCharCode(...bytes.subarray(i, i + CHARACTERS_AT_ONCE));
  return text;
}

/** A text as Latin-1, if it has no other characters. */
export function latin1(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0xff) return undefined;
    bytes[i] = code;
  }
  return bytes;
}

/** A text as UTF-16. */
export function utf16(text: string, littleEndian: boolean): Uint8Array {
  const bytes = new Uint8Array(text.length * 2);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < text.length; i++) view.setUint16(i * 2, text.charCodeAt(i), littleEndian);
  return bytes;
}

const lossy = new TextDecoder("utf-8", { ignoreBOM: true });

/** Bytes read as UTF-8, with U+FFFD in place of what is not. */
export function lossyText(bytes: Uint8Array): string {
  return lossy.decode(bytes);
}
