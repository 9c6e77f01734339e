import { digestOf, hmacOf } from "#hash";
import { encodeBase64url, utf8 } from "../core/bytes.js";
import type { HashName } from "../core/hash-portable.js";
import { signingHead } from "../core/protocol.js";
import { type Mistake, type Option, optionsOf, withDetail } from "./mistake.js";
import { decodeAnyBase64, latin1Text, parseHex } from "./rewrite.js";
import { firstMatch, type SignedBodies, signedBodies, type WorkBudget, workBudget } from "./search.js";
import { bodyHashSpelling, CLAIM_MISTAKES } from "./tables/claim-mistakes.js";
import { type KeyOfSecret, SECRET_MISTAKES, SECRET_NOT_ACCEPTED } from "./tables/secret-mistakes.js";
import {
  ALGORITHM_MISTAKES,
  type Digest,
  SECRET_SENT,
  SIGNATURE_FORMS,
  SIGNATURE_MALFORMED,
  SIGNATURE_NOT_TEXT,
  SIGNATURE_SHA384,
  SIGNATURE_UNEXPLAINED,
  type SignatureForm,
} from "./tables/signature-mistakes.js";
import {
  aroundBody,
  EVENT_ID_MISTAKES,
  LAYOUT_MISTAKES,
  type Layout,
  type Rewrite,
  RIGHT_LAYOUT,
  TIMESTAMP_MISTAKES,
} from "./tables/signing-input-mistakes.js";

/** A signature, the request that it belongs to, and the secrets that the caller knows. */
export interface SignedMessage {
  readonly signature: string;
  readonly timestamp: string;
  readonly eventId: string;
  readonly body: Uint8Array;
  readonly secrets: readonly KnownSecret[];
}

/** A secret that the caller knows. */
export interface KnownSecret {
  readonly text: string;
  /** Whether the listener accepts it. */
  readonly accepted: boolean;
}

const KEYS: readonly Option<KeyOfSecret>[] = optionsOf(utf8, SECRET_MISTAKES);
const LAYOUTS: readonly Option<Layout>[] = optionsOf(RIGHT_LAYOUT, LAYOUT_MISTAKES);
const TIMESTAMPS: readonly Option<Rewrite>[] = optionsOf((text) => text, TIMESTAMP_MISTAKES);
const EVENT_IDS: readonly Option<Rewrite>[] = optionsOf((text) => text, EVENT_ID_MISTAKES);
const DIGESTS: readonly Option<Digest>[] = optionsOf(hmacOf, ALGORITHM_MISTAKES);

/** Three everyday mistakes, or two of which one is an everyday one. */
const MAX_COST = 9;

/** The secrets of a listener during a rotation, and a few of other listeners. More are not tried. */
const MAX_SECRETS = 8;

/** What is wrong with a signature; nothing if it is right. */
export function mistakesInSignature(message: SignedMessage): Mistake[] {
  if (message.secrets.some(({ text }) => text !== "" && text === message.signature.trim()))
    return [SECRET_SENT];
  const read = readDigest(message.signature);
  if (read === undefined) return [noDigest(message.signature)];
  const forms = read.forms.map((form) => SIGNATURE_FORMS[form]);
  const secrets = message.secrets.slice(0, MAX_SECRETS);
  if (secrets.length === 0) return forms;
  const found = mistakesBehind(message, secrets, read);
  if (found === undefined) return [...forms, SIGNATURE_UNEXPLAINED];
  if (found.length <= 1) return [...found, ...forms];
  const together = `It takes these together: ${found.map(({ id }) => id).join(", ")}.`;
  return [...found.map((mistake) => withDetail(mistake, together)), ...forms];
}

/** What a text is that is no digest. */
function noDigest(signature: string): Mistake {
  const text = signature.trim();
  if (NOT_TEXT.test(text)) return SIGNATURE_NOT_TEXT;
  const bytes =
    text.length <= MAX_SIGNATURE_LENGTH ? digestBytes(text.replace(PREFIX, ""))?.bytes : undefined;
  return bytes?.length === 48 ? SIGNATURE_SHA384 : SIGNATURE_MALFORMED;
}

