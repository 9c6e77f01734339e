// Reads a digest in any spelling that people use.
import { decodeBase64url, encodeBase64, encodeBase64url, utf8 } from "../../core/bytes.js";
import type { HashName } from "../../core/hash-portable.js";
import type { Mistake } from "../rows/mistake.js";
import { decodeAnyBase64, hexOf, latin1Text, lossyText, parseHex } from "../texts/rewrite.js";
import {
  SIGNATURE_CUT,
  SIGNATURE_MALFORMED,
  SIGNATURE_NOT_TEXT,
  SIGNATURE_OTHER_CASE,
  SIGNATURE_READ_AS_TEXT,
  SIGNATURE_SHA384,
  SIGNATURE_TWICE_ENCODED,
  type SignatureForm,
} from "./mistakes/signature.js";

/** A digest as it was read from a text, and how the text was wrong. */
export interface ReadDigest {
  readonly hash: HashName;
  /** In base64url without padding. */
  readonly digest: string;
  readonly forms: readonly SignatureForm[];
}

const HASH_BY_BYTES: Readonly<Record<number, HashName>> = { 20: "sha1", 32: "sha256", 64: "sha512" };
const PREFIX = /^(?:(?:hmac-)?sha-?(?:1|256|512)|hmac|v[0-9]|signature|bearer)[\s,=:]+/i;
const STRIPE = /^t=[0-9]+,(?=v[0-9]=)/;

/** No signature is longer; a longer text is not read. */
const MAX_SIGNATURE_LENGTH = 1_024;

/** Reads a digest in any spelling that people use; `undefined` if the text is no digest. */
export function readDigest(received: string): ReadDigest | undefined {
  if (received.length > MAX_SIGNATURE_LENGTH) return undefined;
  const forms: SignatureForm[] = [];
  const unwrapped = unwrap(received, forms);
  const bare = unwrapped.trim().replace(/^["'`]+|(?<!["'`])["'`]+$/g, "");
  if (bare !== unwrapped) forms.push("quoted");
  const [first = "", ...more] = bare.replace(STRIPE, "").split(/(?<!\s)\s+(?=v[0-9])|,(?=v[0-9]=)/);
  if (more.length > 0) forms.push("several");
  const text = first.replace(PREFIX, "");
  if (text !== first || STRIPE.test(bare)) forms.push("prefixed");

  const read = digestBytes(text);
  if (read === undefined) return undefined;
  forms.push(...read.forms);
  const hash = HASH_BY_BYTES[read.bytes.length];
  if (hash === undefined) return undefined;
  // Another hash is said before its spelling.
  if (hash !== "sha256") forms.unshift(hash);
  return { hash, digest: encodeBase64url(read.bytes), forms };
}

const OPENSSL = /^(?:[\w-]{1,20})?\(stdin\)=\s*/i;
const PYTHON_BYTES = /^b'([^'\\]*)'$|^b"([^"\\]*)"$/;
const BYTE_LIST = /^\[?-?[0-9]{1,3}(?:,\s?-?[0-9]{1,3}){19,63}\]?$/;

/** The text inside of what a program has put around it, or made of its characters. */
function unwrap(received: string, forms: SignatureForm[]): string {
  const text = received.trim();
  const bytes = PYTHON_BYTES.exec(text);
  if (bytes) return wrapped("pythonBytes", bytes[1] ?? bytes[2] ?? "");
  if (OPENSSL.test(text)) return wrapped("openssl", text.replace(OPENSSL, ""));
  if (/%(?:3d|2b|2f)/i.test(text))
    return wrapped(
      "percent",
      text.replace(/%(3d|2b|2f)/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
    );
  if (BYTE_LIST.test(text)) {
    const numbers = text.replace(/[[\]]/g, "").split(",").map(Number);
    return wrapped("byteList", encodeBase64url(Uint8Array.from(numbers, (one) => one & 255)));
  }
  if (/^[A-Za-z0-9+/ ]{43}=?$/.test(text) && text.includes(" "))
    return wrapped("plusAsSpace", text.replaceAll(" ", "+"));
  return received;

  function wrapped(form: SignatureForm, inside: string): string {
    forms.push(form);
    return inside;
  }
}

function digestBytes(text: string): { bytes: Uint8Array; forms: SignatureForm[] } | undefined {
  const hex = parseHex(text);
  if (hex && hex.length in HASH_BY_BYTES) return { bytes: hex, forms: ["hex"] };
  const bytes = decodeAnyBase64(text);
  if (bytes === undefined) return undefined;
  // 64 bytes that are all hex digits are a SHA-256 in hex and not a SHA-512.
  const inside = parseHex(latin1Text(bytes));
  if (inside) return { bytes: inside, forms: ["base64OfHex"] };
  const forms: SignatureForm[] = [];
  if (/[+/]/.test(text)) forms.push("base64");
  if (text.endsWith("=")) forms.push("padded");
  return { bytes, forms };
}

/** What a text is that is no digest. */
export function noDigest(signature: string): Mistake {
  const text = signature.trim();
  if (isNotText(text)) return SIGNATURE_NOT_TEXT;
  const bytes =
    text.length <= MAX_SIGNATURE_LENGTH ? digestBytes(text.replace(PREFIX, ""))?.bytes : undefined;
  return bytes?.length === 48 ? SIGNATURE_SHA384 : SIGNATURE_MALFORMED;
}

/** The text of a value that has none: of JavaScript, Python, Java and .NET. */
const NOT_TEXT =
  /^(?:\[object \w+\]|undefined|null|None|nil|NaN|System\.Byte\[\]|\[B@[0-9a-f]+|<[^<>]{1,80}>)$/;

/** A shorter beginning of the right signature may be chance. */
const SHORTEST_CUT = 12;

/** What was done to the right digest that cannot be undone: the text is compared with what it makes of it. */
export function lossyForm(received: string, right: string): Mistake | undefined {
  const text = received.trim();
  if (text.length > MAX_SIGNATURE_LENGTH) return undefined;
  const bytes = decodeBase64url(right) ?? new Uint8Array();
  const spelled = [right, hexOf(bytes), encodeBase64(bytes)];
  const isEncodingOf = (inside: Uint8Array) =>
    [encodeBase64url(inside), encodeBase64(inside), hexOf(inside)].includes(text);
  if (isEncodingOf(utf8(lossyText(bytes))) || isEncodingOf(utf8(latin1Text(bytes))))
    return SIGNATURE_READ_AS_TEXT;
  if (spelled.some((one) => isEncodingOf(utf8(one)))) return SIGNATURE_TWICE_ENCODED;
  if (text.length >= SHORTEST_CUT && spelled.some((one) => one !== text && one.startsWith(text)))
    return SIGNATURE_CUT;
  return [right.toLowerCase(), right.toUpperCase()].includes(text) ? SIGNATURE_OTHER_CASE : undefined;
}

/** Whether a text is that of a value that has none, such as a promise. */
export function isNotText(text: string): boolean {
  return NOT_TEXT.test(text);
}
