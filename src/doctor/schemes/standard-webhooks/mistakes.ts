// Rows of mistakes in Standard Webhooks.
import { digestOf, hmacHex, hmacOf } from "#hash";
import {
  bodyBytes,
  concatBytes,
  decodeBase64url,
  decodeUtf8,
  encodeBase64,
  encodeBase64url,
  utf8,
} from "../../../core/bytes.js";
import type { HashName } from "../../../core/hash-portable.js";
import { SERIALISING_MISTAKES } from "../../diagnose/mistakes/body.js";
import { ENCODING_MISTAKES } from "../../diagnose/mistakes/encoding.js";
import { ALGORITHM_MISTAKES } from "../../diagnose/mistakes/signature.js";
import { once, signedBodies, type WorkBudget } from "../../diagnose/search.js";
import { catalogueOf, type Option, optionsOf, type RepeatableMistake } from "../../rows/mistake.js";
import { writtenAgain } from "../../texts/line-breaks.js";
import { hexOf as hex, latin1Text, lossyText, parseHex } from "../../texts/rewrite.js";

const DECODE = "Take whsec_ away and decode the rest: Buffer.from(secret.slice('whsec_'.length), 'base64').";

/** What the key was made of: the whole text of the secret. */
const KEY_MISTAKES: readonly RepeatableMistake<(secret: string) => Uint8Array | undefined>[] = [
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
      [2, (secret) => lenient(secret.slice(5))],
      [2, (secret) => utf8(secret.slice(5))],
      [4, (secret) => utf8(`whsec_${secret}`)],
    ],
  },
  {
    id: "secret-key-as-text",
    title: "Decoded secret made a text",
    message:
      "It matches if the decoded secret was made a text before it became the key: in hex, in base64 again, or as characters.",
    fix: `${DECODE} Hand its bytes to the HMAC, without toString() in between.`,
    ways: [
      [1, (secret) => utf8(hex(lenient(secret.slice(6))))],
      [2, (secret) => utf8(lossyText(lenient(secret.slice(6))))],
      [2, (secret) => utf8(latin1Text(lenient(secret.slice(6))))],
      [2, (secret) => utf8(encodeBase64(lenient(secret.slice(6))).replace(/(?<!=)=+$/, ""))],
      [3, (secret) => utf8(encodeBase64url(lenient(secret.slice(6))))],
      [3, (secret) => utf8(hex(lenient(secret.slice(6))).toUpperCase())],
    ],
  },
  {
    id: "secret-encoded-again",
    title: "Secret encoded again",
    message: "It matches if the secret was encoded as base64 or decoded once more than it should be.",
    fix: DECODE,
    ways: [
      [2, (secret) => utf8(encodeBase64(utf8(secret)))],
      [2, (secret) => utf8(encodeBase64(utf8(secret.slice(6))))],
      [2, (secret) => lenient(lossyText(lenient(secret.slice(6))))],
    ],
  },
  {
    id: "secret-in-hex",
    title: "Secret read as hex",
    message: "It matches if the text behind whsec_ is read as hex.",
    fix: DECODE,
    ways: [[2, (secret) => parseHex(secret.slice(6))]],
  },
  {
    id: "secret-with-more",
    title: "Something around the secret",
    message: "It matches with a line break or quotes around the secret, as a file or a variable has them.",
    fix: `Take it away: secret.trim(). ${DECODE}`,
    ways: [
      [2, (secret) => utf8(`${secret}\n`)],
      [3, (secret) => utf8(`"${secret}"`)],
      [3, (secret) => utf8(`${secret.slice(6)}\n`)],
    ],
  },
  {
    id: "secret-hashed",
    title: "Secret hashed first",
    message: "It matches if the key is the SHA-256 of the secret.",
    fix: DECODE,
    ways: [
      [3, (secret) => decodeBase64url(digestOf("sha256", [secret])) ?? utf8("")],
      [3, (secret) => decodeBase64url(digestOf("sha256", [lenient(secret.slice(6))])) ?? utf8("")],
    ],
  },
  {
    id: "secret-missing",
    title: "No secret",
    message:
      "It matches with an empty key, or with the text undefined or null: the secret was not set, or was decoded as what it is not, such as hex, which gives nothing.",
    fix: `Set the variable that the sender reads the secret from, and refuse to start without it. ${DECODE}`,
    ways: ["", "undefined", "null", "None"].map((text) => [2, () => utf8(text)] as const),
  },
];

