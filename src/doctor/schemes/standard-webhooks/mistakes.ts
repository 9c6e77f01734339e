// Rows of mistakes in Standard Webhooks.
import { decodeBase64url, decodeUtf8, encodeBase64, encodeBase64url, utf8 } from "../../../core/bytes.js";
import { rewrittenJson } from "../../../core/json.js";
import { catalogueOf, optionsOf, type RepeatableMistake } from "../../rows/mistake.js";

const DECODE = "Take whsec_ away and decode the rest: Buffer.from(secret.slice('whsec_'.length), 'base64').";

/** What the key was made of: the whole text of the secret. */
const KEY_MISTAKES: readonly RepeatableMistake<(secret: string) => Uint8Array>[] = [
  {
    id: "secret-not-decoded",
    title: "Secret not decoded",
    message: "It matches if the key is the text behind whsec_ itself: the base64 was not decoded.",
    fix: DECODE,
    ways: [[1, (secret) => utf8(secret.slice(6))]],
  },
  {
    id: "secret-prefix-kept",
    title: "Prefix kept",
    message: "It matches if the key is made of the whole text, with whsec_.",
    fix: DECODE,
    ways: [
      [1, (secret) => utf8(secret)],
      [1, (secret) => lenient(secret)],
    ],
  },
];

type Head = (id: string, timestamp: string) => string;

const ORDER = "Sign id + '.' + timestamp + '.' + body, with the values of the headers as they are sent.";

/** What stands before the body. */
const HEAD_MISTAKES: readonly RepeatableMistake<Head>[] = [
  {
    id: "parts-in-other-order",
    title: "Other order of the parts",
    message: "It matches if the timestamp stands before the id.",
    fix: ORDER,
    ways: [[1, (id, timestamp) => `${timestamp}.${id}.`]],
  },
  {
    id: "id-not-signed",
    title: "Id not signed",
    message: "It matches without the id.",
    fix: ORDER,
    ways: [[1, (_, timestamp) => `${timestamp}.`]],
  },
  {
    id: "timestamp-not-signed",
    title: "Timestamp not signed",
    message: "It matches without the timestamp.",
    fix: ORDER,
    ways: [[1, (id) => `${id}.`]],
  },
  {
    id: "body-alone-signed",
    title: "Body alone signed",
    message: "It matches without id and timestamp.",
    fix: ORDER,
    ways: [[1, () => ""]],
  },
  {
    id: "id-prefix-differs",
    title: "Prefix of the id",
    message:
      "It matches if the id is signed with msg_ before it, or without: another id was signed than sent.",
    fix: ORDER,
    ways: [
      [1, (id, timestamp) => `msg_${id}.${timestamp}.`],
      [1, (id, timestamp) => `${id.replace(/^msg_/, "")}.${timestamp}.`],
    ],
  },
  {
    id: "timestamp-in-milliseconds",
    title: "Timestamp in milliseconds",
    message: "It matches if the timestamp is signed in milliseconds.",
    fix: "Use whole seconds for both: Math.floor(Date.now() / 1000).",
    ways: [[1, (id, timestamp) => `${id}.${timestamp}000.`]],
  },
];

/** What the body was when it was signed. */
const BODY_MISTAKES: readonly RepeatableMistake<(body: Uint8Array) => Uint8Array | undefined>[] = [
  {
    id: "body-reserialised",
    title: "Body written again",
    message: "It matches if the body is parsed and written again: other bytes were signed than sent.",
    fix: "Sign and verify the bytes that are on the wire: express.raw(), await request.arrayBuffer().",
    ways: [
      [1, (body) => reserialised(body)],
      [1, (body) => reserialised(body, 2)],
    ],
  },
  {
    id: "body-line-break",
    title: "Line break at the end of the body",
    message:
      "It matches if the body is signed with a line break at its end, or without the one that was sent.",
    fix: "Sign the bytes that are sent; in a shell printf %s, and curl --data-binary.",
    ways: [
      [1, (body) => utf8(`${decodeUtf8(body)}\n`)],
      [1, (body) => utf8((decodeUtf8(body) ?? "").trimEnd())],
    ],
  },
];

const BASE64 = "Write v1, and then the digest in base64: 'v1,' + hmac.digest('base64').";

/** How the digest was written. */
const FORM_MISTAKES: readonly RepeatableMistake<(digest: Uint8Array) => string>[] = [
  {
    id: "version-missing",
    title: "Version missing",
    message: "The signature is right, and v1, does not stand before it.",
    fix: BASE64,
    ways: [[1, encodeBase64]],
  },
  {
    id: "signature-in-hex",
    title: "Signature in hex",
    message: "The digest is right and written in hexadecimal.",
    fix: BASE64,
    ways: [
      [1, (digest) => `v1,${hex(digest)}`],
      [1, hex],
      [1, (digest) => `sha256=${hex(digest)}`],
    ],
  },
  {
    id: "signature-in-base64url",
    title: "Signature in base64url",
    message: "The digest is right and written in base64url, or without its padding.",
    fix: BASE64,
    ways: [
      [1, (digest) => `v1,${encodeBase64url(digest)}`],
      [1, (digest) => `v1,${encodeBase64(digest).replace("=", "")}`],
      [1, encodeBase64url],
    ],
  },
  {
    id: "separator-differs",
    title: "Another separator behind the version",
    message: "The signature is right, and v1 is not followed by a comma.",
    fix: BASE64,
    ways: [
      [1, (digest) => `v1=${encodeBase64(digest)}`],
      [1, (digest) => `v1:${encodeBase64(digest)}`],
    ],
  },
];

/** Every mistake of the scheme. */
export const MISTAKES = catalogueOf(KEY_MISTAKES, HEAD_MISTAKES, BODY_MISTAKES, FORM_MISTAKES);

export const KEYS = optionsOf((secret) => lenient(secret.slice(6)), KEY_MISTAKES);
export const HEADS = optionsOf((id, timestamp) => `${id}.${timestamp}.`, HEAD_MISTAKES);
export const BODIES = optionsOf((body) => body, BODY_MISTAKES);
export const FORMS = optionsOf((digest) => `v1,${encodeBase64(digest)}`, FORM_MISTAKES);

/** As Node's own decoder reads base64: whatever alphabet, whatever padding. */
function lenient(text: string): Uint8Array {
  const plain = text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return (
    decodeBase64url(plain) ?? decodeBase64url(plain.slice(0, plain.length - (plain.length % 4))) ?? utf8(text)
  );
}

function reserialised(body: Uint8Array, space?: number): Uint8Array | undefined {
  const text = rewrittenJson(decodeUtf8(body) ?? "", space);
  return text === undefined ? undefined : utf8(text);
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
