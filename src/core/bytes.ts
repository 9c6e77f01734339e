// Bytes and their texts: UTF-8, base64 and base64url.
const encoder = /* @__PURE__ */ new TextEncoder();
const decoder = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** UTF-8 bytes of a text. A lone surrogate becomes U+FFFD, as everywhere on the web platform. */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/** The text of strict UTF-8, a leading BOM kept as a character; `undefined` if the bytes are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** What is said of bytes with NUL where a text is expected: UTF-16 has them, and so has what is no text. */
export const NO_TEXT = "is UTF-16, and not UTF-8, or bytes that are no text: save it as UTF-8";

/** All chunks in one array. */
export function concatBytes(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    joined.set(chunk, offset);
    offset += chunk.length;
  }
  return joined;
}

/** A body as callers may hand it over, as the bytes that are signed and sent. */
export function bodyBytes(body: string | Uint8Array): Uint8Array {
  return typeof body === "string" ? utf8(body) : body;
}

/** The characters of base64url, in the order of their values. */
export const URL_SAFE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const STANDARD = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const ascii = /* @__PURE__ */ new TextDecoder();

/** The value of each character, by its code; marked pure, so that a program that only signs does not carry it. */
const VALUES = /* @__PURE__ */ decodingTable();

function decodingTable(): Int8Array {
  const values = new Int8Array(128).fill(-1);
  for (let i = 0; i < URL_SAFE.length; i++) values[URL_SAFE.charCodeAt(i)] = i;
  return values;
}

/** base64url without padding (RFC 4648 section 5). */
export function encodeBase64url(bytes: Uint8Array): string {
  return encoded(bytes, URL_SAFE);
}

/** base64 in the standard alphabet, padded (RFC 4648 section 4). */
export function encodeBase64(bytes: Uint8Array): string {
  const text = encoded(bytes, STANDARD);
  return text.padEnd(Math.ceil(text.length / 4) * 4, "=");
}

/** Through an array of codes, as putting a long text together character by character takes three times as long. */
function encoded(bytes: Uint8Array, alphabet: string): string {
  const codes = new Uint8Array(Math.ceil((bytes.length * 4) / 3));
  let offset = 0;
  for (let i = 0; i < bytes.length; i += 3) {
    const word = ((bytes[i] ?? 0) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    // The last codes may lie past the end, where an array of bytes drops them.
    for (let bits = 18; bits >= 0; bits -= 6) codes[offset++] = alphabet.charCodeAt((word >> bits) & 63);
  }
  return ascii.decode(codes);
}

/** Whether a text is canonical base64url, without decoding it. */
export function isBase64url(text: string): boolean {
  const rest = text.length % 4;
  const last = VALUES[text.charCodeAt(text.length - 1)] ?? 0;
  // Two characters carry one byte and four bits more, three carry two bytes and two bits: those must be zero.
  const unused = rest === 2 ? 0b1111 : rest === 3 ? 0b11 : 0;
  return rest !== 1 && /^[\w-]*$/.test(text) && (last & unused) === 0;
}

/**
 * The bytes of canonical base64url, or `undefined`: padding, white space, another alphabet, an impossible
 * length and set bits after the last byte are all refused, so that one value has one spelling.
 */
export function decodeBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!isBase64url(text)) return undefined;
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let word = 0;
  let bits = 0;
  let offset = 0;
  for (let i = 0; i < text.length; i++) {
    word = ((word << 6) | (VALUES[text.charCodeAt(i)] ?? 0)) & 0xffffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[offset++] = (word >> bits) & 0xff;
    }
  }
  return bytes;
}

/** The bytes of canonical base64, padded (RFC 4648 section 4), or `undefined`. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 !== 0 || /[-_]|=[^=]|===$/.test(text)) return undefined;
  return decodeBase64url(text.replaceAll("=", "").replaceAll("+", "-").replaceAll("/", "_"));
}
