// Rows of mistakes in a signature by a key (v1a), and reads one in the ways that people write it.
import { digestOf } from "#hash";
import { decodeBase64url, encodeBase64, encodeBase64url, utf8 } from "../../../core/bytes.js";
import { countOf } from "../../../core/shown.js";
import { type MistakeRow, type RepeatableMistake, withDetail } from "../../rows/mistake.js";
import { decodeAnyBase64, hexOf, latin1Text, parseHex } from "../../texts/rewrite.js";

const V1A =
  "Write v1a, and then the signature's 64 bytes in base64: 'v1a,' + sign(null, text, key).toString('base64').";

const ROWS = {
  otherForm: {
    id: "key-signature-in-other-form",
    title: "A key's signature in another form",
    message: "The key's signature is right, and is not written as v1a, and base64.",
    fix: V1A,
  },
  damaged: {
    id: "key-signature-damaged",
    title: "A key's signature damaged",
    message: "The signature's bytes were read as text before they were encoded, which destroys them.",
    fix: V1A,
  },
  length: {
    id: "key-signature-length",
    title: "A key's signature of another length",
    message: "A signature of v1a has 64 bytes.",
    fix: `Sign with Ed25519. ${V1A}`,
  },
  hmac: {
    id: "public-key-as-secret",
    title: "The public key taken for a shared secret",
    message: "The signature is an HMAC with the key: everybody who has the public key can make it.",
    fix: `Sign with the private key whsk_ and Ed25519, not with an HMAC. ${V1A}`,
  },
  half: {
    id: "key-halves-mixed-up",
    title: "The other half of the key pair",
    message:
      "The signature is made with the bytes of the receiver's key as the private key: the receiver has the private half, or the sender signs with the public one.",
    fix: "Make a new pair, as the private half may be known: the sender keeps whsk_ to sign with, and every receiver gets whpk_.",
  },
} satisfies Record<string, MistakeRow>;

/** Every mistake in how a key's signature is made and written. */
export const KEY_FORM_MISTAKES: readonly MistakeRow[] = Object.values(ROWS);

/** A signature as it was read from the header, with what is wrong in how it is written. */
interface ReadKeySignature {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly mistakes: readonly MistakeRow[];
}

