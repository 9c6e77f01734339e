// Reads a digest in any spelling that people use.
import { encodeBase64, encodeBase64url, utf8 } from "../../core/bytes.js";
import type { HashName } from "../../core/hash-portable.js";
import type { Mistake } from "../rows/mistake.js";
import { decodeAnyBase64, hexOf, latin1, latin1Text, lossyText, parseHex } from "../texts/rewrite.js";
import { hasVariable, isNotText } from "../texts/variables.js";
import {
  SIGNATURE_CUT,
  SIGNATURE_MALFORMED,
  SIGNATURE_NOT_FILLED_IN,
  SIGNATURE_NOT_TEXT,
  SIGNATURE_OTHER_CASE,
  SIGNATURE_READ_AS_TEXT,
  SIGNATURE_ZEROS_LOST,
  type SignatureForm,
} from "./mistakes/signature.js";

/** A digest as it was read from a text, and how the text was wrong. */
export interface ReadDigest {
  readonly hash: HashName;
  /** In hex; the first, where the text has several. */
  readonly digest: string;
  /** Those that stand behind it. */
  readonly others: readonly string[];
  readonly forms: readonly SignatureForm[];
}

const HASH_BY_BYTES: Readonly<Record<number, HashName>> = {
  16: "md5",
  20: "sha1",
  32: "sha256",
  48: "sha384",
  64: "sha512",
};

/** No signature is longer; a longer text is not read. */
const MAX_SIGNATURE_LENGTH = 1_024;

/** Reads a digest in any spelling that people use; `undefined` if the text is no digest. */
export function readDigest(received: string): ReadDigest | undefined {
  if (received.length > MAX_SIGNATURE_LENGTH) return undefined;
  const forms: SignatureForm[] = [];
  const unwrapped = unwrap(received, forms);
  const bare = unwrapped.trim().replace(AROUND, "");
  if (bare !== unwrapped) forms.push("quoted");
  const found = readParts(bare, forms);
  const first = found.find(({ hash }) => hash === "sha256") ?? found[0];
  if (first === undefined) return undefined;
  forms.push(...first.forms);
  // Another hash is said before its spelling.
  if (first.hash !== "sha256") forms.unshift(first.hash);
  const others = found.filter((one) => one !== first && one.hash === first.hash);
  return {
    hash: first.hash,
    digest: first.digest,
    others: others.map(({ digest }) => digest),
    forms: [...new Set(forms)],
  };
}

