// Rows of wrong keys made from the right secret.
import { digestOf } from "#hash";
import { decodeBase64url, decodeUtf8, encodeBase64, utf8 } from "../../../core/bytes.js";
import type { Mistake, RepeatableMistake } from "../../rows/mistake.js";
import { decodeAnyBase64, hexOf, latin1Text, lossyText, parseHex, utf16 } from "../../texts/rewrite.js";

/** The bytes that are used as the key; `undefined` where the mistake is impossible. */
export type KeyOfSecret = (secret: string) => Uint8Array | undefined;

const AS_IT_IS = "Use the secret's text as it is: createHmac('sha256', secret)";
const PREFIX = /^(?:whsec|whsk|sk|secret)_/;

/** Names that people give to the member, and to the variable, with the secret. */
const JSON_NAMES = ["secret", "webhook_secret", "webhookSecret", "signing_secret", "WEBHOOK_SECRET"];
const VARIABLES = [
  "WEBHOOK_SECRET",
  "HOOKPROOF_SECRET",
  "SIGNING_SECRET",
  "WEBHOOK_SIGNING_SECRET",
  "SECRET",
];

/** The caller knows this secret, but the listener does not accept it. */
export const SECRET_NOT_ACCEPTED: Mistake = {
  id: "secret-not-accepted",
  title: "Another secret",
  message: "It matches with another secret that you gave, one that the listener does not accept.",
  fix: "Sign with the listener's current secret: hmacSigner({ secret }), or with [new, old] during a rotation.",
};

