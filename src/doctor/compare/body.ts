// Names what changed a body on its way.

import { decodeUtf8, encodeBase64, utf8 } from "../../core/bytes.js";
import { isObject } from "../../core/json.js";
import { countOf, shown } from "../../core/shown.js";
import { withDetail } from "../rows/mistake.js";
import { inflate, latin1, latin1Text, utf16 } from "../texts/rewrite.js";
import { changesInJson } from "./json.js";
import { BODY_CHANGES as CHANGES } from "./way-body-changes.js";
import type { WayChange } from "./way-changes.js";

/** Larger bodies are compared as bytes only. A listener takes 64 KB. */
const MAX_READ_BYTES = 1_048_576;

/** How one body became the other one: nothing if they are the same bytes. */
export async function changesInBody(sent: Uint8Array, received: Uint8Array): Promise<WayChange[]> {
  if (sameBytes(sent, received)) return [];
  if (received.length === 0)
    return [withDetail(CHANGES.lost, `The sender sent ${countOf(sent.length, "byte")}.`)];
  if (sent.length === 0) return [withDetail(CHANGES.appeared, `It has ${countOf(received.length, "byte")}.`)];
  const part = partOf(sent, received);
  if (part) return [part];
  if (Math.max(sent.length, received.length) > MAX_READ_BYTES) return [changed(sent, received)];
  return unpacked(sent, received);
}

/** Takes off what lies around both bodies, compression and byte order marks, and compares what is inside. */
async function unpacked(sent: Uint8Array, received: Uint8Array): Promise<WayChange[]> {
  const found: WayChange[] = [];
  let [left, right] = [sent, received];
  const [openLeft, openRight] = [
    await inflate(sent, MAX_READ_BYTES),
    await inflate(received, MAX_READ_BYTES),
  ];
  if (openLeft && !openRight) found.push(CHANGES.decompressed);
  if (openRight && !openLeft) found.push(CHANGES.compressed);
  [left, right] = [openLeft ?? left, openRight ?? right];
  if (hasBom(right) && !hasBom(left)) found.push(CHANGES.bomAdded);
  if (hasBom(left) && !hasBom(right)) found.push(CHANGES.bomLost);
  [left, right] = [withoutBom(left), withoutBom(right)];
  if (sameBytes(left, right)) return found.length > 0 ? found : [changed(sent, received)];
  const inside = partOf(left, right) ?? changesInText(left, right);
  return [...found, ...(Array.isArray(inside) ? inside : inside ? [inside] : [changed(sent, received)])];
}

/** The text in both, in whatever encoding it arrived. */
function changesInText(left: Uint8Array, right: Uint8Array): WayChange[] | undefined {
  const text = decodeUtf8(left);
  if (text === undefined) return undefined;
  const encoding = changeOfEncoding(text, right);
  if (encoding) return [encoding];
  const received = decodeUtf8(right);
  if (received === undefined) return undefined;
  const rewrite = REWRITES.find(([, undo]) => sameText(text, received, undo));
  if (rewrite) return [rewrite[0]];
  return changeOfWrapping(text, received) ?? changesInJson(text, received);
}

/** Changes that are found by doing the same to both texts. */
const REWRITES: readonly (readonly [change: WayChange, undo: (text: string) => string])[] = [
  [CHANGES.trimmed, (text) => text.trim()],
  [CHANGES.lineEnds, (text) => text.replaceAll("\r\n", "\n").replaceAll("\r", "\n")],
  [CHANGES.lineEnds, (text) => text.replace(/[\r\n]+/g, "")],
  [CHANGES.normalised, (text) => (NOT_ASCII.test(text) ? text.normalize("NFC") : text)],
];

function sameText(left: string, right: string, undo: (text: string) => string): boolean {
  return undo(left) === undo(right);
}

function changeOfEncoding(text: string, right: Uint8Array): WayChange | undefined {
  const is = (bytes: Uint8Array | undefined) => bytes !== undefined && sameBytes(bytes, right);
  const isUtf16 = right.length === 2 * text.length && (is(utf16(text, true)) || is(utf16(text, false)));
  if (isUtf16) return CHANGES.charset;
  const received = decodeUtf8(right);
  if (received === undefined) return is(latin1(text)) ? CHANGES.charset : undefined;
  if (!NOT_ASCII.test(text) || asciiOf(text) !== asciiOf(received)) return undefined;
  const misread = latin1Text(utf8(text));
  if (misread === received) return CHANGES.mojibake;
  const isLost = ["", "?", "\ufffd"].some(
    (mark) =>
      text.replace(/\P{ASCII}/gu, mark) === received ||
      text.replace(/[\u0080-\uffff]/g, mark) === received ||
      text.replace(/[\u{10000}-\u{10ffff}]/gu, mark) === received ||
      misread.replace(/[\u0080-\uffff]/g, mark) === received,
  );
  return isLost ? CHANGES.charactersLost : undefined;
}

