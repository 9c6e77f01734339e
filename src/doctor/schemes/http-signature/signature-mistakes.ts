// Tries other keys made of a secret, and other spellings of a signature, where no other text explains it.
import { digestOf, hmacOf } from "#hash";
import { decodeBase64url, encodeBase64, utf8 } from "../../../core/bytes.js";
import type { HashName } from "../../../core/hash-portable.js";
import { shown } from "../../../core/shown.js";
import type { Jwks } from "../../../jwks/key-set.js";
import { isAlgorithm } from "../../../jwt/algorithms.js";
import { hasSigned, resolveKey } from "../../../jwt/verify.js";
import { algorithmsNamed } from "../../../schemes/http-signature/sign.js";
import type { HttpSignatureVerifierOptions } from "../../../schemes/http-signature/verify.js";
import { ALGORITHM_MISTAKES } from "../../diagnose/mistakes/signature.js";
import { OTHER_BYTES, OTHER_HALVES } from "../../diagnose/mistakes/token-signature.js";
import { opened } from "../../diagnose/rsa.js";
import { type Mistake, type MistakeRow, withDetail, withoutFunctions } from "../../rows/mistake.js";
import { decodeAnyBase64, hexOf, latin1Text, lossyText, parseHex } from "../../texts/rewrite.js";
import type { Signature } from "./facts.js";

const BASE64 = "Write the signature's bytes in base64 once, between two colons: Signature: sig1=:<base64>:.";

const ROWS = {
  key: {
    id: "secret-in-another-form",
    title: "The secret in another form",
    message: "It matches with another key made of the secret than the receiver makes.",
    fix: "Use the same bytes on both sides: either the text of the secret as UTF-8, or what it decodes to, given as bytes.",
  },
  hash: {
    id: "signature-other-hash",
    title: "Another hash",
    message: "It matches with another hash than SHA-256.",
    fix: "Use HMAC-SHA256 for hmac-sha256, and SHA-256 for ecdsa-p256-sha256 and rsa-v1_5-sha256.",
  },
  pss: {
    id: "signature-pss",
    title: "PSS in place of rsa-v1_5-sha256",
    message: "The signature has the padding of PSS. rsa-v1_5-sha256 has that of PKCS#1 v1.5.",
    fix: "Sign with PKCS#1 v1.5: in Python padding.PKCS1v15(), in C# RSASignaturePadding.Pkcs1, in AWS KMS RSASSA_PKCS1_V1_5_SHA_256.",
  },
  hashedFirst: {
    id: "text-hashed-first",
    title: "The text hashed first",
    message: "It matches if the text is hashed with SHA-256 or SHA-512, and its hash is signed.",
    fix: "Sign the text itself: the algorithm hashes by itself.",
  },
  hex: {
    id: "signature-in-hex",
    title: "Signature in hex",
    message: "The signature is right, and written in hex between the colons.",
    fix: BASE64,
  },
  encodedTwice: {
    id: "signature-encoded-twice",
    title: "Signature encoded twice",
    message: "The signature is right, and a text of it (hex or base64) was encoded once more.",
    fix: BASE64,
  },
  asText: {
    id: "signature-read-as-text",
    title: "Signature read as text",
    message: "The signature's bytes were read as text before they were encoded.",
    fix: BASE64,
  },
  order: {
    id: "signature-byte-order",
    title: "Bytes in another order",
    message: "The signature is right with its bytes in another order.",
    fix: BASE64,
  },
  otherKey: {
    id: "keyid-of-other-key",
    title: "Signed with another key of the set",
    message: "keyid names one key, and another key of the key set made the signature.",
    fix: "Sign with the private half of the key that keyid names, or send the other key's kid as keyid.",
  },
  zeros: {
    id: "signature-zeros",
    title: "Zeros lost or added",
    message: "The signature is right with r and s as 32 bytes each: a zero in front was lost or added.",
    fix: "Pad r and s to 32 bytes each: in Python r.to_bytes(32, 'big').",
  },
} satisfies Record<string, MistakeRow>;

/** What is computed in place of an HMAC, in the words of this scheme. */
const ALGORITHM_ROWS = ALGORITHM_MISTAKES.map((row) => ({
  ...row,
  message: row.message.replaceAll("signing input", "signed text"),
  fix: "createHmac('sha256', secret).update(text).digest('base64'), with the text of RFC 9421 section 2.5.",
}));