/** The signatures of 64 bytes in a header, in the ways that people write them, and why others are none. */
export function readKeySignatures(list: string): {
  readonly read: readonly ReadKeySignature[];
  readonly faults: readonly MistakeRow[];
} {
  const read: ReadKeySignature[] = [];
  const faults: MistakeRow[] = [];
  if (list.length > MAX_LENGTH) return { read, faults };
  const isPlain = list.split(" ", MAX).every((part) => /^v\d{1,3}a?,[^\s,;]+$/.test(part));
  const parts = isPlain ? list.split(" ", MAX) : list.split(/[\s;"'[\]{}<>()]+|,(?=\s*v\d)/, MAX);
  for (const part of parts) {
    const [, version, separator = "", rest = ""] = /^(v\d{1,3}a?)(%2C|[,=:;.|-]?)(.*)$/is.exec(part) ?? [];
    const isWhole = version === undefined || /^[\w+/-]{86}={0,2}$/.test(part);
    const text = isWhole ? part : rest;
    const { bytes, says = [], fault } = bytesOf(text);
    if (fault && (version ?? "").endsWith("a")) faults.push(fault);
    if (bytes === undefined) continue;
    const ofVersion = isWhole
      ? ["No version stands before it."]
      : version !== "v1a"
        ? [`${version} stands before it.`]
        : separator !== ","
          ? ["v1a is not followed by a comma."]
          : [];
    const ofList = isPlain || parts.length < 2 ? [] : ["Something else than a space stands around it."];
    const all = [...ofVersion, ...ofList, ...says];
    const mistakes = all.length === 0 ? [] : [writtenOtherwise(all.join(" "))];
    read.push({ bytes: bytes.slice(), mistakes });
  }
  return { read, faults };
}

/** The right signature in another form, with what is seen of it. */
export function writtenOtherwise(says: string): MistakeRow {
  return withDetail(ROWS.otherForm, says);
}

const MAX = 16;
const MAX_LENGTH = 4_096;

interface ReadBytes {
  readonly bytes?: Uint8Array;
  readonly says?: readonly string[];
  readonly fault?: MistakeRow;
}

function bytesOf(text: string): ReadBytes {
  const hex = text.length === 128 ? parseHex(text) : undefined;
  if (hex) return { bytes: hex, says: ["It is in hex."] };
  const bytes = decodeAnyBase64(text);
  if (bytes === undefined) return {};
  const inside = latin1Text(bytes);
  const twice = /^(?:[0-9a-f]{128}|[\w+/-]{86}={0,2})\s?$/i.test(inside) ? inside.trim() : undefined;
  if (twice !== undefined) {
    const inner = twice.length === 128 ? parseHex(twice) : decodeAnyBase64(twice);
    return inner ? { bytes: inner, says: ["It is encoded twice."] } : {};
  }
  if ((inside.match(/\u00ef\u00bf\u00bd/g) ?? []).length > 2) return { fault: ROWS.damaged };
  if (bytes.length < 64)
    return { fault: withDetail(ROWS.length, `This one has ${countOf(bytes.length, "byte")}.`) };
  if (bytes.length > 64)
    return {
      bytes: bytes.subarray(0, 64),
      says: ["More stands behind its 64 bytes, as NaCl's crypto_sign puts the text there."],
    };
  const isStandard = /^[A-Za-z0-9+/]{86}==$/.test(text);
  return isStandard ? { bytes } : { bytes, says: ["It is in base64url, or without its padding."] };
}

/** The mistake of an HMAC in place of a signature by the key, if one of the list is that. */
export function hmacByKey(list: string, isMac: (digest: string) => boolean): MistakeRow | undefined {
  for (const part of list.slice(0, MAX_LENGTH).split(" ", MAX)) {
    const text = part.replace(/^v\d{1,3}a?[,=:]/i, "");
    const bytes = text.length === 64 ? parseHex(text) : decodeAnyBase64(text);
    if (bytes?.length === 32 && isMac(encodeBase64url(bytes))) return ROWS.hmac;
  }
  return undefined;
}

/** The mistake of taking the one half of a pair for the other. */
export const MIXED_UP: MistakeRow = ROWS.half;

const hashed = (hash: "sha256" | "sha512") => (text: Uint8Array) =>
  decodeBase64url(digestOf(hash, [text])) ?? text;

/** What is made of the text before the key signs it. */
export const PREHASH_MISTAKES: readonly RepeatableMistake<(text: Uint8Array) => Uint8Array>[] = [
  {
    id: "key-text-hashed",
    title: "The text hashed before a key signs it",
    message: "It matches if the text is hashed first, and its hash signed: Ed25519 hashes by itself.",
    fix: `Sign the text itself. ${V1A}`,
    ways: [
      [1, hashed("sha512")],
      [1, hashed("sha256")],
      [1, (text) => utf8(hexOf(hashed("sha256")(text)))],
      [2, (text) => utf8(hexOf(hashed("sha512")(text)))],
      [2, (text) => utf8(encodeBase64(hashed("sha256")(text)))],
    ],
  },
];

/** Where nothing gives a key's signature. */
export const UNEXPLAINED_BY_KEY: MistakeRow = {
  id: "signature-unexplained",
  title: "The signature does not match",
  message:
    "No known mistake gives the signature: another private key than the one that belongs to the receiver's key, another id, time or body than was signed, or a mistake that is not known here.",
  fix: "Compare on both sides the public key, webhook-id, webhook-timestamp and the body's SHA-256. What was tried: the other half of the pair, other forms of the signature, what stands before the body, hashes of the text, and the likeliest mistakes in the body.",
};