/** What stands before the body; `own` is the id that the body has by itself. */
type Head = (id: string, timestamp: string, own: string | undefined) => string;

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
    id: "timestamp-signed-in-milliseconds",
    title: "Timestamp signed in milliseconds",
    message: "It matches if the timestamp is signed in milliseconds.",
    fix: "Use whole seconds for both: Math.floor(Date.now() / 1000).",
    ways: [[1, (id, timestamp) => `${id}.${timestamp}000.`]],
  },
  {
    id: "timestamp-signed-otherwise",
    title: "Timestamp signed in another form",
    message: "It matches if the timestamp is signed as a date, or with decimals.",
    fix: "Sign the text of webhook-timestamp, whole seconds: Math.floor(Date.now() / 1000).",
    ways: [
      [1, (id, timestamp) => `${id}.${isoOf(timestamp)}.`],
      [2, (id, timestamp) => `${id}.${isoOf(timestamp).replace(".000Z", "Z")}.`],
      [2, (id, timestamp) => `${id}.${isoOf(timestamp).replace(".000Z", "+00:00")}.`],
      [2, (id, timestamp) => `${id}.${timestamp}.0.`],
      // str() of Python's datetime, with and without its zone.
      [2, (id, timestamp) => `${id}.${isoOf(timestamp).replace("T", " ").replace(".000Z", "+00:00")}.`],
      [2, (id, timestamp) => `${id}.${isoOf(timestamp).replace("T", " ").replace(".000Z", "")}.`],
    ],
  },
  {
    id: "parts-joined-otherwise",
    title: "Parts joined otherwise",
    message: "It matches with something else than periods between id, timestamp and body.",
    fix: ORDER,
    ways: [
      [1, (id, timestamp) => `${id}${timestamp}`],
      [1, (id, timestamp) => `${id}.${timestamp}`],
      ...[":", "\n", "|", "-", ",", " ", "_", "&"].map(
        (between) => [2, (id: string, timestamp: string) => `${id}${between}${timestamp}${between}`] as const,
      ),
      [3, (id, timestamp) => `${timestamp}${id}`],
      [3, (_, timestamp) => timestamp],
      [3, (id) => id],
      [3, (_, timestamp) => `v1:${timestamp}:`],
      [3, (_, timestamp) => `v0:${timestamp}:`],
      [3, (id, timestamp) => `v1.${id}.${timestamp}.`],
      [3, (id, timestamp) => `v1,${id}.${timestamp}.`],
      [4, (id, timestamp) => `webhook-id:${id}.webhook-timestamp:${timestamp}.`],
      [4, (id, timestamp) => `webhook-id: ${id}\nwebhook-timestamp: ${timestamp}\n`],
    ],
  },
  {
    id: "id-signed-otherwise",
    title: "Id signed in another spelling",
    message: "It matches with the id in small letters, in capitals or without its hyphens.",
    fix: ORDER,
    ways: [
      [2, (id, timestamp) => `${id.toLowerCase()}.${timestamp}.`],
      [2, (id, timestamp) => `${id.toUpperCase()}.${timestamp}.`],
      [2, (id, timestamp) => `${id.replaceAll("-", "")}.${timestamp}.`],
    ],
  },
];

