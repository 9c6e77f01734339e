// Rows of what is wrong with the numbers of a published key, and the key that they may stand for.
import { decodeBase64url, decodeUtf8, encodeBase64url } from "../../../core/bytes.js";
import type { MistakeRow } from "../../rows/mistake.js";
import { hexOf, parseHex } from "../../texts/rewrite.js";

const EXPORT =
  "Let a library write the key: createPublicKey(pem).export({ format: 'jwk' }), or hookproof keys import.";

/** What goes wrong with a key in a key set. */
export const KEY_MATERIAL_MISTAKES = {
  type: {
    id: "key-type",
    title: "Another kty in the key set",
    message: "The key's kty is not the one of its algorithm: RSA for RS256, EC for ES256, OKP for EdDSA.",
    fix: EXPORT,
  },
  curve: {
    id: "key-curve",
    title: "Another curve in the key set",
    message: "The key's crv is not the one of its algorithm: P-256 for ES256, Ed25519 for EdDSA.",
    fix: `Write "crv": "P-256", not secp256r1 or prime256v1, or "crv": "Ed25519". ${EXPORT}`,
  },
  missing: {
    id: "key-material-missing",
    title: "A key without its numbers",
    message: "The key has not all of its members: n and e for RSA, x and y for EC, x for OKP, each a text.",
    fix: EXPORT,
  },
  spelling: {
    id: "key-material-spelling",
    title: "The key's numbers in another spelling",
    message: "A number of the key is not in base64url of its bytes, so it is another key.",
    fix: EXPORT,
  },
  length: {
    id: "key-material-length",
    title: "The key's numbers of another length",
    message: "A number of the key has too many or too few bytes: x and y have 32 each.",
    fix: `Pad x and y to 32 bytes with zeros in front. ${EXPORT}`,
  },
  order: {
    id: "key-material-order",
    title: "The key's numbers in another order",
    message: "The key's numbers are swapped, or have their bytes in another order.",
    fix: `The highest byte comes first. In Go big.Int.Bytes(), in C# ToByteArray(isUnsigned: true, isBigEndian: true). ${EXPORT}`,
  },
  noPoint: {
    id: "key-material-wrong",
    title: "The key's numbers are no key",
    message: "The key cannot be imported: x and y are no point of the curve, or x and y are of two keys.",
    fix: EXPORT,
  },
  exponent: {
    id: "key-exponent",
    title: "Another exponent in the key set",
    message: "The key's e is not AQAB, which is 65537 in base64url. Listeners accept that exponent alone.",
    fix: `Write "e": "AQAB". ${EXPORT}`,
  },
  short: {
    id: "key-too-short",
    title: "An RSA key that is too short",
    message: "The RSA key has fewer than 2048 bit.",
    fix: "Make a longer one: generateKey({ alg: 'RS256' }), or openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048.",
  },
  tooMany: {
    id: "key-set-too-many-keys",
    title: "Too many keys in the key set",
    message: "The key set has more than 50 keys, and is refused as a whole.",
    fix: "Publish the keys that are in use: next, active and retired. Remove those that were retired an hour ago.",
  },
} satisfies Record<string, MistakeRow>;

type Key = Readonly<Record<string, unknown>>;

/** A key that the published one may stand for. */
interface OtherKey {
  readonly of: keyof typeof KEY_MATERIAL_MISTAKES;
  /** What was done to its numbers, in words that follow "It verifies the signature". */
  readonly says: string;
  key(published: Key): Key | undefined;
}

/** The keys that a published one may stand for: a signature that one of them verifies proves what was done to it. */
export const OTHER_KEYS: readonly OtherKey[] = [
  {
    of: "order",
    says: "with the two numbers swapped.",
    key: ({ n, e, x, y, ...rest }) => (n === undefined ? { ...rest, x: y, y: x } : { ...rest, n: e, e: n }),
  },
  {
    of: "order",
    says: "with the bytes of each number reversed.",
    key: (key) => each(key, ["n", "x", "y"], reversed),
  },
  {
    of: "spelling",
    says: "with its numbers read as hex.",
    key: (key) => each(key, ["n", "x", "y"], fromHex),
  },
  {
    of: "spelling",
    says: "with its numbers read as decimals.",
    key: (key) => each(key, ["n", "x", "y"], fromDecimal),
  },
  {
    of: "spelling",
    says: "with its numbers decoded twice.",
    key: (key) => each(key, ["n", "x", "y"], twice),
  },
  {
    of: "spelling",
    says: "with the modulus inside of the DER that is published as n.",
    key: (key) => each(key, ["n"], fromDer),
  },
  {
    of: "missing",
    says: "with modulus and exponent as n and e.",
    key: ({ modulus, exponent, ...rest }) =>
      modulus === undefined ? undefined : { ...rest, n: modulus, e: exponent },
  },
  {
    of: "length",
    says: "with the numbers inside of what is published as one.",
    key: ({ kty, x, ...rest }) => {
      const bytes = typeof x === "string" ? decodeBase64url(x) : undefined;
      if (bytes === undefined || bytes.length < 44) return undefined;
      const size = kty === "EC" ? 64 : 32;
      const [head, tail] = [bytes.slice(-size, bytes.length - size + 32), bytes.slice(-32)];
      return {
        ...rest,
        kty,
        x: encodeBase64url(head),
        ...(kty === "EC" ? { y: encodeBase64url(tail) } : {}),
      };
    },
  },
  {
    of: "length",
    says: "with zeros in front, up to 32 bytes.",
    key: (key) => each(key, ["x", "y"], (text) => padded(text)),
  },
];

function each(key: Key, names: readonly string[], change: (text: string) => string | undefined): Key {
  const changed = names.map((name) => [name, typeof key[name] === "string" ? change(key[name]) : undefined]);
  return { ...key, ...Object.fromEntries(changed.filter(([, value]) => value !== undefined)) };
}

function fromDer(text: string): string | undefined {
  const modulus = /0282[0-9a-f]{4}00((?:[0-9a-f]{2}){256,512})0203010001$/.exec(
    hexOf(decodeBase64url(text) ?? new Uint8Array()),
  )?.[1];
  return modulus && fromHex(modulus);
}

function reversed(text: string): string | undefined {
  const bytes = decodeBase64url(text);
  return bytes && encodeBase64url(bytes.slice().reverse());
}

function fromHex(text: string): string | undefined {
  const bytes = parseHex(text.replace(/^0x|:/g, ""));
  return bytes && encodeBase64url(bytes);
}

function fromDecimal(text: string): string | undefined {
  if (!/^[0-9]{60,1300}$/.test(text)) return undefined;
  const hex = BigInt(text).toString(16);
  return fromHex(hex.padStart(Math.ceil(hex.length / 64) * 64, "0"));
}

function twice(text: string): string | undefined {
  const inner = decodeUtf8(decodeBase64url(text) ?? new Uint8Array()) ?? "";
  return /^[\w-]{43,700}$/.test(inner) ? inner : undefined;
}

function padded(text: string): string | undefined {
  const bytes = decodeBase64url(text);
  if (bytes === undefined || bytes.length >= 32) return undefined;
  const whole = new Uint8Array(32);
  whole.set(bytes, 32 - bytes.length);
  return encodeBase64url(whole);
}
