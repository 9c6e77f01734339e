// Rows of other hashes, and of signatures that are written wrongly.
import { digestOf, hmacHex, hmacOf } from "#hash";
import { bodyBytes, concatBytes, decodeBase64url, decodeUtf8, encodeBase64 } from "../../../core/bytes.js";
import type { HashName } from "../../../core/hash-portable.js";
import type { MistakeRow, RepeatableMistake } from "../../rows/mistake.js";
import { hexOf, utf16 } from "../../texts/rewrite.js";

/** Computes a digest of a message with a key, as hex. */
export type Digest = (hash: HashName, key: Uint8Array, message: readonly (string | Uint8Array)[]) => string;

const HMAC =
  "Use HMAC-SHA256 with the secret as key: createHmac('sha256', secret).update(input).digest('base64url').";

/** What people compute instead of an HMAC (specification 5.2, HMAC method, step 4). */
export const ALGORITHM_MISTAKES: readonly RepeatableMistake<Digest>[] = [
  {
    id: "hmac-arguments-swapped",
    title: "Key and message swapped",
    message:
      "It matches if the signing input is the key and the secret the message: the arguments are swapped.",
    fix: `${HMAC} In PHP hash_hmac('sha256', $input, $secret, true); in Python hmac.new(secret, input, 'sha256').`,
    listener: {
      family: "input",
      accepts: "signatures made with key and message swapped",
      bug: "it swaps the key and the message",
    },
    ways: [
      [2, (hash, key, message) => hmac(hash, joined(message), [key])],
      [4, (hash, key, [, ...body]) => hmac(hash, joined(body), [key])],
    ],
  },
  {
    id: "hash-instead-of-hmac",
    title: "A hash instead of an HMAC",
    message:
      "It matches as a plain hash of the signing input, with the secret in front of it, after it, or without the secret.",
    fix: HMAC,
    listener: {
      family: "input",
      accepts: "plain hashes in place of signatures",
      bug: "it computes a hash and no HMAC",
    },
    ways: [
      [2, (hash, key, message) => hashHex(hash, [key, ...message])],
      [3, (hash, key, message) => hashHex(hash, [...message, key])],
      [3, (hash, _key, message) => hashHex(hash, message)],
      [4, (hash, key, message) => hashHex(hash, [...message, ".", key])],
      [4, (hash, key, message) => hashHex(hash, [key, ".", ...message])],
      [4, (hash, key, message) => hashHex(hash, [key, ":", ...message])],
      [4, (hash, key, message) => hashHex(hash, [key, ...message, key])],
      // Of what follows the head: the body alone.
      [4, (hash, _key, [, ...body]) => hashHex(hash, body)],
      [4, (hash, key, [, ...body]) => hashHex(hash, [key, ...body])],
      [4, (hash, key, [, ...body]) => hashHex(hash, [...body, key])],
      [4, (hash, key, [, ...body]) => hashHex(hash, [...body, ".", key])],
      [4, (hash, key, [, ...body]) => hashHex(hash, [key, ".", ...body])],
      [4, (hash, key, [head = "", ...body]) => hashHex(hash, [firstPart(head), key, ...body])],
      [4, (hash, _key, message) => hashHex(hash, [rawHash(hash, message)])],
      [4, (hash, _key, message) => hashHex(hash, [hashHex(hash, message)])],
    ],
  },
  {
    id: "hmac-of-hash",
    title: "The hash of the signing input signed",
    message: "It matches if the signing input is hashed first and its hash is signed.",
    fix: `${HMAC} HMAC-SHA256 hashes by itself.`,
    ways: [
      [4, (hash, key, message) => hmac(hash, key, [rawHash(hash, message)])],
      [4, (hash, key, message) => hmac(hash, key, [hashHex(hash, message)])],
    ],
  },
  {
    id: "hmac-hashed-again",
    title: "The HMAC hashed once more",
    message: "It matches if the HMAC is hashed or signed once more.",
    fix: `${HMAC} Once: it is the signature.`,
    ways: [
      [4, (hash, key, message) => hashHex(hash, [rawHmac(hash, key, message)])],
      [4, (hash, key, message) => hashHex(hash, [hmac(hash, key, message)])],
      [4, (hash, key, message) => hmac(hash, key, [rawHmac(hash, key, message)])],
      [4, (hash, key, message) => hmac(hash, key, [hmac(hash, key, message)])],
    ],
  },
  {
    id: "input-encoded",
    title: "The signing input encoded",
    message:
      "It matches if the whole signing input is encoded as base64 or hex, or stands in quotes, before it is signed.",
    fix: `${HMAC} The input is the text itself, with the bytes of the body.`,
    ways: [
      [4, (hash, key, message) => hmac(hash, key, [encodeBase64(joined(message))])],
      [4, (hash, key, message) => hmac(hash, key, [hexOf(joined(message))])],
      [4, (hash, key, message) => hmac(hash, key, ['"', ...message, '"'])],
    ],
  },
  {
    id: "input-utf16",
    title: "The signing input in UTF-16",
    message: "It matches if the whole signing input is encoded as UTF-16.",
    fix: `${HMAC} In C# Encoding.UTF8.GetBytes(input), not Encoding.Unicode; in Java StandardCharsets.UTF_8.`,
    listener: {
      family: "input",
      accepts: "signatures over the text in UTF-16",
      bug: "it verifies a text in UTF-16",
    },
    ways: [
      [4, (hash, key, message) => hmac(hash, key, [inUtf16(message, true)])],
      [4, (hash, key, message) => hmac(hash, key, [inUtf16(message, false)])],
      [4, (hash, key, message) => hmac(hash, key, [inUtf16(["\uFEFF", ...message], true)])],
      [4, (hash, key, message) => hmac(hash, key, [inUtf16(["\uFEFF", ...message], false)])],
    ],
  },
];

