// Encodings that people take bytes through by mistake.
import { concatBytes, decodeBase64url, decodeUtf8, utf8 } from "../../core/bytes.js";

// How other languages and tools write bytes, strings and JSON.

/** The bytes of hex in lower or upper case; `undefined` if the text is not hex. */
export function parseHex(text: string): Uint8Array | undefined {
  if (text === "" || text.length % 2 === 1 || !/^[0-9a-fA-F]*$/.test(text)) return undefined;
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(text.slice(i * 2, i * 2 + 2), 16);
  return bytes;
}

/** What Ruby makes of any text as hex: letters beyond F count on from there. */
export function packedHex(text: string): Uint8Array | undefined {
  if (!/^[\w-]{8,512}$/.test(text) || /^[0-9a-f]*$/i.test(text)) return undefined;
  const nibble = (at: number) => {
    const code = text.charCodeAt(at);
    return /[a-z]/i.test(text.charAt(at)) ? ((code & 31) + 9) & 15 : code & 15;
  };
  return Uint8Array.from({ length: Math.ceil(text.length / 2) }, (_, at) =>
    2 * at + 1 < text.length ? (nibble(2 * at) << 4) | nibble(2 * at + 1) : nibble(2 * at) << 4,
  );
}

const PAIRS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Bytes as hex in lower case. */
export function hexOf(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += PAIRS[byte];
  return text;
}

/** The bytes of base64 or base64url, with or without padding. Bits after the last byte are ignored. */
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

const codeUnits = new TextDecoder("utf-16le", { ignoreBOM: true });

/** Bytes read as Latin-1: each byte becomes the character of the same number. */
export function latin1Text(bytes: Uint8Array): string {
  const units = new Uint8Array(bytes.length * 2);
  for (let i = 0; i < bytes.length; i++) units[i * 2] = bytes[i] as number;
  return codeUnits.decode(units);
}

/** The bytes of a text in Latin-1; `undefined` if it has a character outside of Latin-1. */
export function latin1(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0xff) return undefined;
    bytes[i] = code;
  }
  return bytes;
}

/** The bytes of a text in UTF-16. */
export function utf16(text: string, littleEndian: boolean): Uint8Array {
  const bytes = new Uint8Array(text.length * 2);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < text.length; i++) view.setUint16(i * 2, text.charCodeAt(i), littleEndian);
  return bytes;
}

const lossy = new TextDecoder("utf-8", { ignoreBOM: true });

/** Bytes read as UTF-8; what is not UTF-8 becomes U+FFFD. */
export function lossyText(bytes: Uint8Array): string {
  return lossy.decode(bytes);
}

/** The bytes inside of gzip or zlib; `undefined` if it is neither, is broken, or holds more than `maxBytes`. */
export async function inflate(bytes: Uint8Array, maxBytes: number): Promise<Uint8Array | undefined> {
  const format = bytes[0] === 0x1f && bytes[1] === 0x8b ? "gzip" : isZlib(bytes) ? "deflate" : undefined;
  if (format === undefined) return undefined;
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = new Blob([new Uint8Array(bytes)])
    .stream()
    .pipeThrough(new DecompressionStream(format))
    .getReader();
  try {
    for (let read = await reader.read(); read.value; read = await reader.read()) {
      length += read.value.length;
      if (length > maxBytes) return undefined;
      chunks.push(read.value);
    }
  } catch {
    return undefined;
  } finally {
    void reader.cancel().catch(() => {});
  }
  return concatBytes(chunks);
}

/** The first two bytes of zlib, read as one number, are divisible by 31. */
function isZlib([first = 0, second = 0]: Uint8Array): boolean {
  return (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;
}

/** Python's `repr()` of bytes. */
export function pythonBytes(bytes: Uint8Array): string {
  const text = latin1Text(bytes);
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inside = text
    .replaceAll("\\", "\\\\")
    .replaceAll("\n", "\\n")
    .replaceAll("\r", "\\r")
    .replaceAll("\t", "\\t")
    .replace(/[^ -~]/g, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`);
  return `b${quote}${quote === "'" ? inside.replaceAll("'", "\\'") : inside}${quote}`;
}

/** Base64 in lines, each ended by a line break. */
export function inLines(text: string, width: number): string {
  let lines = "";
  for (let at = 0; at < text.length; at += width) lines += `${text.slice(at, at + width)}\n`;
  return lines;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

export function htmlEntities(text: string, apostrophe: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? apostrophe);
}

const CHARACTERS: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#34;": '"',
  "&#x22;": '"',
  "&#39;": "'",
  "&#039;": "'",
  "&#x27;": "'",
  "&apos;": "'",
  "&#x2F;": "/",
  "&#38;": "&",
};

/** A text with the characters that its entities stand for. */
export function withoutEntities(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|apos|#0?3[489]|#x(?:22|27|2F));/g, (one) => CHARACTERS[one] ?? one);
}

/** One body is encoded in many ways, so its text is decoded once. */
const texts = new WeakMap<Uint8Array, string | undefined>();

/** What is made of the text of bytes; `undefined` where they are no UTF-8. */
export function withText(
  bytes: Uint8Array,
  rewrite: (text: string) => string | Uint8Array | undefined,
): Uint8Array | undefined {
  if (!texts.has(bytes)) texts.set(bytes, decodeUtf8(bytes));
  const text = texts.get(bytes);
  const written = text === undefined ? undefined : rewrite(text);
  return typeof written === "string" ? utf8(written) : written;
}

export function isAscii(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte < 128);
}

const BOM = [0xef, 0xbb, 0xbf];

export function startsWithBom(bytes: Uint8Array): boolean {
  return BOM.every((byte, index) => bytes[index] === byte);
}