/** What is tried with secrets alone, as a key takes thirty times as long for each; and alone, in no pair. */
const RARE_HEADS: readonly RepeatableMistake<Head>[] = [
  {
    id: "part-not-filled-in",
    title: "A part not filled in",
    message: "It matches with the text undefined or null in place of the id or the timestamp.",
    fix: `Set both before signing, and send the same values. ${ORDER}`,
    ways: ["undefined", "null", "None", ""].flatMap((text) => [
      [4, (_: string, timestamp: string) => `${text}.${timestamp}.`] as const,
      [4, (id: string) => `${id}.${text}.`] as const,
    ]),
  },
  {
    id: "timestamp-of-other-second",
    title: "The time read twice",
    message:
      "It matches with the timestamp a second or two earlier or later: another one was signed than sent.",
    fix: "Read the clock once, into a variable that is both signed and sent.",
    ways: [-1, 1, -2, 2].map(
      (seconds) => [4, (id: string, timestamp: string) => `${id}.${Number(timestamp) + seconds}.`] as const,
    ),
  },
  {
    id: "id-of-the-body",
    title: "The body's own id signed",
    message: "It matches with the id in the body in place of webhook-id.",
    fix: ORDER,
    ways: [[4, (id, timestamp, own) => `${own ?? id}.${timestamp}.`]],
  },
];

function isoOf(timestamp: string): string {
  const date = new Date(Number(timestamp) * 1000);
  return /^[0-9]{1,11}$/.test(timestamp) ? date.toISOString() : timestamp;
}

/** What the body was when it was signed. */
const BODY_MISTAKES: readonly RepeatableMistake<(body: Uint8Array) => Uint8Array | undefined>[] = [
  {
    id: "body-line-break",
    title: "Line break at the end of the body",
    message:
      "It matches if the body is signed with a line break at its end, or without the one that was sent.",
    fix: 'Sign the bytes that are sent; in a shell printf %s "$body", and curl --data-binary @body.json.',
    ways: [
      [1, (body) => utf8(`${decodeUtf8(body)}\n`)],
      [1, (body) => utf8((decodeUtf8(body) ?? "").trimEnd())],
    ],
  },
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
];

/** How the digest is written. */
export const BASE64 = "Write v1, and then the digest in base64: 'v1,' + hmac.digest('base64').";

/** What is computed in place of an HMAC-SHA256. */
const DIGEST_MISTAKES: readonly RepeatableMistake<Digest>[] = [
  {
    id: "hmac-arguments-swapped",
    title: "Key and message swapped",
    message: "It matches if the signed text is the key and the secret the message.",
    fix: `createHmac('sha256', key).update(text). ${BASE64}`,
    ways: [[2, (hash, key, parts) => hmac(hash, concatBytes(parts.map(bodyBytes)), [key])]],
  },
  {
    id: "hash-instead-of-hmac",
    title: "A hash instead of an HMAC",
    message:
      "It matches as a plain hash of the text, with the key in front of it, after it, or without a key.",
    fix: `createHmac('sha256', key).update(text). ${BASE64}`,
    ways: [
      [2, (hash, key, parts) => hashOf(hash, [key, ...parts])],
      [3, (hash, key, parts) => hashOf(hash, [...parts, key])],
      [3, (hash, _, parts) => hashOf(hash, parts)],
    ],
  },
];

/** What is signed behind the body, in place of before it: here, as the digest is what sees both. */
const TAIL_MISTAKES: readonly RepeatableMistake<Digest>[] = [
  {
    id: "body-not-last",
    title: "Body not at the end",
    message: "It matches with the body before the id or the timestamp, or with something behind it.",
    fix: ORDER,
    ways: [
      [4, (hash, key, [head = "", body = ""]) => hmac(hash, key, [body, ".", textOf(head).slice(0, -1)])],
      [4, (hash, key, [head = "", body = ""]) => hmac(hash, key, [body, ".", turned(head)])],
      [4, (hash, key, [head = "", body = ""]) => hmac(hash, key, [idOf(head), ".", body, ".", timeOf(head)])],
      [4, (hash, key, [head = "", body = ""]) => hmac(hash, key, [timeOf(head), ".", body, ".", idOf(head)])],
      [4, (hash, key, parts) => hmac(hash, key, [...parts, "."])],
      [4, (hash, key, [head = "", body = ""]) => hmac(hash, key, [body, textOf(head).replaceAll(".", "")])],
    ],
  },
];

