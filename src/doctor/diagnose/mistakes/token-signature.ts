// Rows of tokens that are signed over other texts, by other hashes, or written in another spelling.
import { decodeBase64url, encodeBase64, encodeBase64url, utf8 } from "../../../core/bytes.js";
import type { MistakeRow } from "../../rows/mistake.js";
import { decodeAnyBase64, latin1, latin1Text, lossyText, parseHex, utf16 } from "../../texts/rewrite.js";

const LIBRARY = "Let a JWT library make the whole token, or jwtSigner({ key, kid, alg }).";
const INPUT =
  "Sign the bytes of base64url(header) + '.' + base64url(claims), exactly as they stand in the token.";
const BYTES = "Encode the signature's bytes once: signature.toString('base64url').";

/** What goes wrong with the signature of a token. */
export const TOKEN_SIGNATURE_MISTAKES = {
  none: {
    id: "token-signature-missing",
    title: "No signature in the token",
    message: "The token has no third part: it is not signed.",
    fix: LIBRARY,
  },
  otherText: {
    id: "token-signature-of-other-text",
    title: "Another text signed",
    message: "The key has signed another text than the token's first two parts.",
    fix: INPUT,
  },
  headerChanged: {
    id: "token-header-changed",
    title: "The token's header was changed after signing",
    message: "The signature is that of the same claims under another header.",
    fix: "Set kid and typ before the token is signed, with the library's own option: in Node header or keyid, in Python headers={'kid': kid}.",
  },
  otherHash: {
    id: "token-signature-other-hash",
    title: "Another hash in the token's signature",
    message: "The signature is made with another hash. RS256 and ES256 have SHA-256.",
    fix: "Sign with SHA-256: sign('sha256', input, key); in Java SHA256withRSA or SHA256withECDSA.",
  },
  pss: {
    id: "token-signature-pss",
    title: "PSS in place of RS256",
    message: "The signature has the padding of PSS (PS256). RS256 has that of PKCS#1 v1.5.",
    fix: "Sign with PKCS#1 v1.5: in Python padding.PKCS1v15(), in C# RSASignaturePadding.Pkcs1, in AWS KMS RSASSA_PKCS1_V1_5_SHA_256.",
  },
  bareHash: {
    id: "token-signature-bare-hash",
    title: "The hash without its name in the signature",
    message:
      "The RSA signature holds the bare hash, without the name of the hash in front: it was encrypted and not signed.",
    fix: "Use a function that signs: crypto.sign('sha256', input, key), not privateEncrypt; openssl dgst -sha256 -sign, not rsautl.",
  },
  encodedTwice: {
    id: "token-signature-encoded-twice",
    title: "The token's signature encoded twice",
    message: "The signature is right, and a text of it (hex or base64) was encoded once more.",
    fix: BYTES,
  },
  hex: {
    id: "token-signature-hex",
    title: "The token's signature in hex",
    message: "The signature is right, and written in hex. It must be base64url.",
    fix: BYTES,
  },
  asText: {
    id: "token-signature-read-as-text",
    title: "The token's signature read as text",
    message: "The signature's bytes were read as text before they were encoded, which destroys them.",
    fix: `${BYTES} Keep them as bytes: no toString(), no String(bytes) in between.`,
  },
  order: {
    id: "token-signature-byte-order",
    title: "The signature's bytes in another order",
    message: "The signature is right with its bytes in another order.",
    fix: "Write r and then s, each with its highest byte first. In C# use RSA and ECDsa, not CryptoAPI, which reverses the bytes.",
  },
  zeros: {
    id: "token-signature-zeros",
    title: "Zeros lost or added in the signature",
    message:
      "The signature is right with r and s as 32 bytes each: a zero in front of one was lost or added.",
    fix: "Pad r and s to 32 bytes each: in Python r.to_bytes(32, 'big'); in Java BouncyCastle's BigIntegers.asUnsignedByteArray(32, r).",
  },
  length: {
    id: "token-signature-length",
    title: "A signature of another length",
    message:
      "The token's signature has another length than its algorithm gives: the token was cut, or signed by another algorithm.",
    fix: "Send the whole token: look for a column, a variable or a log that cuts it, and compare its length where it was made.",
  },
} satisfies Record<string, MistakeRow>;

/** The two parts that are signed, as they stand in the token. */
interface SignedParts {
  readonly header: string;
  readonly claims: string;
  readonly body: Uint8Array;
}

/** A text that may have been signed in place of the token's parts; undefined where it is the right one. */
interface OtherText {
  readonly of: keyof typeof TOKEN_SIGNATURE_MISTAKES;
  /** What was signed, as the end of a sentence; empty where the row says it all. */
  readonly says: string;
  text(parts: SignedParts): string | Uint8Array | undefined;
}

const other = (says: string, text: OtherText["text"]): OtherText => ({ of: "otherText", says, text });