/** The rows of keys and spellings. */
export const SIGNATURE_ROWS: readonly MistakeRow[] = [...Object.values(ROWS), ...ALGORITHM_ROWS];

/** Keys that are made of the text of a secret, or of its bytes. */
const KEYS: readonly (readonly [says: string, make: (secret: Uint8Array) => Uint8Array | undefined])[] = [
  ["the secret decoded from base64", (secret) => decodeAnyBase64(lossyText(secret).replace(/^whsec_/, ""))],
  ["the secret decoded from hex", (secret) => parseHex(lossyText(secret))],
  ["the secret in base64", (secret) => utf8(encodeBase64(secret))],
  ["the secret in hex", (secret) => utf8(hexOf(secret))],
  ["the secret and a line break", (secret) => utf8(`${lossyText(secret)}\n`)],
  ["the secret without the white space around it", (secret) => utf8(lossyText(secret).trim())],
  ["the secret in quotes", (secret) => utf8(`"${lossyText(secret)}"`)],
  [
    "the secret decoded from base64 as Node does it, which skips other characters",
    (secret) => skipping(secret),
  ],
  ["the SHA-256 of the secret", (secret) => decodeBase64url(digestOf("sha256", [secret]))],
  [
    "the SHA-256 of the secret, in hex",
    (secret) => utf8(hexOf(decodeBase64url(digestOf("sha256", [secret])) ?? secret)),
  ],
  ["an empty secret", () => new Uint8Array()],
  ["the text undefined", () => utf8("undefined")],
];

/** What `Buffer.from(text, "base64")` makes of a text that is none: all up to the first "=", without other characters. */
function skipping(secret: Uint8Array): Uint8Array | undefined {
  const plain = lossyText(secret)
    .replace(/=.*$/s, "")
    .replace(/[^\w+/-]/g, "")
    .replaceAll("+", "-")
    .replaceAll("/", "_");
  const whole = decodeBase64url(plain + "A".repeat((4 - (plain.length % 4)) % 4));
  return whole?.subarray(0, Math.floor((plain.length * 3) / 4));
}

/** How many keys are made of a secret. */
export const KEY_WAYS: number = KEYS.length;

/** What is wrong with the key or the spelling of a signature, of which the text is right, or of an HMAC both. */
export async function mistakesBehindSignature(
  { parameters: { keyid, alg: name }, bytes }: Signature,
  right: string,
  { secrets = {}, keys, jwks }: HttpSignatureVerifierOptions & { readonly jwks?: Jwks | undefined },
): Promise<readonly Mistake[]> {
  if (typeof keyid !== "string") return [];
  const segment = encodeBase64(bytes);
  const secret = Object.hasOwn(secrets, keyid) ? secrets[keyid] : undefined;
  if (secret !== undefined)
    return behindHmac(bytes, segment, right, typeof secret === "string" ? utf8(secret) : secret);
  if (!keys) return [];
  for (const alg of algorithmsNamed(name)) {
    const resolved = await resolveKey(keys, { kid: keyid, alg });
    if (!resolved.ok) continue;
    const inside = alg === "RS256" ? insideOfRsa(bytes, right, modulusOf(jwks, keyid)) : undefined;
    if (inside) return [inside];
    const [short, long] = (["sha256", "sha512"] as const).map(
      (hash) => decodeBase64url(digestOf(hash, [right])) ?? bytes,
    ) as [Uint8Array, Uint8Array];
    for (const text of [short, utf8(hexOf(short)), long, utf8(hexOf(long))])
      if (await hasSigned(resolved.key, alg, bytes.slice(), text.slice())) return [ROWS.hashedFirst];
    for (const { of, bytes: spelled } of alg === "ES256" ? [...OTHER_BYTES, ...OTHER_HALVES] : OTHER_BYTES)
      for (const one of spelled(segment, bytes))
        if (
          one !== undefined &&
          one.length >= 60 &&
          (await hasSigned(resolved.key, alg, one.slice(), utf8(right))) &&
          of in ROWS
        )
          return [ROWS[of as keyof typeof ROWS]];
  }
  return madeByOther({ keyid, bytes, right }, keys, jwks);
}