const NOT_ASCII = /[\u0080-\uffff]/;

/** What no encoding changes. */
function asciiOf(text: string): string {
  return text.replace(/[\u0080-\uffff?]+/g, "");
}

/** Whether the text arrived inside of another one. */
function changeOfWrapping(text: string, received: string): WayChange[] | undefined {
  if (received.length < text.length) return undefined;
  const base64 = encodeBase64(utf8(text));
  if (received.replace(/\s+/g, "") === base64) return [CHANGES.base64];
  const dechunked = withoutChunks(received);
  if (dechunked === text) return [CHANGES.chunks];
  if (isEscaped(text, received)) return [CHANGES.escaped];
  let value: unknown;
  try {
    value = JSON.parse(received);
  } catch {
    return undefined;
  }
  if (value === text) return [CHANGES.stringified];
  return memberWith(value, text, base64);
}

function memberWith(value: unknown, text: string, base64: string): WayChange[] | undefined {
  if (!isObject(value)) return undefined;
  const plain = (one: unknown) => (typeof one === "string" ? one : JSON.stringify(one));
  const found = Object.entries(value).find(([, one]) => plain(one) === text || one === base64);
  return found && [withDetail(CHANGES.wrapped, `It is the member ${shown(found[0], 40)}.`)];
}

function isEscaped(text: string, received: string): boolean {
  if (received.length <= text.length) return false;
  if (received.includes("%")) {
    const component = encodeURIComponent(text);
    const form = component.replace(/[!'()~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
    const plain = received.replace(/=$/, "").replaceAll("+", "%20");
    if (plain === component || plain === form) return true;
  }
  const html = received
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replace(/&#0?39;/g, "'")
    .replaceAll("&quot;", '"');
  return html.replaceAll("&amp;", "&") === text || text.replace(/["'\\]/g, "\\$&") === received;
}

/** The body without the sizes of its chunks; `undefined` if there are none. */
function withoutChunks(received: string): string | undefined {
  const bytes = utf8(received);
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const line = /^([0-9a-fA-F]{1,8})\r?\n/.exec(latin1Text(bytes.subarray(at, at + 10)));
    if (!line) return undefined;
    const [size, start] = [Number.parseInt(line[1] ?? "0", 16), at + line[0].length];
    if (size === 0) break;
    parts.push(bytes.subarray(start, start + size));
    at = start + size + (bytes[start + size] === 0x0d ? 2 : 1);
  }
  return parts.length === 0 ? undefined : parts.map((part) => decodeUtf8(part) ?? "").join("");
}

/** Whether one body is a part of the other one. */
function partOf(sent: Uint8Array, received: Uint8Array): WayChange | undefined {
  if (isBlankBut(sent, received)) return undefined;
  const lengths = `Of ${countOf(sent.length, "byte")} ${received.length} arrived`;
  if (startsWith(sent, received)) {
    const text = decodeUtf8(sent);
    const isCharacters = text !== undefined && [text.length, [...text].length].includes(received.length);
    const why = isCharacters ? ", which is the number of its characters" : "";
    return withDetail(CHANGES.cut, `${lengths}${why}.`);
  }
  if (received.length < sent.length && sameBytes(sent.subarray(sent.length - received.length), received))
    return withDetail(CHANGES.beginningLost, `${lengths}.`);
  if (startsWith(received, sent))
    return withDetail(
      CHANGES.extended,
      `${countOf(received.length - sent.length, "byte")} too many arrived.`,
    );
  return undefined;
}

/** Whether only white space is cut off or added, which is another change. */
function isBlankBut(sent: Uint8Array, received: Uint8Array): boolean {
  const [shorter, longer] = sent.length < received.length ? [sent, received] : [received, sent];
  const isBlank = (bytes: Uint8Array) => bytes.every((byte) => [0x20, 0x09, 0x0a, 0x0d].includes(byte));
  return (
    (startsWith(longer, shorter) && isBlank(longer.subarray(shorter.length))) ||
    hasBom(longer) ||
    isBlank(longer.subarray(0, longer.length - shorter.length))
  );
}

function startsWith(whole: Uint8Array, start: Uint8Array): boolean {
  return start.length < whole.length && sameBytes(whole.subarray(0, start.length), start);
}

function changed(sent: Uint8Array, received: Uint8Array): WayChange {
  const at = sent.findIndex((byte, index) => byte !== received[index]);
  const where = `The first difference is at byte ${(at < 0 ? sent.length : at) + 1}`;
  return withDetail(
    CHANGES.changed,
    `${where}; of ${countOf(sent.length, "byte")} ${received.length} arrived.`,
  );
}

function hasBom(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

function withoutBom(bytes: Uint8Array): Uint8Array {
  return hasBom(bytes) ? bytes.subarray(3) : bytes;
}

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  for (let at = 0; at < left.length; at++) if (left[at] !== right[at]) return false;
  return true;
}
