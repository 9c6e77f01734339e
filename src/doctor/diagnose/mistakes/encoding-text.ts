// Rows of characters of a body that were changed, or lost, before it was signed.
import { utf8 } from "../../../core/bytes.js";
import type { RepeatableMistake } from "../../rows/mistake.js";
import { isAscii, latin1Text, withText } from "../../texts/rewrite.js";

type Change = (bytes: Uint8Array) => Uint8Array | undefined;

export const AS_SENT =
  "Sign the bytes that are sent: const bytes = new TextEncoder().encode(body), for the signature and for fetch.";
export const RAW =
  "Sign and verify the bytes as they are on the wire, without trimming: express.raw(), await request.arrayBuffer().";

const BEYOND_ASCII = /[^\0-\x7f]/g;

/** The body's text was changed on its way into the signature. */
export const CHANGED_TEXT_MISTAKES: readonly RepeatableMistake<Change>[] = [
  {
    id: "body-ascii",
    title: "Body signed as ASCII",
    message:
      "It matches if characters beyond ASCII are ? in the body, are left out, or have lost the highest bit of each byte: it was encoded or read as ASCII.",
    fix: `${AS_SENT} In C# Encoding.UTF8.GetBytes(body), not Encoding.ASCII; in Java StandardCharsets.UTF_8.`,
    listener: {
      family: "body",
      accepts: "signatures over the body read as ASCII",
      bug: "it reads the body as ASCII before it verifies",
    },
    ways: [
      [
        2,
        (bytes) => withText(bytes, (text) => text.replace(BEYOND_ASCII, (char) => "?".repeat(char.length))),
      ],
      [3, (bytes) => withText(bytes, (text) => text.replace(/[^\0-\x7f]/gu, "?"))],
      [3, (bytes) => withText(bytes, (text) => text.replace(BEYOND_ASCII, ""))],
      // Seven bits of each byte of a text, as toString('ascii') of Node reads them.
      [2, ofBytes((bytes) => bytes.map((byte) => byte & 127))],
      // Each byte a question mark, as where UTF-8 is read as ASCII.
      [3, ofBytes((bytes) => bytes.map((byte) => (byte > 127 ? 63 : byte)))],
      [3, ofBytes((bytes) => utf8(latin1Text(bytes).replace(/[^\0-\x7f]/g, "\uFFFD")))],
    ],
  },
  {
    id: "body-quotes-removed",
    title: "Quotes of the body lost",
    message: "It matches if the body's quotes are removed, or are single ones: a shell has taken them away.",
    fix: "Give the body as a file: curl --data-binary @body.json, openssl dgst … < body.json.",
    ways: [
      [4, (bytes) => withText(bytes, (text) => text.replaceAll('"', ""))],
      [4, (bytes) => withText(bytes, (text) => text.replaceAll('"', "'"))],
      [4, (bytes) => withText(bytes, (text) => `'${text}'`)],
      [4, (bytes) => withText(bytes, (text) => `"${text}"`)],
    ],
  },
  {
    id: "body-white-space-removed",
    title: "Body signed without any white space",
    message: "It matches if all white space is removed from the body, also within strings.",
    fix: RAW,
    ways: [[3, (bytes) => withText(bytes, (text) => text.replace(/\s/g, ""))]],
  },
  {
    id: "body-case",
    title: "Body signed in other case",
    message: "It matches if the body is in small letters or in capitals. Its case counts.",
    fix: `${AS_SENT} Without toLowerCase() or toUpperCase().`,
    listener: {
      family: "body",
      accepts: "signatures over the body in small letters",
      bug: "it changes the case of the body before it verifies",
    },
    ways: [
      [2, (bytes) => withText(bytes, (text) => inCase(text, text.toLowerCase()))],
      [4, (bytes) => withText(bytes, (text) => inCase(text, text.toUpperCase()))],
    ],
  },
];

/** A change of the bytes of a text that is more than ASCII: one byte that is no UTF-8 is damage. */
function ofBytes(change: (bytes: Uint8Array) => Uint8Array): Change {
  return (bytes) => withText(bytes, () => (isAscii(bytes) ? undefined : change(bytes)));
}

/** The text in other case; nothing where one letter alone differs, which any change of a byte may have made. */
function inCase(text: string, changed: string): string | undefined {
  let differing = 0;
  for (let at = 0; at < text.length && differing < 2; at++) if (text[at] !== changed[at]) differing++;
  return differing < 2 ? undefined : changed;
}