const textOf = (part: string | Uint8Array) => (typeof part === "string" ? part : lossyText(part));
const idOf = (head: string | Uint8Array) => textOf(head).split(".")[0] ?? "";
const timeOf = (head: string | Uint8Array) => textOf(head).split(".")[1] ?? "";
const turned = (head: string | Uint8Array) => `${timeOf(head)}.${idOf(head)}`;

/** The rarer ways of the other scheme, with the words of this one. */
const RARE_DIGESTS: readonly RepeatableMistake<Digest>[] = ALGORITHM_MISTAKES.filter(
  ({ id }) => !DIGEST_MISTAKES.some((own) => own.id === id),
).map((row) => ({ ...row, fix: `createHmac('sha256', key).update(text). ${BASE64}` }));

/** Computes a digest in hex. */
type Digest = (hash: HashName, key: Uint8Array, parts: readonly (string | Uint8Array)[]) => string;

const hmac: Digest = (hash, key, parts) =>
  hash === "sha256" ? hmacHex(key, parts) : inHex(hmacOf(hash, key, parts));
const hashOf = (hash: HashName, parts: readonly (string | Uint8Array)[]) => inHex(digestOf(hash, parts));

function inHex(base64url: string): string {
  return hex(decodeBase64url(base64url) ?? new Uint8Array());
}

/** Every mistake in what is signed. */
export const MISTAKES = catalogueOf(
  KEY_MISTAKES,
  HEAD_MISTAKES,
  RARE_HEADS,
  DIGEST_MISTAKES,
  RARE_DIGESTS,
  TAIL_MISTAKES,
  BODY_MISTAKES,
  SERIALISING_MISTAKES,
  ENCODING_MISTAKES,
);

export const KEYS = optionsOf<(secret: string) => Uint8Array | undefined>(
  (secret) => lenient(secret.slice(6)),
  KEY_MISTAKES,
);
export const KEY_HEADS = optionsOf<Head>((id, timestamp) => `${id}.${timestamp}.`, HEAD_MISTAKES);
export const HEADS = [...KEY_HEADS, ...optionsOf<Head>(() => "", RARE_HEADS).slice(1)];
export const DIGESTS = optionsOf<Digest>(hmac, [...DIGEST_MISTAKES, ...TAIL_MISTAKES, ...RARE_DIGESTS]);

/** The bodies that may have been signed: the scheme's own mistakes first, and then those of every scheme. */
export function bodiesOf(
  sent: Uint8Array,
  budget: WorkBudget,
): readonly Option<() => Uint8Array | undefined>[] {
  const own = optionsOf((body) => body, BODY_MISTAKES).map(({ repeat, ...option }) => ({
    ...option,
    repeat: once(() => repeat(sent)),
  }));
  const { serialising, encoding } = signedBodies(sent, budget);
  const rare = <Of extends Option<unknown>>(option: Of) => ({
    ...option,
    weight: Math.max(option.weight, 2) as 2,
  });
  return [
    ...own,
    ...serialising.slice(1).map(rare),
    ...encoding
      .slice(1)
      .map(({ repeat, ...option }) => ({ ...rare({ ...option, repeat }), repeat: () => repeat(sent) })),
  ];
}

/** As Node's own decoder reads base64: whatever alphabet, whatever padding. */
function lenient(text: string): Uint8Array {
  const plain = text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return (
    decodeBase64url(plain) ?? decodeBase64url(plain.slice(0, plain.length - (plain.length % 4))) ?? utf8(text)
  );
}

function reserialised(body: Uint8Array, space?: number): Uint8Array | undefined {
  const text = writtenAgain(decodeUtf8(body) ?? "", space);
  return text === undefined ? undefined : utf8(text);
}