const decoded = (part: string): Uint8Array => decodeBase64url(part) ?? new Uint8Array();

/** The texts that people sign in place of the right one, the likeliest first. */
export const OTHER_TEXTS: readonly OtherText[] = [
  other("the claims alone, in base64url", ({ claims }) => claims),
  other("the claims alone, as JSON", ({ claims }) => decoded(claims)),
  other(
    "header and claims as JSON, not encoded",
    ({ header, claims }) => `${lossyText(decoded(header))}.${lossyText(decoded(claims))}`,
  ),
  other(
    "header and claims in standard base64",
    ({ header, claims }) => `${encodeBase64(decoded(header))}.${encodeBase64(decoded(claims))}`,
  ),
  other(
    "header and claims in base64url with padding",
    ({ header, claims }) => `${padded(header)}.${padded(claims)}`,
  ),
  other("the two parts and a line break", ({ header, claims }) => `${header}.${claims}\n`),
  other("the two parts and a period", ({ header, claims }) => `${header}.${claims}.`),
  other("the two parts without the period", ({ header, claims }) => `${header}${claims}`),
  other("the claims and then the header", ({ header, claims }) => `${claims}.${header}`),
  other("the two parts in UTF-16", ({ header, claims }) => utf16(`${header}.${claims}`, true)),
  other("the two parts in quotes", ({ header, claims }) => `"${header}.${claims}"`),
  other("the request's body", ({ body }) => body),
  ...[withoutKid, (header: Members) => withoutKid({ typ: "JWT", ...header }), typFirst, plainHeader].map(
    (change): OtherText => ({
      of: "headerChanged",
      says: "",
      text({ header, claims }) {
        const text = changed(header, change);
        return text === undefined ? undefined : `${text}.${claims}`;
      },
    }),
  ),
];

type Members = Readonly<Record<string, unknown>>;

function changed(header: string, change: (members: Members) => Members): string | undefined {
  try {
    const made = encodeBase64url(utf8(JSON.stringify(change(JSON.parse(lossyText(decoded(header)))))));
    return made === header ? undefined : made;
  } catch {
    return undefined;
  }
}

function withoutKid({ kid: _, ...rest }: Members): Members {
  return rest;
}

function typFirst({ typ = "JWT", ...rest }: Members): Members {
  return { typ, ...rest };
}

function plainHeader({ alg }: Members): Members {
  return { alg, typ: "JWT" };
}

function padded(part: string): string {
  return part.padEnd(Math.ceil(part.length / 4) * 4, "=");
}

/** The bytes that a signature may have had, made of the text in the token. */
interface OtherBytes {
  readonly of: keyof typeof TOKEN_SIGNATURE_MISTAKES;
  bytes(segment: string, decodedBytes: Uint8Array): readonly (Uint8Array | undefined)[];
}

/** The ways in which a right signature is written wrongly, for the bytes as its algorithm makes them. */
export const OTHER_BYTES: readonly OtherBytes[] = [
  { of: "hex", bytes: (segment) => [parseHex(segment)] },
  {
    of: "encodedTwice",
    bytes(_, bytes) {
      const text = /^[\w+/=-]{80,1400}\s?$/.exec(latin1Text(bytes))?.[0].trim();
      return text === undefined ? [] : [parseHex(text), decodeAnyBase64(text)];
    },
  },
  { of: "asText", bytes: (_, bytes) => [bytes.length > 64 ? latin1(lossyText(bytes)) : undefined] },
  { of: "order", bytes: (_, bytes) => [bytes.slice().reverse()] },
];

/** The same of r and s, which ES256 has. */
export const OTHER_HALVES: readonly OtherBytes[] = [
  {
    of: "order",
    bytes: (_, bytes) =>
      bytes.length === 64
        ? [
            joinHalves(bytes.slice(32), bytes.slice(0, 32)),
            joinHalves(bytes.slice(0, 32).reverse(), bytes.slice(32).reverse()),
          ]
        : [],
  },
  {
    of: "zeros",
    bytes(_, bytes) {
      if (bytes.length === 65) return [bytes.slice(1), joinHalves(bytes.slice(0, 32), bytes.slice(33))];
      if (bytes.length === 66) return [joinHalves(bytes.slice(1, 33), bytes.slice(34))];
      if (bytes.length === 63)
        return [
          joinHalves(bytes.slice(0, 31), bytes.slice(31)),
          joinHalves(bytes.slice(0, 32), bytes.slice(32)),
        ];
      return bytes.length === 62 ? [joinHalves(bytes.slice(0, 31), bytes.slice(31))] : [];
    },
  },
];

/** r and s, each at the end of its 32 bytes. */
function joinHalves(r: Uint8Array, s: Uint8Array): Uint8Array {
  const both = new Uint8Array(64);
  both.set(r, 32 - r.length);
  both.set(s, 64 - s.length);
  return both;
}
