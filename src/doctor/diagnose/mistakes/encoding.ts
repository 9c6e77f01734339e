// Rows of what happens to bytes between signing and sending.
import { digestOf } from "#hash";
import {
  concatBytes,
  decodeBase64url,
  decodeUtf8,
  encodeBase64,
  encodeBase64url,
  utf8,
} from "../../../core/bytes.js";
import type { HashName } from "../../../core/hash-portable.js";
import type { RepeatableMistake } from "../../rows/mistake.js";
import { dotnetQuotes, phpQuotes } from "../../texts/json-writer.js";
import { formEncoded } from "../../texts/other-text.js";
import {
  hexOf,
  htmlEntities,
  inLines,
  latin1,
  latin1Text,
  lossyText,
  pythonBytes,
  startsWithBom,
  utf16,
  withText,
} from "../../texts/rewrite.js";
import { SENT_BODY_MISTAKES } from "./encoding-sent.js";
import { AS_SENT, CHANGED_TEXT_MISTAKES, RAW } from "./encoding-text.js";

/** The bytes that were signed, made from the received ones; `undefined` where the mistake is impossible. */
export type Reencode = (bytes: Uint8Array) => Uint8Array | undefined;

/** What happens to the bytes of a body between signing and sending. */
export const ENCODING_MISTAKES: readonly RepeatableMistake<Reencode>[] = [
  {
    id: "body-newline-added",
    title: "Line break after the signed body",
    message: "It matches if a line break follows the body: it was signed with one and sent without.",
    fix: `${AS_SENT} In a shell: printf %s "$body", not echo.`,
    listener: {
      family: "body",
      accepts: "signatures over the body and a line break",
      bug: "it adds a line break to the body before it verifies",
    },
    ways: [
      [1, (bytes) => concatBytes([bytes, utf8("\n")])],
      [2, (bytes) => concatBytes([bytes, utf8("\r\n")])],
      [4, (bytes) => concatBytes([bytes, utf8("\0")])],
      [4, (bytes) => concatBytes([utf8("\n"), bytes])],
    ],
  },
  {
    id: "body-newline-removed",
    title: "Line break after the sent body",
    message:
      "It matches without the line break, or the white space, at the ends of the body: it was sent with it and signed without.",
    fix: RAW,
    listener: {
      family: "body",
      accepts: "signatures over the body without the white space at its ends",
      bug: "it trims the body before it verifies",
    },
    ways: [
      [1, (bytes) => withText(bytes, (text) => text.replace(/\r?\n$/, ""))],
      [2, (bytes) => withText(bytes, (text) => text.trim())],
    ],
  },
  {
    id: "body-line-endings",
    title: "Other line endings",
    message: "It matches if the line breaks inside the body are CRLF instead of LF, or LF instead of CRLF.",
    fix: `${AS_SENT} In Python open(path, 'rb'); in curl --data-binary @file, not --data.`,
    listener: {
      family: "body",
      accepts: "signatures over the body with other line endings",
      bug: "it changes the line endings of the body before it verifies",
    },
    ways: [
      [2, (bytes) => withText(bytes, (text) => text.replace(/\r?\n/g, "\r\n"))],
      [2, (bytes) => withText(bytes, (text) => text.replaceAll("\r\n", "\n"))],
      [2, (bytes) => withText(bytes, (text) => text.replace(/[\r\n]/g, ""))],
    ],
  },
  {
    id: "body-bom",
    title: "Byte order mark",
    message: "It matches if a byte order mark is added in front of the body or removed.",
    fix: `${AS_SENT} Without a byte order mark: in C# new UTF8Encoding(false), in Python encoding='utf-8'.`,
    listener: {
      family: "body",
      accepts: "signatures over the body with another byte order mark, or none",
      bug: "it adds a byte order mark to the body, or removes it, before it verifies",
    },
    ways: [
      [1, (bytes) => (startsWithBom(bytes) ? bytes.subarray(3) : undefined)],
      [2, (bytes) => (startsWithBom(bytes) ? undefined : concatBytes([utf8("\uFEFF"), bytes]))],
    ],
  },
  {
    id: "body-utf16",
    title: "Body signed as UTF-16",
    message: "It matches if the body is signed in UTF-16.",
    fix: `${AS_SENT} In C# Encoding.UTF8.GetBytes(body), not Encoding.Unicode.`,
    listener: {
      family: "body",
      accepts: "signatures over the body in UTF-16",
      bug: "it encodes the body as UTF-16",
    },
    ways: [
      [2, (bytes) => withText(bytes, (text) => utf16(text, true))],
      [3, (bytes) => withText(bytes, (text) => utf16(text, false))],
      [3, (bytes) => withText(bytes, (text) => utf16(`\uFEFF${text}`, true))],
    ],
  },
  {
    id: "body-latin1",
    title: "Body signed as Latin-1",
    message: "It matches if the body is signed in Latin-1, where ä is one byte.",
    fix: `${AS_SENT} In Java body.getBytes(StandardCharsets.UTF_8); in Node without the encoding 'latin1' or 'binary'.`,
    listener: {
      family: "body",
      accepts: "signatures over the body in Latin-1",
      bug: "it encodes the body as Latin-1",
    },
    ways: [
      [1, (bytes) => withText(bytes, latin1)],
      // Node writes the last eight bits of what Latin-1 does not have, of both halves of a surrogate pair.
      [
        4,
        (bytes) => withText(bytes, (text) => Uint8Array.from(text.split(""), (unit) => unit.charCodeAt(0))),
      ],
    ],
  },
  {
    id: "body-utf8-twice",
    title: "Body encoded as UTF-8 twice",
    message: "It matches if the body's bytes are read as Latin-1 and encoded as UTF-8 once more.",
    fix: `${AS_SENT} Node's 'latin1' and 'binary' strings are not text.`,
    listener: {
      family: "body",
      accepts: "signatures over the body encoded twice",
      bug: "it reads the body's bytes as Latin-1",
    },
    // Where the received bytes are no UTF-8, they were sent as Latin-1, which is a row of its own.
    ways: [[2, (bytes) => (decodeUtf8(bytes) === undefined ? undefined : utf8(latin1Text(bytes)))]],
  },
  {
    id: "body-not-utf8",
    title: "Bytes that are not UTF-8",
    message: "It matches if what is not UTF-8 in the body becomes U+FFFD: the body was handled as text.",
    fix: RAW,
    ways: [[2, (bytes) => (decodeUtf8(bytes) === undefined ? utf8(lossyText(bytes)) : undefined)]],
  },
  {
    id: "body-normalised",
    title: "Unicode normalised",
    message: "It matches if the body's characters are composed or decomposed (Unicode NFC, NFD).",
    fix: `${AS_SENT} Without normalize() in between.`,
    ways: [
      [3, (bytes) => withText(bytes, (text) => text.normalize("NFC"))],
      [3, (bytes) => withText(bytes, (text) => text.normalize("NFD"))],
    ],
  },
  {
    id: "body-stringified-twice",
    title: "Body serialised twice",
    message: "It matches if the body's JSON is serialised once more, as one string in quotes.",
    fix: "Serialise once: a text goes into the signature as it is, without JSON.stringify(text).",
    listener: {
      family: "body",
      accepts: "signatures over the body serialised twice",
      bug: "it serialises the body's text once more",
    },
    ways: [
      [2, (bytes) => withText(bytes, (text) => JSON.stringify(text))],
      [4, (bytes) => withText(bytes, (text) => JSON.stringify(JSON.stringify(text)))],
      // By PHP, and by .NET.
      [4, (bytes) => withText(bytes, phpQuotes)],
      [4, (bytes) => withText(bytes, dotnetQuotes)],
    ],
  },
  {
    id: "body-python-bytes",
    title: "Python bytes signed as text",
    message: "It matches if Python's b'…' surrounds the body, as f\"{body}\" does with bytes.",
    fix: "Join bytes with bytes: f'{timestamp}.{event_id}.'.encode() + body.",
    listener: { family: "body", accepts: "signatures over Python's b'…'", bug: "it puts bytes into a text" },
    ways: [[2, (bytes) => utf8(pythonBytes(bytes))]],
  },
  {
    id: "body-hashed",
    title: "A hash of the body signed",
    message: "It matches if a hash of the body, mostly its SHA-256, is signed instead of the body.",
    fix: "Sign the exact body: [timestamp, eventId, body].join('.'). The body's hash belongs to tokens (htb_s256).",
    listener: {
      family: "body",
      accepts: "signatures over a hash of the body",
      bug: "it verifies a hash of the body",
    },
    ways: [
      [2, (bytes) => hashed(bytes, hexOf)],
      [3, (bytes) => utf8(digestOf("sha256", [bytes]))],
      [3, (bytes) => hashed(bytes, encodeBase64)],
      ...(["md5", "sha1", "sha512"] as const).map(
        (name) => [4, (bytes: Uint8Array) => hashed(bytes, hexOf, name)] as const,
      ),
      [4, (bytes) => hashed(bytes, encodeBase64, "md5")],
      [4, (bytes) => hashed(bytes, (digest) => hexOf(digest).toUpperCase())],
      [4, (bytes) => decodeBase64url(digestOf("sha256", [bytes]))],
    ],
  },
  {
    id: "body-base64",
    title: "Body signed in base64",
    message: "It matches if the body is signed in base64, as some gateways hand it over (isBase64Encoded).",
    fix: "Decode it first: Buffer.from(event.body, event.isBase64Encoded ? 'base64' : 'utf8').",
    listener: {
      family: "body",
      accepts: "signatures over the body in base64",
      bug: "it does not decode the gateway's base64",
    },
    ways: [
      [2, (bytes) => utf8(encodeBase64(bytes))],
      // With line breaks, as Ruby's encode64 and Python's encodebytes have them.
      [3, (bytes) => utf8(inLines(encodeBase64(bytes), 60))],
      [3, (bytes) => utf8(inLines(encodeBase64(bytes), 76))],
      [4, (bytes) => utf8(`${encodeBase64(bytes)}\n`)],
      [3, (bytes) => utf8(encodeBase64url(bytes))],
    ],
  },
  {
    id: "body-in-hex",
    title: "Body signed in hex",
    message: "It matches if the body's bytes are signed in hex.",
    fix: `${AS_SENT} Without toString('hex') in between.`,
    ways: [
      [3, (bytes) => utf8(hexOf(bytes))],
      [4, (bytes) => utf8(hexOf(bytes).toUpperCase())],
    ],
  },
  {
    id: "body-url-encoded",
    title: "Body signed percent-encoded",
    message: "It matches if the body is percent-encoded first.",
    fix: `${AS_SENT} Without encodeURIComponent(body).`,
    ways: [
      [3, (bytes) => withText(bytes, encodeURIComponent)],
      [3, (bytes) => withText(bytes, formEncoded)],
      [4, (bytes) => withText(bytes, encodeURI)],
    ],
  },
  {
    id: "body-in-form",
    title: "Body signed inside of a form",
    message: "It matches if the body is one value of a form, such as payload=%7B%22…: form-encoded.",
    fix: `Sign the body alone, and let the sender use application/json. ${RAW}`,
    ways: [
      [3, (bytes) => withText(bytes, (text) => `payload=${formEncoded(text)}`)],
      [3, (bytes) => withText(bytes, (text) => `data=${formEncoded(text)}`)],
      // A body of JSON that was parsed as a form: one name without a value.
      [3, (bytes) => withText(bytes, (text) => `${formEncoded(text)}=`)],
    ],
  },
  {
    id: "body-in-envelope",
    title: "Body signed inside of an envelope",
    message: "It matches if the body is wrapped: one member of an object, such as data, payload or body.",
    fix: `Sign the body alone, as it is sent. ${RAW}`,
    ways: [
      ...["data", "payload", "body", "event"].map(
        (name) => [3, (bytes: Uint8Array) => withText(bytes, (text) => `{"${name}":${text}}`)] as const,
      ),
      ...["body", "payload", "data"].map(
        (name) =>
          [
            3,
            (bytes: Uint8Array) => withText(bytes, (text) => `{"${name}":${JSON.stringify(text)}}`),
          ] as const,
      ),
      [3, (bytes) => withText(bytes, (text) => `[${text}]`)],
    ],
  },
  {
    id: "body-as-buffer",
    title: "A Buffer signed as JSON",
    message:
      'It matches if the body is a Buffer that JSON.stringify wrote: {"type":"Buffer","data":[…]}, as express.raw() leaves it.',
    fix: "Sign the bytes themselves: createHmac('sha256', secret).update(head).update(req.body), without JSON.stringify.",
    ways: [[3, (bytes) => listed(bytes, (one) => `{"type":"Buffer","data":[${one.join(",")}]}`)]],
  },
  {
    id: "body-byte-list",
    title: "A list of numbers signed",
    message:
      "It matches if the body is a list of its bytes as numbers, as String(new Uint8Array(…)) has them.",
    fix: "Sign the bytes themselves, or their text: new TextDecoder().decode(bytes).",
    ways: [
      [3, (bytes) => listed(bytes, (one) => one.join(","))],
      [3, (bytes) => listed(bytes, (one) => `[${one.join(",")}]`)],
      [3, (bytes) => listed(bytes, (one) => `[${one.join(", ")}]`)],
      // Java's bytes have a sign; Go puts spaces between them; JSON.stringify writes a Uint8Array as an object.
      [3, (bytes) => listed(bytes, (one) => `[${Int8Array.from(one).join(", ")}]`)],
      [3, (bytes) => listed(bytes, (one) => `[${one.join(" ")}]`)],
      [
        3,
        (bytes) =>
          listed(bytes, (one) => `{${Array.from(one, (byte, index) => `"${index}":${byte}`).join(",")}}`),
      ],
    ],
  },
  {
    id: "body-html-entities",
    title: "Body signed with HTML entities",
    message:
      "It matches if quotes, <, > and & are HTML entities such as &quot;, as htmlspecialchars() writes them.",
    fix: `Escape where a page is made, never before signing. ${RAW}`,
    ways: [
      [3, (bytes) => withText(bytes, (text) => htmlEntities(text, "&#039;"))],
      [3, (bytes) => withText(bytes, (text) => htmlEntities(text, "&#x27;"))],
      [3, (bytes) => withText(bytes, (text) => htmlEntities(text, "&#39;"))],
      [3, (bytes) => withText(bytes, (text) => htmlEntities(text, "'"))],
      [
        3,
        (bytes) =>
          withText(bytes, (text) =>
            text
              .split('"')
              .map((part) => htmlEntities(part, "'"))
              .join('"'),
          ),
      ],
    ],
  },
  {
    id: "body-backslashes",
    title: "Backslashes of the body added or lost",
    message:
      "It matches if there is a backslash before each quote, as addslashes(), $util.escapeJavaScript and logs write it, or if stripslashes() has taken all backslashes away.",
    fix: `Take the body before anything escapes it: $input.body is in base64 with $util.base64Encode. ${RAW}`,
    ways: [
      [3, (bytes) => withText(bytes, (text) => text.replace(/["'\\]/g, "\\$&"))],
      [3, (bytes) => withText(bytes, (text) => text.replace(/["\\]/g, "\\$&"))],
      [3, (bytes) => withText(bytes, (text) => text.replace(/["'\\/]/g, "\\$&"))],
      [4, (bytes) => withText(bytes, (text) => text.replace(/\\([\s\S])/g, "$1"))],
    ],
  },
  ...CHANGED_TEXT_MISTAKES,
  ...SENT_BODY_MISTAKES,
];

/** A list of numbers is four times as long as the bytes; of more bytes than these none is tried. */
const MAX_LISTED_BYTES = 4_096;

function listed(bytes: Uint8Array, write: (bytes: Uint8Array) => string): Uint8Array | undefined {
  return bytes.length > MAX_LISTED_BYTES ? undefined : utf8(write(bytes));
}

function hashed(
  bytes: Uint8Array,
  encode: (digest: Uint8Array) => string,
  name: HashName = "sha256",
): Uint8Array | undefined {
  const digest = decodeBase64url(digestOf(name, [bytes]));
  return digest && utf8(encode(digest));
}