/** Whether another key of the document has made the signature. */
async function madeByOther(
  { keyid, bytes, right }: { readonly keyid: string; readonly bytes: Uint8Array; readonly right: string },
  keys: NonNullable<HttpSignatureVerifierOptions["keys"]>,
  jwks: Jwks | undefined,
): Promise<readonly Mistake[]> {
  const members: unknown = jwks?.keys;
  if (!Array.isArray(members)) return [];
  for (const one of members.slice(0, MAX_TRIED_KEYS) as readonly (Partial<Jwks["keys"][number]> | null)[]) {
    const { kid, alg } = one ?? {};
    if (typeof kid !== "string" || kid === keyid || !isAlgorithm(alg)) continue;
    const resolved = await resolveKey(keys, { kid, alg });
    if (resolved.ok && (await hasSigned(resolved.key, alg, bytes.slice(), utf8(right))))
      return [withDetail(ROWS.otherKey, `The key ${shown(kid)} made it.`)];
  }
  return [];
}

/** A key set has a handful of keys; more are not tried. */
const MAX_TRIED_KEYS = 12;

/** The modulus of the key with this name. */
function modulusOf(jwks: Jwks | undefined, keyid: string): Uint8Array | undefined {
  const keys: unknown = jwks?.keys;
  const key = Array.isArray(keys)
    ? keys.find((one: Partial<Jwks["keys"][number]> | null) => one?.kid === keyid)
    : undefined;
  return typeof key?.n === "string" ? decodeBase64url(key.n) : undefined;
}

/** What an RSA signature over the right text says by itself: another padding, or another hash. */
function insideOfRsa(bytes: Uint8Array, right: string, modulus: Uint8Array | undefined): Mistake | undefined {
  const inside = modulus && opened(bytes, modulus);
  if (inside?.isPssOf(utf8(right))) return ROWS.pss;
  const { hash = "sha256", held } = inside ?? {};
  if (hash === "sha256" || held !== hexOf(decodeBase64url(digestOf(hash, [right])) ?? bytes))
    return undefined;
  return withDetail(ROWS.hash, `It is ${hash.replace("sha", "SHA-")}.`);
}

const HASHES: Readonly<Record<number, HashName>> = {
  20: "sha1",
  32: "sha256",
  48: "sha384",
  64: "sha512",
  16: "md5",
};

function behindHmac(
  bytes: Uint8Array,
  segment: string,
  right: string,
  secret: Uint8Array,
): readonly Mistake[] {
  const inside = latin1Text(bytes);
  const isText = /^[\w+/=-]{40,130}$/.test(inside);
  const spellings: readonly (readonly [MistakeRow | undefined, Uint8Array | undefined])[] = [
    [undefined, bytes],
    [ROWS.hex, parseHex(segment)],
    [ROWS.encodedTwice, isText ? parseHex(inside) : undefined],
    [ROWS.encodedTwice, isText ? decodeAnyBase64(inside) : undefined],
  ];
  for (const [row, given] of spellings) {
    const hash = given && HASHES[given.length];
    if (given === undefined || hash === undefined) continue;
    const isMade = (key: Uint8Array, text: string) =>
      hexOf(decodeBase64url(hmacOf(hash, key, [text])) ?? key) === hexOf(given);
    const ofHash = hash === "sha256" ? [] : [withDetail(ROWS.hash, `It is ${hash.replace("sha", "SHA-")}.`)];
    const told = [...(row ? [row] : []), ...ofHash];
    if (told.length > 0 && isMade(secret, right)) return told;
    for (const row of ALGORITHM_ROWS)
      for (const [, repeat] of row.ways)
        if (repeat(hash, secret, [right]) === hexOf(given)) return [withoutFunctions(row), ...told];
    for (const [says, make] of KEYS) {
      const key = make(secret);
      if (key === undefined) continue;
      if (isMade(key, right)) return [withDetail(ROWS.key, `It is ${says}.`), ...told];
    }
  }
  const asText = encodeBase64(utf8(lossyText(decodeBase64url(hmacOf("sha256", secret, [right])) ?? secret)));
  if (asText === segment) return [ROWS.asText];
  return [];
}
