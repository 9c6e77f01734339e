// Rows of wrong keys made from the right secret.
import { concatBytes, decodeBase64url, encodeBase64, encodeBase64url, utf8 } from "../../../core/bytes.js";
import type { Mistake, RepeatableMistake } from "../../rows/mistake.js";
import { decodeAnyBase64, latin1Text, lossyText, packedHex, parseHex, utf16 } from "../../texts/rewrite.js";
import { ENCODED_KEY_MISTAKES } from "./secret-encoded.js";
import {
  AS_IT_IS,
  bare,
  coreOf,
  cutTo,
  decodedAnd,
  type KeyOfSecret,
  ofDecoded,
  PREFIX,
} from "./secret-keys.js";
import { OTHER_KEY_MISTAKES } from "./secret-other.js";

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
      [1, decodeStandardBase64],
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
      [4, (secret) => utf8(`${secret}\r`)],
      [4, (secret) => utf8(`${secret}\n\n`)],
      [4, (secret) => utf8(`\n${secret}`)],
      [4, (secret) => utf8(`\n${secret}\n`)],
      // The two characters of an escape.
      [4, (secret) => utf8(`${secret}\\n`)],
      [4, bare((secret) => utf8(`${secret}\n`))],
      [4, bare((secret) => utf8(`${secret}\r\n`))],
      [4, decodedAnd((bytes) => concatBytes([bytes, utf8("\n")]))],
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
      [4, (secret) => utf8(`\`${secret}\``)],
      ...["\n", "\r\n", " "].flatMap((end) =>
        ['"', "'"].map((quote) => [4, (secret: string) => utf8(`${quote}${secret}${quote}${end}`)] as const),
      ),
      [4, (secret) => utf8(`\\"${secret}\\"`)],
      [4, (secret) => utf8(`\uFEFF"${secret}"`)],
      [4, (secret) => utf8(`b'${secret}'`)],
      [4, (secret) => utf8(`Some("${secret}")`)],
      [4, bare((secret) => utf8(`"${secret}"`))],
      [4, bare((secret) => utf8(`'${secret}'`))],
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
    ways: [
      [2, (secret) => (secret.startsWith("v1,") ? utf8(secret.slice(3)) : undefined)],
      [1, (secret) => (PREFIX.test(secret) ? utf8(secret.replace(PREFIX, "")) : undefined)],
    ],
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
    ways: [
      [1, (secret) => (PREFIX.test(secret) ? decodeAnyBase64(secret.replace(PREFIX, "")) : undefined)],
      [4, (secret) => (PREFIX.test(secret) ? decodeStandardBase64(secret.replace(PREFIX, "")) : undefined)],
    ],
  },
  {
    id: "secret-prefix-added",
    title: "Prefix before the secret",
    message:
      "It matches if whsec_, or Bearer, is in front of the secret. The service's secrets have no prefix.",
    fix: `${AS_IT_IS}, without a prefix.`,
    listener: {
      family: "key",
      accepts: "signatures made with whsec_ in front of the secret",
      bug: "it has a prefix in front of the secret",
    },
    ways: [
      [2, (secret) => utf8(`whsec_${secret}`)],
      [4, (secret) => utf8(`v1,whsec_${secret}`)],
      [4, (secret) => (secret.startsWith("whsec_") ? utf8(`v1,${secret}`) : undefined)],
      [4, (secret) => utf8(`whsec_${encodeBase64(utf8(secret))}`)],
      [4, (secret) => utf8(`Bearer ${secret}`)],
    ],
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
    ways: [
      ...["", "undefined", "null", "None"].map((text) => [2, () => utf8(text)] as const),
      ...["nil", "NaN", "true", "false", "{}", "[]", "0"].map((text) => [3, () => utf8(text)] as const),
      [4, () => new Uint8Array(32)],
    ],
  },
  {
    id: "secret-space",
    title: "Space next to the secret",
    message: "It matches if there is a space before or after the secret.",
    fix: "Remove it where the secret is read: secret.trim().",
    listener: {
      family: "secret",
      accepts: "signatures made with a space next to the secret",
      bug: "its secret has a space next to it",
    },
    ways: [
      [2, (secret) => utf8(`${secret} `)],
      [3, (secret) => utf8(` ${secret}`)],
      [4, (secret) => utf8(` ${secret} `)],
      [4, (secret) => utf8(` ${secret}\n`)],
      [4, (secret) => utf8(`${secret} \n`)],
      [4, (secret) => utf8(`${secret}\t`)],
      [4, bare((secret) => utf8(`${secret} `))],
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
    ways: [
      [1, parseHex],
      [4, bare(parseHex)],
      // Ruby's [secret].pack('H*') takes letters beyond F as well.
      [4, packedHex],
    ],
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
  ...ENCODED_KEY_MISTAKES,
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
    ways: [
      [3, (secret) => utf8(secret.endsWith("=") ? secret.replace(/(?<!=)=+$/, "") : `${secret}=`)],
      [4, (secret) => utf8(`${secret}=`)],
      [4, (secret) => utf8(`${secret}==`)],
      [4, bare((secret) => utf8(secret.endsWith("=") ? secret.replace(/(?<!=)=+$/, "") : `${secret}=`))],
    ],
  },
  // After those that explain the same bytes without another alphabet.
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
    ways: [
      [2, (secret) => utf8(secret.replaceAll("-", "+").replaceAll("_", "/"))],
      [4, (secret) => utf8(secret.replaceAll("+", "-").replaceAll("/", "_"))],
      [4, (secret) => utf8(`${secret.replaceAll("-", "+").replaceAll("_", "/")}=`)],
      // Decoded, and written in the other alphabet.
      [4, decodedAnd((bytes) => utf8(encodeBase64(bytes)))],
      [4, decodedAnd((bytes) => utf8(encodeBase64url(bytes)))],
      [4, bare((secret) => utf8(secret.replaceAll("-", "+").replaceAll("_", "/")))],
    ],
  },
  {
    id: "secret-invisible-character",
    title: "An invisible character next to the secret",
    message:
      "It matches if there is a zero-width or no-break space next to the secret, as when it is copied from a page or a chat.",
    fix: "Type or copy it again, and remove what is not base64url: secret.replace(/[^\\w-]/g, '').",
    ways: [
      [2, (secret) => (secret.includes("\u200b") ? utf8(coreOf(secret)) : undefined)],
      [3, (secret) => utf8(`${secret}\u200b`)],
      [3, (secret) => utf8(`\u200b${secret}`)],
      [3, (secret) => utf8(`${secret}\u00a0`)],
      [3, (secret) => utf8(`\u00a0${secret}`)],
    ],
  },
  {
    id: "secret-cut",
    title: "A part of the secret lost",
    message: "It matches if the first or the last character of the secret is missing, or its end.",
    fix: "Copy the whole secret: compare its length, and secretFingerprint(secret), on both sides.",
    listener: {
      family: "secret",
      accepts: "signatures made with a part of the secret",
      bug: "it has only a part of the secret",
    },
    ways: [
      [3, (secret) => utf8(secret.slice(0, -1))],
      [3, (secret) => utf8(secret.slice(1))],
      // The size of a column, or of the key of a cipher.
      ...[16, 20, 24, 32, 40, 64].map((size) => [4, (secret: string) => cutTo(secret, size)] as const),
    ],
  },
  ...OTHER_KEY_MISTAKES,
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
    ways: [
      [3, (secret) => utf16(secret, true)],
      [4, (secret) => utf16(secret, false)],
      [4, (secret) => utf16(`\uFEFF${secret}`, true)],
      // Java's getBytes("UTF-16")
      [4, (secret) => utf16(`\uFEFF${secret}`, false)],
      [4, (secret) => utf16(`\uFEFF${secret}\r\n`, true)],
      // That of PowerShell's > read as UTF-8.
      [4, (secret) => utf8(lossyText(utf16(`\uFEFF${secret}\r\n`, true)))],
    ],
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
    ways: ["", "\n", "\r\n"].map((end) => [4, (secret) => utf8(`\uFEFF${secret}${end}`)] as const),
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
      [2, (secret) => utf8(secret.toLowerCase())],
      [3, (secret) => utf8(secret.toUpperCase())],
    ],
  },
  {
    id: "secret-twice",
    title: "The secret pasted twice, or with something behind it",
    message: "It matches if the secret stands there twice, or if a separator or another secret follows it.",
    fix: "Give the secret alone; a list of secrets is split before it is used.",
    ways: [
      [4, (secret) => utf8(`${secret}${secret}`)],
      [4, (secret) => utf8(`${secret}\n${secret}`)],
      ...[";", ",", ".", ":"].map((end) => [4, (secret: string) => utf8(`${secret}${end}`)] as const),
    ],
  },
];

/** Python and PHP drop the characters that the standard alphabet does not have. */
function decodeStandardBase64(text: string): Uint8Array | undefined {
  return decodeAnyBase64(text.replace(/[^A-Za-z0-9+/]/g, ""));
}