/** The text of a value that has none: of JavaScript, Python, Java and .NET. */
const NOT_TEXT =
  /^(?:\[object \w+\]|undefined|null|None|nil|NaN|System\.Byte\[\]|\[B@[0-9a-f]+|<[^<>]{1,80}>)$/;

/** The mistakes that give this digest: none if it is right, `undefined` if none are found. */
function mistakesBehind(
  message: SignedMessage,
  secrets: readonly KnownSecret[],
  read: ReadDigest,
): readonly Mistake[] | undefined {
  const budget = workBudget(message.body.length);
  const bodies = signedBodies(message.body, budget);
  const tries = secrets.map(({ text, accepted }) => ({
    options: optionsFor(message, text, bodies),
    mistakes: accepted ? [] : [SECRET_NOT_ACCEPTED],
  }));
  for (const { options, mistakes } of tries) {
    if (givesDigest(options, NO_MISTAKE, read, budget)) return mistakes;
  }
  for (const [index, { options, mistakes }] of tries.entries()) {
    budget.allow((index + 1) / tries.length);
    const matches = (choice: readonly number[]) => givesDigest(options, choice, read, budget);
    const found = firstMatch(options, MAX_COST, budget, matches);
    if (found !== undefined) return [...mistakes, ...found];
  }
  return undefined;
}

/** The dimensions of the search for one secret. */
type SignatureOptions = readonly [
  keys: readonly Option<Uint8Array>[],
  layouts: readonly Option<Layout>[],
  timestamps: readonly Option<string>[],
  eventIds: readonly Option<string>[],
  serialisings: SignedBodies["serialisings"],
  encodings: SignedBodies["encodings"],
  digests: readonly Option<Digest>[],
];

const NO_MISTAKE = [0, 0, 0, 0, 0, 0, 0];

function optionsFor(message: SignedMessage, secret: string, bodies: SignedBodies): SignatureOptions {
  return [
    applied(KEYS, secret, latin1Text),
    LAYOUTS,
    applied(TIMESTAMPS, message.timestamp, String),
    applied(EVENT_IDS, message.eventId, String),
    bodies.serialisings,
    bodies.encodings,
    DIGESTS,
  ];
}

/** Whether the mistakes of a choice, made together, give the digest. */
function givesDigest(
  options: SignatureOptions,
  choice: readonly number[],
  read: ReadDigest,
  budget: WorkBudget,
): boolean {
  const [keys, layouts, timestamps, eventIds, serialisings, encodings, digests] = options;
  const [key = 0, layout = 0, timestamp = 0, eventId = 0, serialising = 0, encoding = 0, digest = 0] = choice;
  const template = layouts[layout]?.repeat ?? RIGHT_LAYOUT;
  // A mistake in a part that is not signed makes no difference.
  if (timestamp > 0 && !template.includes("{t}")) return false;
  if (eventId > 0 && !template.includes("{i}")) return false;
  const [head, tail] = aroundBody(
    template,
    timestamps[timestamp]?.repeat ?? "",
    eventIds[eventId]?.repeat ?? "",
  );
  const parts: (string | Uint8Array)[] = [head];
  let length = head.length;
  if (tail === undefined) {
    if (serialising + encoding > 0) return false;
  } else {
    const body = encodings[encoding]?.repeat(serialisings[serialising]?.repeat());
    if (body === undefined) return false;
    length += body.length + tail.length;
    parts.push(body, tail);
  }
  budget.spend(length);
  const compute = digests[digest]?.repeat ?? hmacOf;
  return compute(read.hash, keys[key]?.repeat ?? new Uint8Array(), parts) === read.digest;
}

/** The options applied to a text, without those that change nothing or repeat the result of an earlier one. */
function applied<Value>(
  options: readonly Option<(text: string) => Value | undefined>[],
  text: string,
  nameOf: (value: Value) => string,
): readonly Option<Value>[] {
  const seen = new Set<string>();
  return options.flatMap((option) => {
    const value = option.repeat(text);
    if (value === undefined || seen.has(nameOf(value))) return [];
    seen.add(nameOf(value));
    return { ...option, repeat: value };
  });
}

/** The costliest pair of a serialising and an encoding mistake. */
const MAX_BODY_COST = 10;

/** What is wrong with the claim htb_s256: how it is written, and which body it is the hash of. */
export function mistakesInBodyHash(
  claim: string,
  request: { timestamp: string; eventId: string; body: Uint8Array },
): Mistake[] {
  const read = readDigest(claim);
  if (read === undefined) return [CLAIM_MISTAKES.htbMalformed];
  const { hash, digest } = read;
  const isHashOf = (...parts: (string | Uint8Array)[]) => digestOf(hash, parts) === digest;
  const spelling = read.forms.map(bodyHashSpelling);
  if (isHashOf(request.body)) return spelling;
  if (isHashOf(signingHead(request.timestamp, request.eventId), request.body))
    return [CLAIM_MISTAKES.htbOfSigningInput, ...spelling];

  const budget = workBudget(request.body.length);
  const { serialisings, encodings } = signedBodies(request.body, budget);
  const found = firstMatch(
    [serialisings, encodings],
    MAX_BODY_COST,
    budget,
    ([serialising = 0, encoding = 0]) => {
      const body = encodings[encoding]?.repeat(serialisings[serialising]?.repeat());
      if (body === undefined) return false;
      budget.spend(body.length);
      return isHashOf(body);
    },
  );
  if (found === undefined) return [CLAIM_MISTAKES.htbUnexplained, ...spelling];
  return [...found.map((mistake) => withDetail(mistake, "The claim htb_s256 shows it.")), ...spelling];
}

/** A digest as it was read from a text, and how the text was wrong. */
interface ReadDigest {
  readonly hash: HashName;
  /** In base64url without padding. */
  readonly digest: string;
  readonly forms: readonly SignatureForm[];
}

const HASH_BY_BYTES: Readonly<Record<number, HashName>> = { 20: "sha1", 32: "sha256", 64: "sha512" };
const PREFIX = /^(?:(?:hmac-)?sha-?(?:1|256|512)|hmac|v[0-9]|signature|bearer)[\s,=:]+/i;
const STRIPE = /^t=[0-9]+,(?=v[0-9]=)/;

/** No signature is longer; a longer text is not read. */
const MAX_SIGNATURE_LENGTH = 1_024;

/** Reads a digest in any spelling that people use; `undefined` if the text is no digest. */
function readDigest(received: string): ReadDigest | undefined {
  if (received.length > MAX_SIGNATURE_LENGTH) return undefined;
  const forms: SignatureForm[] = [];
  const unwrapped = unwrap(received, forms);
  const bare = unwrapped.trim().replace(/^["'`]+|(?<!["'`])["'`]+$/g, "");
  if (bare !== unwrapped) forms.push("quoted");
  const [first = "", ...more] = bare.replace(STRIPE, "").split(/(?<!\s)\s+(?=v[0-9])|,(?=v[0-9]=)/);
  if (more.length > 0) forms.push("several");
  const text = first.replace(PREFIX, "");
  if (text !== first || STRIPE.test(bare)) forms.push("prefixed");

  const read = digestBytes(text);
  if (read === undefined) return undefined;
  forms.push(...read.forms);
  const hash = HASH_BY_BYTES[read.bytes.length];
  if (hash === undefined) return undefined;
  if (hash !== "sha256") forms.push(hash);
  return { hash, digest: encodeBase64url(read.bytes), forms };
}

const OPENSSL = /^(?:[\w-]{1,20})?\(stdin\)=\s*/i;
const PYTHON_BYTES = /^b'([^'\\]*)'$|^b"([^"\\]*)"$/;
const BYTE_LIST = /^\[?-?[0-9]{1,3}(?:,\s?-?[0-9]{1,3}){19,63}\]?$/;

/** The text inside of what a program has put around it, or made of its characters. */
function unwrap(received: string, forms: SignatureForm[]): string {
  const text = received.trim();
  const bytes = PYTHON_BYTES.exec(text);
  if (bytes) return wrapped("pythonBytes", bytes[1] ?? bytes[2] ?? "");
  if (OPENSSL.test(text)) return wrapped("openssl", text.replace(OPENSSL, ""));
  if (/%(?:3d|2b|2f)/i.test(text))
    return wrapped(
      "percent",
      text.replace(/%(3d|2b|2f)/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
    );
  if (BYTE_LIST.test(text)) {
    const numbers = text.replace(/[[\]]/g, "").split(",").map(Number);
    return wrapped("byteList", encodeBase64url(Uint8Array.from(numbers, (one) => one & 255)));
  }
  if (/^[A-Za-z0-9+/ ]{43}=?$/.test(text) && text.includes(" "))
    return wrapped("plusAsSpace", text.replaceAll(" ", "+"));
  return received;

  function wrapped(form: SignatureForm, inside: string): string {
    forms.push(form);
    return inside;
  }
}

function digestBytes(text: string): { bytes: Uint8Array; forms: SignatureForm[] } | undefined {
  const hex = parseHex(text);
  if (hex && hex.length in HASH_BY_BYTES) return { bytes: hex, forms: ["hex"] };
  const bytes = decodeAnyBase64(text);
  if (bytes === undefined) return undefined;
  // 64 bytes that are all hex digits are a SHA-256 in hex and not a SHA-512.
  const inside = parseHex(latin1Text(bytes));
  if (inside) return { bytes: inside, forms: ["base64OfHex"] };
  const forms: SignatureForm[] = [];
  if (/[+/]/.test(text)) forms.push("base64");
  if (text.endsWith("=")) forms.push("padded");
  return { bytes, forms };
}
