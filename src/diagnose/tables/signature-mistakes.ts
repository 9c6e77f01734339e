import { encodeBase64url } from "../primitives/base64url.js";
import type { HashName } from "../primitives/hash-portable.js";
import type { Mistake } from "./mistake.js";
import { decodeAnyBase64, latin1Text, parseHex } from "./text-encodings.js";

/** A digest that a text stands for, and what is wrong about the text. */
export interface ReadDigest {
  readonly hash: HashName;
  /** As base64url without padding. */
  readonly digest: string;
  readonly forms: readonly SignatureForm[];
}

/** What may be wrong about the text of a digest. */
export type SignatureForm = keyof typeof SIGNATURE_FORMS;

/** The same, in words, for a signature. */
export const SIGNATURE_FORMS = {
  quoted: {
    id: "signature-quoted",
    title: "Quotes or white space around the signature",
    message: "Quotes or white space stand around the signature.",
    fix: "Send the 43 characters alone: headers['Webhook-Signature'] = signature.",
  },
  prefixed: {
    id: "signature-prefixed",
    title: "Prefix before the signature",
    message: "Something stands before the signature, such as v1, or sha256= of other schemes.",
    fix: "Send the 43 characters alone: headers['Webhook-Signature'] = signature, without a prefix.",
  },
  several: {
    id: "signature-several",
    title: "Several signatures",
    message: "There are several signatures in one header. The service takes one.",
    fix: "Send one signature. During a rotation: hmacSigner({ secret: [newSecret, oldSecret] }) finds out which one is taken.",
  },
  hex: {
    id: "signature-hex",
    title: "Signature in hex",
    message: "The signature is written in hex. It must be base64url.",
    fix: "Write it as base64url: .digest('base64url'), not .digest('hex'). In Python base64.urlsafe_b64encode(mac.digest()).rstrip(b'=').",
  },
  base64OfHex: {
    id: "signature-base64-of-hex",
    title: "Hex in base64",
    message: "The signature is base64 of the digest in hex. It must be base64url of the digest's bytes.",
    fix: "Encode the bytes: .digest('base64url'). In PHP hash_hmac('sha256', $input, $secret, true); the last argument gives bytes.",
  },
  base64: {
    id: "signature-base64",
    title: "Signature in standard base64",
    message:
      "The signature is written in standard base64, with + and /. It must be base64url, with - and _ and no padding.",
    fix: "Write it as base64url: .digest('base64url'), not .digest('base64').",
  },
  padded: {
    id: "signature-padded",
    title: "Padding after the signature",
    message: "The signature ends with padding (=). It must be base64url without padding.",
    fix: "Take it off: signature.replace(/=+$/, ''). In Python base64.urlsafe_b64encode(mac.digest()).rstrip(b'=').",
  },
  sha1: {
    id: "signature-sha1",
    title: "SHA-1 instead of SHA-256",
    message: "The signature has 20 bytes, as HMAC-SHA1 makes them. It must be HMAC-SHA256.",
    fix: "Use SHA-256: createHmac('sha256', secret).",
  },
  sha512: {
    id: "signature-sha512",
    title: "SHA-512 instead of SHA-256",
    message: "The signature has 64 bytes, as HMAC-SHA512 makes them. It must be HMAC-SHA256.",
    fix: "Use SHA-256: createHmac('sha256', secret).",
  },
} satisfies Record<string, Mistake>;

/** A signature that is no digest in any spelling. */
export const SIGNATURE_MALFORMED: Mistake = {
  id: "signature-malformed",
  title: "Not a signature",
  message: "The signature is not 43 characters of base64url, nor a digest in any other spelling.",
  fix: "Send what createHmac('sha256', secret).update(input).digest('base64url') gives.",
};

const HASH_BY_BYTES: Readonly<Record<number, HashName>> = { 20: "sha1", 32: "sha256", 64: "sha512" };
const PREFIX = /^(?:(?:hmac-)?sha-?(?:1|256|512)|hmac|v[0-9]|signature|bearer)[\s,=:]+/i;
const STRIPE = /^t=[0-9]+,(?=v[0-9]=)/;

/** Longer texts than any signature are not looked into. */
const MAX_LENGTH = 1_024;

/** Reads a digest in any spelling people give it; `undefined` if it is none. */
export function readDigest(received: string): ReadDigest | undefined {
  if (received.length > MAX_LENGTH) return undefined;
  const forms: SignatureForm[] = [];
  const bare = received.trim().replace(/^["'`]+|(?<!["'`])["'`]+$/g, "");
  if (bare !== received) forms.push("quoted");
  const [first = "", ...more] = bare.replace(STRIPE, "").split(/(?<!\s)\s+(?=v[0-9])|,(?=v[0-9]=)/);
  if (more.length > 0) forms.push("several");
  const text = first.replace(PREFIX, "");
  if (text !== first || STRIPE.test(bare)) forms.push("prefixed");

  const read = digestBytes(text);
  if (read === undefined) return undefined;
  forms.push(...read.forms);
  const hash = HASH_BY_BYTES[read.bytes.length];
  if (hash === undefined) return undefined;
  if (hash !== "sha256") forms.push(hash);
  return { hash, digest: encodeBase64url(read.bytes), forms };
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