/** Quotes, brackets, and what separates values, in the text itself or as the two characters of an escape. */
const AROUND = /^(?:\\?["'`\u201c\u201d([{<]){1,4}|(?:(?:\\[nr]|\\?["'`\u201c\u201d\])}>;,.]){1,4})$/g;

const NAME = /^["']?[a-z][\w.-]{0,30}["']?[=:]{1,2}["':]{0,2}(?=.{12})/i;

/** What stands before a digest and a hyphen. */
const NAMED_BY_HYPHEN = /^(?:hmac-?)?sha-?(?:1|256|384|512)-/i;

interface ReadPart {
  readonly hash: HashName;
  readonly digest: string;
  readonly forms: readonly SignatureForm[];
}

/** The digests of a text: one, or several with something between them; names before them are told. */
function readParts(bare: string, forms: SignatureForm[]): readonly ReadPart[] {
  const whole = readPart(bare);
  if (whole) return [whole];
  const parts = bare.split(/[\s,;|]+/, MAX_PARTS + 1);
  if (parts.length > MAX_PARTS) return [];
  let isNamed = false;
  const found = parts.flatMap((part) => {
    const plain = part.replace(NAME, "").replace(NAMED_BY_HYPHEN, "");
    const read = readPart(plain.replace(/^["':]{1,2}|["':]{1,2}$/g, ""));
    isNamed ||= read === undefined || plain.length < part.length;
    return read ?? [];
  });
  const joined = found.length === 0 && parts.length < 4 ? readPart(parts.join("")) : undefined;
  if (joined) {
    forms.push("quoted");
    return [joined];
  }
  if (found.length > 1) forms.push("several");
  if (found.length > 0 && isNamed) forms.push("prefixed");
  return found;
}

/** Two secrets, in two schemes, each with its name and the time before them. */
const MAX_PARTS = 12;

function readPart(text: string): ReadPart | undefined {
  const read = digestBytes(text);
  const hash = read && HASH_BY_BYTES[read.bytes.length];
  return hash && { hash, digest: hexOf(read.bytes), forms: read.forms };
}

const OPENSSL = /^(?:[\w-]{1,20})?\([\w.-]{1,60}\)=\s*/i;
const CHECKSUM = /^([0-9a-f]{40,128}) [ *][\w./-]{1,80}$/i;
const PYTHON_BYTES = /^b'((?:[^'\\]|\\.)*)'$|^b"((?:[^"\\]|\\.)*)"$/s;
const BYTE_LIST = /^[[{(]?-?[0-9]{1,3}(?:(?:,\s?|\s)-?[0-9]{1,3}){19,63}[\]})]?$/;
const MEMBERS = /^\{(?:"type":"Buffer","data":\[)?(?:(?:"[0-9]{1,2}":)?[0-9]{1,3}[,}\]]){20,64}\}?$/;
const IN_JSON =
  /^(?:\{\s{0,4}"[\w-]{1,40}"\s{0,4}:\s{0,4}"([^"\\]{16,200})"\s{0,4}\}|\["([^"\\]{16,200})"\])$/;
/** Hex in pairs, or in longer groups, with something before or between them. */
const PAIRS =
  /^(?:<Buffer |x'|\\x|0x|\[)?[0-9a-f]{2}(?:(?:[-: ]|, ?)?(?:0x|\\x)?[0-9a-f]{2}){15,63}[\]'>]?$/i;

/** The text inside of what a program has put around it, or made of its characters. */
function unwrap(received: string, forms: SignatureForm[]): string {
  const text = received.trim();
  const bytes = PYTHON_BYTES.exec(text);
  if (bytes) return wrapped("pythonBytes", insideOfBytes(bytes[1] ?? bytes[2] ?? ""));
  if (OPENSSL.test(text)) return wrapped("openssl", text.replace(OPENSSL, ""));
  const sum = CHECKSUM.exec(text);
  if (sum) return wrapped("openssl", sum[1] ?? "");
  if (/%(?:3d|2b|2f)/i.test(text))
    return wrapped(
      "percent",
      text.replace(/%(3d|2b|2f)/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
    );
  if (BYTE_LIST.test(text) || MEMBERS.test(text)) {
    const numbers = text.replace(/"[^"]*":/g, "").match(/-?[0-9]+/g) ?? [];
    return wrapped("byteList", encodeBase64url(Uint8Array.from(numbers, (one) => Number(one) & 255)));
  }
  const json = IN_JSON.exec(text);
  if (json) return wrapped("json", json[1] ?? json[2] ?? "");
  if (
    PAIRS.test(text) &&
    /[^0-9a-f]/i.test(text) &&
    !text
      .split(/[-: ,]+/)
      .slice(0, -1)
      .some(({ length }) => length >= 32)
  ) {
    const plain = text.replace(/^<Buffer |0x|\\x|^x'|[^0-9a-f]/gi, "");
    if (parseHex(plain)?.length !== undefined && plain.length / 2 in HASH_BY_BYTES)
      return wrapped("hex", encodeBase64url(parseHex(plain) ?? new Uint8Array()));
  }
  if (/^[A-Za-z0-9+/ ]{43}=?$/.test(text) && text.includes(" ")) {
    const plus = text.replaceAll(" ", "+");
    return wrapped("plusAsSpace", plus);
  }
  return received;

  function wrapped(form: SignatureForm, inside: string): string {
    forms.push(form);
    return inside;
  }
}

/** What is between the quotes of Python's bytes: a text, or a digest whose bytes are escaped. */
function insideOfBytes(inside: string): string {
  const text = inside.replace(/\\(x[0-9a-f]{2}|.)/gis, (_, code: string) => {
    if (code.length === 3) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return { n: "\n", r: "\r", t: "\t" }[code] ?? code;
  });
  if (text.length in HASH_BY_BYTES && /[^ -~]/.test(text))
    return encodeBase64url(latin1(text) ?? new Uint8Array());
  return text.trim();
}

/** How often a digest may have been encoded. */
const MAX_LAYERS = 3;

function digestBytes(
  text: string,
  layers = MAX_LAYERS,
): { bytes: Uint8Array; forms: SignatureForm[] } | undefined {
  const hex = parseHex(text);
  const inHex = hex && layers > 0 ? insideOf(hex, layers) : undefined;
  if (inHex) return { bytes: inHex.bytes, forms: ["encodedTwice"] };
  if (hex && hex.length in HASH_BY_BYTES) return { bytes: hex, forms: ["hex"] };
  const spread = /^[a-z2-7]{32,112}={0,6}$/i.test(text) ? fromBase32(text) : undefined;
  if (spread && spread.length in HASH_BY_BYTES && decodeAnyBase64(text)?.length !== 32)
    return { bytes: spread, forms: ["base32"] };
  const bytes = decodeAnyBase64(text);
  if (bytes === undefined) return undefined;
  const inside = layers > 0 ? insideOf(bytes, layers) : undefined;
  // 64 bytes that are all hex digits are a SHA-256 in hex and not a SHA-512.
  if (inside) return { bytes: inside.bytes, forms: [inside.isHex ? "base64OfHex" : "encodedTwice"] };
  const forms: SignatureForm[] = [];
  if (/[+/]/.test(text)) forms.push("base64");
  if (text.endsWith("=")) forms.push("padded");
  return { bytes, forms };
}

/** A digest whose text was encoded again. */
function insideOf(bytes: Uint8Array, layers: number): { bytes: Uint8Array; isHex: boolean } | undefined {
  if (bytes.length < 32 || bytes.length > 260) return undefined;
  const text = latin1Text(bytes);
  if (!/^[!-~][ -~]{30,256}[!-~]\n?$/.test(text)) return undefined;
  const forms: SignatureForm[] = [];
  const plain = unwrap(text, forms).trim().replace(NAME, "");
  const read = digestBytes(plain, layers - 1);
  if (!read || !(read.bytes.length in HASH_BY_BYTES)) return undefined;
  return { bytes: read.bytes, isHex: forms.includes("hex") || read.forms.includes("hex") };
}

const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

function fromBase32(text: string): Uint8Array {
  const digits = text.toLowerCase().replace(/(?<!=)=+$/, "");
  const bytes = new Uint8Array(Math.floor((digits.length * 5) / 8));
  let [bits, held, at] = [0, 0, 0];
  for (const digit of digits) {
    bits = ((bits << 5) | BASE32.indexOf(digit)) & 0xfff;
    held += 5;
    if (held < 8) continue;
    held -= 8;
    bytes[at++] = bits >> held;
  }
  return bytes;
}

/** What a text is that is no digest. */
export function noDigest(signature: string): Mistake {
  if (hasVariable(signature)) return SIGNATURE_NOT_FILLED_IN;
  return isNotText(signature.trim()) ? SIGNATURE_NOT_TEXT : SIGNATURE_MALFORMED;
}

/** A shorter beginning of the right signature may be chance. */
const SHORTEST_CUT = 12;

/** What was done to the right digest that cannot be undone: the text is compared with what it makes of it. */
export function lossyForm(received: string, bytes: Uint8Array): Mistake | undefined {
  if (received.length > MAX_SIGNATURE_LENGTH) return undefined;
  const text = received.trim().replace(NAME, "").replace(NAMED_BY_HYPHEN, "").replace(/^v1,/, "");
  const hex = hexOf(bytes);
  const right = encodeBase64url(bytes);
  const spelled = [right, hex, encodeBase64(bytes), hex.toUpperCase()];
  const isEncodingOf = (inside: Uint8Array) =>
    [encodeBase64url(inside), encodeBase64(inside), hexOf(inside)].includes(text);
  const asLatin1 = latin1Text(bytes);
  if (received === asLatin1 || isEncodingOf(utf8(lossyText(bytes))) || isEncodingOf(utf8(asLatin1)))
    return SIGNATURE_READ_AS_TEXT;
  if (isPartOf(text, bytes, spelled)) return SIGNATURE_CUT;
  if ([unpadded(bytes), unpadded(Int32Array.from(Int8Array.from(bytes)))].includes(text.toLowerCase()))
    return SIGNATURE_ZEROS_LOST;
  return [right, encodeBase64(bytes)].some((one) =>
    [one.toLowerCase(), one.toUpperCase()].some((cased) => cased === text || cased === `${text}=`),
  )
    ? SIGNATURE_OTHER_CASE
    : undefined;
}

/** Whether a text is the beginning or the end of the digest, of its text or of its bytes. */
function isPartOf(text: string, digest: Uint8Array, spelled: readonly string[]): boolean {
  if (text.length < SHORTEST_CUT) return false;
  if (spelled.some((one) => one !== text && (one.startsWith(text) || one.endsWith(text)))) return true;
  return [parseHex(text), decodeAnyBase64(text)].some((part) => {
    if (part === undefined || part.length < SHORTEST_CUT || part.length >= digest.length) return false;
    const inside = latin1Text(part);
    const whole = latin1Text(digest);
    return whole.startsWith(inside) || whole.endsWith(inside);
  });
}

/** Hex of each number without the zeros in front. */
function unpadded(numbers: Uint8Array | Int32Array): string {
  return Array.from(numbers, (one) => (one >>> 0).toString(16)).join("");
}