type Message = readonly (string | Uint8Array)[];

/** What the protocol wants. */
export function hmac(hash: HashName, key: Uint8Array, message: Message): string {
  return hash === "sha256" ? hmacHex(key, message) : hexOf(rawHmac(hash, key, message));
}

function hashHex(hash: HashName, message: Message): string {
  return hexOf(rawHash(hash, message));
}

function rawHash(hash: HashName, message: Message): Uint8Array {
  return decodeBase64url(digestOf(hash, message)) ?? new Uint8Array();
}

function rawHmac(hash: HashName, key: Uint8Array, message: Message): Uint8Array {
  return decodeBase64url(hmacOf(hash, key, message)) ?? new Uint8Array();
}

function joined(message: readonly (string | Uint8Array)[]): Uint8Array {
  return concatBytes(message.map(bodyBytes));
}

/** Nothing is in UTF-16 where the body is no text. */
function inUtf16(message: Message, littleEndian: boolean): Uint8Array {
  const bytes = joined(message);
  const text = decodeUtf8(bytes);
  return text === undefined ? bytes : utf16(text, littleEndian);
}

function firstPart(head: string | Uint8Array): string {
  return typeof head === "string" ? (head.split(".")[0] ?? "") : "";
}

/** How the text of a signature is wrong, although the digest in it may be right. */
export const SIGNATURE_FORMS = {
  quoted: {
    id: "signature-quoted",
    title: "Quotes or white space around the signature",
    message: "There are quotes, white space, brackets or a separator around the signature.",
    fix: "Send the 43 characters alone: headers['Webhook-Signature'] = signature.",
  },
  prefixed: {
    id: "signature-prefixed",
    title: "Prefix before the signature",
    message: "There is something in front of the signature, such as v1, or sha256= of other schemes.",
    fix: "Send the 43 characters alone: headers['Webhook-Signature'] = signature, without a prefix.",
    listener: {
      family: "form",
      accepts: "signatures with a prefix such as sha256=",
      bug: "it expects a prefix",
    },
  },
  several: {
    id: "signature-several",
    title: "Several signatures",
    message: "There are several signatures in one header. The service accepts one.",
    fix: "Send one signature. During a rotation: hmacSigner({ secret: [newSecret, oldSecret] }) finds out which one is accepted.",
  },
  hex: {
    id: "signature-hex",
    title: "Signature in hex",
    message: "The signature is written in hex. It must be base64url.",
    fix: "Write it as base64url: .digest('base64url'), not .digest('hex'). In Python base64.urlsafe_b64encode(mac.digest()).rstrip(b'='); in C# WebEncoders.Base64UrlEncode(hash), not BitConverter.ToString(hash).",
    listener: { family: "form", accepts: "signatures in hex", bug: "it compares hex with base64url" },
  },
  base64OfHex: {
    id: "signature-base64-of-hex",
    title: "Hex in base64",
    message: "The signature is base64 of the digest in hex. It must be base64url of the digest's bytes.",
    fix: "Encode the bytes: .digest('base64url'). In PHP hash_hmac('sha256', $input, $secret, true); the last argument gives bytes.",
    listener: {
      family: "form",
      accepts: "signatures in base64 of hex",
      bug: "it encodes the hex text as base64",
    },
  },
  base64: {
    id: "signature-base64",
    title: "Signature in standard base64",
    message:
      "The signature is written in standard base64, with + and /. It must be base64url, with - and _ and no padding.",
    fix: "Write it as base64url: .digest('base64url'), not .digest('base64').",
    listener: {
      family: "form",
      accepts: "signatures in standard base64",
      bug: "it compares standard base64 with base64url",
    },
  },
  padded: {
    id: "signature-padded",
    title: "Padding after the signature",
    message: "The signature ends with padding (=). It must be base64url without padding.",
    fix: "Remove it: signature.replace(/=+$/, ''). In Python base64.urlsafe_b64encode(mac.digest()).rstrip(b'=').",
    listener: {
      family: "form",
      accepts: "signatures with padding (=)",
      bug: "it compares base64url with padding",
    },
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
  md5: {
    id: "signature-md5",
    title: "MD5 instead of SHA-256",
    message: "The signature has 16 bytes, as HMAC-MD5 makes them. It must be HMAC-SHA256.",
    fix: "Use SHA-256: createHmac('sha256', secret).",
  },
  sha384: {
    id: "signature-sha384",
    title: "SHA-384 instead of SHA-256",
    message: "The signature has 48 bytes, as HMAC-SHA384 makes them. It must be HMAC-SHA256.",
    fix: "Use SHA-256: createHmac('sha256', secret).",
  },
  base32: {
    id: "signature-base32",
    title: "Signature in base32",
    message:
      "The signature is written in base32, with the letters A to Z and the digits 2 to 7. It must be base64url.",
    fix: "Write it as base64url: .digest('base64url'). In Python base64.urlsafe_b64encode, not b32encode.",
  },
  encodedTwice: {
    id: "signature-encoded-twice",
    title: "Signature encoded twice",
    message:
      "The digest was encoded twice: its text was encoded once more, as base64 of base64 or hex of base64.",
    fix: "Encode the bytes once: .digest('base64url') is a text already.",
  },
  json: {
    id: "signature-in-json",
    title: "JSON around the signature",
    message: "The signature stands in an object or a list of JSON.",
    fix: "Send the 43 characters alone: headers['Webhook-Signature'] = signature, without JSON.stringify.",
  },
  openssl: {
    id: "signature-openssl-output",
    title: "What openssl prints",
    message: "The signature has what openssl dgst prints in front of the digest, such as (stdin)= .",
    fix: "Take the bytes: openssl dgst -sha256 -hmac $SECRET -binary | basenc --base64url -w0 | tr -d '=', without its text.",
  },
  pythonBytes: {
    id: "signature-python-bytes",
    title: "Python bytes as signature",
    message: "The signature is Python's text of bytes, b'…'.",
    fix: "Turn the bytes into text: base64.urlsafe_b64encode(mac.digest()).rstrip(b'=').decode(), without str() or f'{…}'.",
  },
  percent: {
    id: "signature-percent-encoded",
    title: "Signature percent-encoded",
    message: "The signature is percent-encoded, with %3D, %2B or %2F. A header's value is not encoded.",
    fix: "Send it as it is, without encodeURIComponent(signature), and as base64url: it has nothing to encode.",
  },
  plusAsSpace: {
    id: "signature-plus-as-space",
    title: "Spaces in the signature",
    message: "The signature has spaces where + stood: it was decoded as a form is.",
    fix: "Write it as base64url, which has no +: .digest('base64url'). Do not pass it through a form or a query.",
  },
  byteList: {
    id: "signature-byte-list",
    title: "A list of numbers as signature",
    message: "The signature is a list of the digest's bytes as numbers. It must be base64url.",
    fix: "Encode the bytes: Buffer.from(digest).toString('base64url'), without String(bytes).",
  },
} satisfies Record<string, MistakeRow>;

/** The signature is a value that has no text of its own. */
export const SIGNATURE_NOT_TEXT: MistakeRow = {
  id: "signature-not-text",
  title: "An object or nothing as signature",
  message: "The signature is the text of an object, of a promise, or of a value that is missing.",
  fix: "Await it and encode the bytes: Buffer.from(await crypto.subtle.sign('HMAC', key, input)).toString('base64url').",
};

/** The signature was to be filled in by a template, and was not. */
export const SIGNATURE_NOT_FILLED_IN: MistakeRow = {
  id: "signature-not-filled-in",
  title: "Signature not filled in",
  message: "The signature is a variable that was not filled in, such as {{signature}}.",
  fix: "Send what createHmac('sha256', secret).update(input).digest('base64url') gives.",
};

/** The bytes of the digest became a text, and that was encoded. */
export const SIGNATURE_READ_AS_TEXT: MistakeRow = {
  id: "signature-read-as-text",
  title: "A digest that was read as text",
  message: "The digest is right, but its bytes were read as text before they were encoded.",
  fix: "Encode the bytes: .digest('base64url'), without .digest().toString() or String.fromCharCode in between.",
};

/** The signing input was handed to what takes a prefix, and never hashed. */
export const SIGNATURE_INPUT_BEFORE: MistakeRow = {
  id: "signature-input-before-digest",
  title: "The signing input in front of an empty digest",
  message:
    "The signature is the signing input itself, with the HMAC of nothing behind it, as h.Sum(input) of Go makes it.",
  fix: "Write the input into the hash first: Sum of Go hashes nothing, and puts its argument before the digest.",
};

/** Only a part of the signature was sent. */
export const SIGNATURE_CUT: MistakeRow = {
  id: "signature-cut",
  title: "Signature cut short",
  message: "The signature is the beginning or the end of the right one: the rest is missing.",
  fix: "Send all 43 characters. Look for a column or a variable that is too short, and for a digest that is truncated.",
};

/** Each byte was printed without the zero in front of a single digit. */
export const SIGNATURE_ZEROS_LOST: MistakeRow = {
  id: "signature-zeros-lost",
  title: "Zeros of the hex lost",
  message:
    "The digest is right, but its bytes are printed in hex without their zeros in front, or with their sign.",
  fix: 'Encode the bytes as base64url. In Java Base64.getUrlEncoder().withoutPadding(), not Integer.toHexString; in C printf("%02x", byte) prints two digits.',
};

/** The signature was changed into capitals or small letters. */
export const SIGNATURE_OTHER_CASE: MistakeRow = {
  id: "signature-other-case",
  title: "Signature in other case",
  message: "The signature is the right one in lower case or in capitals. Its case counts.",
  fix: "Send it as it is, without toLowerCase() or toUpperCase().",
};

/** The signature is of the body before it was compressed. */
export const BODY_COMPRESSED: MistakeRow = {
  id: "body-signed-uncompressed",
  title: "Body compressed after it was signed",
  message: "It matches the decompressed body: it was compressed (gzip, deflate) after it was signed.",
  fix: "Send the body uncompressed: turn compression off in the client, and between proxy and listener.",
};

/** The signature is no digest in any spelling. */
export const SIGNATURE_MALFORMED: MistakeRow = {
  id: "signature-malformed",
  title: "Not a signature",
  message:
    "The signature is not 43 characters of base64url, nor a digest in another spelling that is known here.",
  fix: "Send what createHmac('sha256', secret).update(input).digest('base64url') gives.",
};

/** What may be wrong about the text of a digest. */
export type SignatureForm = keyof typeof SIGNATURE_FORMS;

/** The secret was sent instead of a signature. */
export const SECRET_SENT: MistakeRow = {
  id: "secret-sent",
  title: "The secret itself was sent",
  message: "The secret itself was sent in a header. Everybody who saw the request knows it.",
  fix: "Rotate the secret now. Send the signature that the secret makes: signHmac({ secret, timestamp, eventId, body }).",
};

/** What a listener shows that takes SHA-1, SHA-384 or SHA-512; a diagnosis says which of the three it was. */
export const SIGNATURE_OTHER_HASH: MistakeRow = {
  id: "signature-other-hash",
  title: "Another hash than SHA-256",
  message: "The signature is made with another hash than SHA-256.",
  fix: "Use SHA-256: createHmac('sha256', secret).",
  listener: {
    family: "input",
    accepts: "signatures made with another hash",
    bug: "it uses another hash than SHA-256",
  },
};

/** The search found no mistake that gives this signature. */
export const SIGNATURE_UNEXPLAINED: MistakeRow = {
  id: "signature-unexplained",
  title: "No known mistake",
  message:
    "No known mistake explains the signature: another secret, another body than was signed, or a mistake that is not known here.",
  fix: "Compare secretFingerprint(secret) on both sides, then the SHA-256 of the body's bytes on both sides.",
};