/** Wrong keys made from the right secret (specification 5.2, HMAC method, step 3). */
export const SECRET_MISTAKES: readonly RepeatableMistake<KeyOfSecret>[] = [
  {
    id: "secret-base64url-decoded",
    title: "Secret decoded from base64url",
    message: "It matches if the secret is base64url-decoded first. The key is the string itself.",
    fix: "Use the secret's text as it is: createHmac('sha256', secret), without Buffer.from(secret, 'base64url').",
    listener: {
      family: "key",
      accepts: "signatures made with the decoded secret",
      bug: "it decodes the secret",
    },
    ways: [[1, decodeBase64url]],
  },
  {
    id: "secret-base64-decoded",
    title: "Secret decoded from base64",
    message: "It matches if the secret is base64-decoded first. The key is the string itself.",
    fix: `${AS_IT_IS}, without Buffer.from(secret, 'base64'). In Python hmac.new(secret.encode(), …), without b64decode.`,
    listener: {
      family: "key",
      accepts: "signatures made with the secret decoded from base64",
      bug: "it decodes the secret from base64",
    },
    ways: [
      [1, decodeAnyBase64],
      // Python and PHP drop the characters that the standard alphabet does not have.
      [1, (secret) => decodeAnyBase64(secret.replace(/[^A-Za-z0-9+/]/g, ""))],
    ],
  },
  {
    id: "secret-newline",
    title: "Line break after the secret",
    message: "It matches if a line break follows the secret, as when it is read from a file.",
    fix: "Remove it where the secret is read: readFileSync(path, 'utf8').trim(). In a shell: printf %s, not echo.",
    listener: {
      family: "secret",
      accepts: "signatures made with a line break after the secret",
      bug: "its secret ends with a line break",
    },
    ways: [
      [1, (secret) => utf8(`${secret}\n`)],
      [2, (secret) => utf8(`${secret}\r\n`)],
    ],
  },
  {
    id: "secret-trimmed",
    title: "White space of the secret removed",
    message:
      "It matches if white space around the secret is removed: the secret that you gave here has some.",
    fix: "Give the secret without white space on both sides: secret.trim().",
    listener: {
      family: "secret",
      accepts: "signatures made with the secret without white space around it",
      bug: "the secret given here has white space around it, and the listener's has none",
    },
    ways: [[1, (secret) => utf8(secret.trim())]],
  },
  {
    id: "secret-quoted",
    title: "Quotes around the secret",
    message: "It matches if there are quotes around the secret, as when an .env file is read by hand.",
    fix: "Remove the quotes: secret.replace(/^[\"']|[\"']$/g, '').",
    listener: {
      family: "secret",
      accepts: "signatures made with quotes around the secret",
      bug: "its secret has quotes around it",
    },
    ways: [
      [1, (secret) => utf8(`"${secret}"`)],
      [2, (secret) => utf8(`'${secret}'`)],
    ],
  },
  {
    id: "secret-unquoted",
    title: "Quotes of the secret removed",
    message: "It matches if quotes around the secret are removed: the secret that you gave here has some.",
    fix: "Give the secret without quotes: secret.replace(/^[\"']|[\"']$/g, '').",
    listener: {
      family: "secret",
      accepts: "signatures made with the secret without quotes around it",
      bug: "the secret given here has quotes around it, and the listener's has none",
    },
    ways: [[1, (secret) => utf8(secret.trim().replace(/^["'`]|["'`]$/g, ""))]],
  },
  {
    id: "secret-prefix-removed",
    title: "Prefix of the secret removed",
    message: "It matches if the secret's prefix is removed. The key is the whole text.",
    fix: `${AS_IT_IS}, without secret.replace('whsec_', '').`,
    listener: {
      family: "key",
      accepts: "signatures made with the secret without its prefix",
      bug: "it removes the prefix of the secret",
    },
    ways: [[1, (secret) => (PREFIX.test(secret) ? utf8(secret.replace(PREFIX, "")) : undefined)]],
  },
  {
    id: "secret-prefix-removed-and-decoded",
    title: "Secret treated as Standard Webhooks does",
    message:
      "It matches if the secret's prefix is removed and the rest base64-decoded. The key is the whole text.",
    fix: `${AS_IT_IS}. A library for Standard Webhooks does not fit this service.`,
    listener: {
      family: "key",
      accepts: "signatures made with the secret without its prefix and decoded",
      bug: "it treats the secret as Standard Webhooks does",
    },
    ways: [[1, (secret) => (PREFIX.test(secret) ? decodeAnyBase64(secret.replace(PREFIX, "")) : undefined)]],
  },
  {
    id: "secret-prefix-added",
    title: "Prefix before the secret",
    message: "It matches if whsec_ is in front of the secret. The service's secrets have no prefix.",
    fix: `${AS_IT_IS}, without a prefix.`,
    listener: {
      family: "key",
      accepts: "signatures made with whsec_ in front of the secret",
      bug: "it has a prefix in front of the secret",
    },
    ways: [[2, (secret) => utf8(`whsec_${secret}`)]],
  },
  {
    id: "secret-missing",
    title: "No secret",
    message:
      'It matches with an empty key or the word "undefined", "null" or "None": no secret was set when the request was signed.',
    fix: "Stop when it is missing: if (!secret) throw new Error('the webhook secret is not set').",
    listener: {
      family: "secret",
      accepts: "signatures made with an empty secret, or with a word such as undefined",
      bug: "its secret is not set",
    },
    ways: ["", "undefined", "null", "None"].map((text) => [2, () => utf8(text)] as const),
  },
  {
    id: "secret-space",
    title: "Space beside the secret",
    message: "It matches if there is a space before or after the secret.",
    fix: "Remove it where the secret is read: secret.trim().",
    listener: {
      family: "secret",
      accepts: "signatures made with a space beside the secret",
      bug: "its secret has a space beside it",
    },
    ways: [
      [2, (secret) => utf8(`${secret} `)],
      [3, (secret) => utf8(` ${secret}`)],
    ],
  },
  {
    id: "secret-hex-decoded",
    title: "Secret decoded from hex",
    message: "It matches if the secret is hex-decoded first. The key is the string itself.",
    fix: `${AS_IT_IS}, without Buffer.from(secret, 'hex'). In Python hmac.new(secret.encode(), …), without bytes.fromhex.`,
    listener: {
      family: "key",
      accepts: "signatures made with the secret decoded from hex",
      bug: "it decodes the secret from hex",
    },
    ways: [[1, parseHex]],
  },
  {
    id: "secret-decoded-to-text",
    title: "Secret decoded to text",
    message: "It matches if the secret is base64-decoded and the bytes are read as text, as atob() does.",
    fix: `${AS_IT_IS}, without atob(secret) or Buffer.from(secret, 'base64').toString().`,
    listener: {
      family: "key",
      accepts: "signatures made with the secret decoded to text",
      bug: "it decodes the secret to text",
    },
    ways: [
      [2, (secret) => ofDecoded(secret, (bytes) => utf8(latin1Text(bytes)))],
      [2, (secret) => ofDecoded(secret, (bytes) => utf8(lossyText(bytes)))],
    ],
  },
  {
    id: "secret-other-alphabet",
    title: "Secret in the other alphabet",
    message: "It matches if - and _ of the secret become + and /. The key is the string itself.",
    fix: `${AS_IT_IS}, without replacing characters.`,
    listener: {
      family: "key",
      accepts: "signatures made with the secret in the other base64 alphabet",
      bug: "it replaces characters of the secret",
    },
    ways: [[2, (secret) => utf8(secret.replaceAll("-", "+").replaceAll("_", "/"))]],
  },
  {
    id: "secret-padding",
    title: "Padding of the secret",
    message:
      "It matches if padding (=) is added to the secret or removed from it. The key is the string itself.",
    fix: `${AS_IT_IS}, without adding or removing =.`,
    listener: {
      family: "key",
      accepts: "signatures made with another padding (=) of the secret",
      bug: "it adds or removes the padding of the secret",
    },
    ways: [[3, (secret) => utf8(secret.endsWith("=") ? secret.replace(/(?<!=)=+$/, "") : `${secret}=`)]],
  },
  {
    id: "secret-encoded",
    title: "Secret encoded once more",
    message: "It matches if the secret is encoded as base64 or hex first. The key is the string itself.",
    fix: `${AS_IT_IS}, without encoding it again.`,
    listener: {
      family: "key",
      accepts: "signatures made with the secret encoded once more",
      bug: "it encodes the secret once more",
    },
    ways: [
      [2, (secret) => utf8(encodeBase64(utf8(secret)))],
      [3, (secret) => utf8(hexOf(utf8(secret)))],
      [3, (secret) => ofDecoded(secret, (bytes) => utf8(hexOf(bytes)))],
      // echo "$SECRET" | base64, as for a Kubernetes Secret
      [3, (secret) => utf8(encodeBase64(utf8(`${secret}\n`)))],
    ],
  },
  {
    id: "secret-invisible-character",
    title: "An invisible character beside the secret",
    message:
      "It matches if there is a zero-width or no-break space beside the secret, as when it is copied from a page or a chat.",
    fix: "Type or copy it anew, and remove what is not base64url: secret.replace(/[^\\w-]/g, '').",
    ways: [
      [3, (secret) => utf8(`${secret}\u200b`)],
      [3, (secret) => utf8(`\u200b${secret}`)],
      [3, (secret) => utf8(`${secret}\u00a0`)],
      [3, (secret) => utf8(`\u00a0${secret}`)],
    ],
  },
  {
    id: "secret-cut",
    title: "A character of the secret lost",
    message: "It matches if the first or the last character of the secret is missing.",
    fix: "Copy the whole secret: compare its length, and secretFingerprint(secret), on both sides.",
    ways: [
      [3, (secret) => utf8(secret.slice(0, -1))],
      [3, (secret) => utf8(secret.slice(1))],
    ],
  },
  {
    id: "secret-in-json",
    title: "JSON around the secret",
    message:
      "It matches if the key is the JSON that a secrets manager stores, with the secret in one member.",
    fix: "Take the member out of it: JSON.parse(SecretString).secret.",
    ways: JSON_NAMES.flatMap((name) => [
      [3, (secret: string) => utf8(`{"${name}":"${secret}"}`)] as const,
      [3, (secret: string) => utf8(`{"${name}": "${secret}"}`)] as const,
    ]),
  },
  {
    id: "secret-assignment",
    title: "The variable's name before the secret",
    message:
      "It matches if the key is a whole line of an .env file, with the name and = in front of the secret.",
    fix: "Take what follows the =: the value alone.",
    ways: VARIABLES.map((name) => [3, (secret: string) => utf8(`${name}=${secret}`)] as const),
  },
  {
    id: "secret-not-expanded",
    title: "A variable that was not expanded",
    message:
      "It matches if the key is the text of a variable that nothing has replaced, such as $WEBHOOK_SECRET.",
    fix: "Set the value where it is read: single quotes in a shell, and most configuration files, expand nothing.",
    ways: VARIABLES.flatMap((name) => [
      [3, () => utf8(`\${${name}}`)] as const,
      [3, () => utf8(`$${name}`)] as const,
    ]),
  },
  {
    id: "secret-fingerprint",
    title: "The fingerprint in place of the secret",
    message:
      "It matches if the key is the secret's fingerprint, or its SHA-256 in hex, which only names the secret.",
    fix: "Use the secret itself, which secretFingerprint(secret) names.",
    ways: [
      [3, (secret) => utf8(`sha256:${hashInHex(secret).slice(0, 8)}`)],
      [3, (secret) => utf8(hashInHex(secret))],
    ],
  },
  {
    id: "secret-hashed",
    title: "Hash of the secret as key",
    message: "It matches if the key is the SHA-256 of the secret. The key is the string itself.",
    fix: `${AS_IT_IS}, without hashing it.`,
    listener: {
      family: "key",
      accepts: "signatures made with the hash of the secret",
      bug: "it hashes the secret",
    },
    ways: [[3, (secret) => decodeBase64url(digestOf("sha256", [utf8(secret)]))]],
  },
  {
    id: "secret-utf16",
    title: "Secret as UTF-16",
    message: "It matches if the secret's text is encoded as UTF-16. The key is its UTF-8 bytes.",
    fix: "Encode it as UTF-8: new TextEncoder().encode(secret). In C# Encoding.UTF8.GetBytes(secret), not Encoding.Unicode.",
    listener: {
      family: "key",
      accepts: "signatures made with the secret in UTF-16",
      bug: "it encodes the secret as UTF-16",
    },
    ways: [[3, (secret) => utf16(secret, true)]],
  },
  {
    id: "secret-bom",
    title: "Byte order mark before the secret",
    message:
      "It matches if there is a byte order mark in front of the secret, as some editors write it to files.",
    fix: "Remove it where the secret is read: text.replace(/^\\uFEFF/, ''). In Python open(path, encoding='utf-8-sig').",
    listener: {
      family: "secret",
      accepts: "signatures made with a byte order mark before the secret",
      bug: "its secret begins with a byte order mark",
    },
    ways: [[3, (secret) => utf8(`\uFEFF${secret}`)]],
  },
  {
    id: "secret-case",
    title: "Secret in other case",
    message: "It matches if the secret is written in lower case or in capitals. Its case counts.",
    fix: `${AS_IT_IS}, without toLowerCase() or toUpperCase().`,
    listener: {
      family: "key",
      accepts: "signatures made with the secret in other case",
      bug: "it changes the case of the secret",
    },
    ways: [
      [3, (secret) => utf8(secret.toLowerCase())],
      [3, (secret) => utf8(secret.toUpperCase())],
    ],
  },
];

/** Nothing where the decoded bytes are valid UTF-8: then the key is the decoded secret, which is another mistake. */
function ofDecoded(secret: string, keyOf: (bytes: Uint8Array) => Uint8Array): Uint8Array | undefined {
  const bytes = decodeAnyBase64(secret);
  return bytes && decodeUtf8(bytes) === undefined ? keyOf(bytes) : undefined;
}

function hashInHex(secret: string): string {
  return hexOf(decodeBase64url(digestOf("sha256", [utf8(secret)])) ?? new Uint8Array());
}
