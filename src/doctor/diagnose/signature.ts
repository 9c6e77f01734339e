import { digestOf, hmacOf } from "#hash";
import { decodeUtf8, utf8 } from "../../core/bytes.js";
import { isTimestamp } from "../../core/protocol.js";
import { signingHead } from "../../schemes/access-governance/protocol.js";
import { latin1Text } from "../texts/rewrite.js";
import { lossyForm, noDigest, type ReadDigest, readDigest } from "./digest-text.js";
import { type Mistake, type Option, optionsOf, withDetail } from "./mistake.js";
import { bodyHashSpelling, CLAIM_MISTAKES } from "./mistakes/claim.js";
import { aroundBody, LAYOUT_MISTAKES, type Layout, RIGHT_LAYOUT } from "./mistakes/layout.js";
import { type KeyOfSecret, SECRET_MISTAKES, SECRET_NOT_ACCEPTED } from "./mistakes/secret.js";
import {
  ALGORITHM_MISTAKES,
  BODY_COMPRESSED,
  type Digest,
  SECRET_SENT,
  SIGNATURE_FORMS,
} from "./mistakes/signature.js";
import { EVENT_ID_MISTAKES, type Rewrite, TIMESTAMP_MISTAKES } from "./mistakes/signing-input.js";
import {
  BYTES_PER_HASH,
  type Dimension,
  firstMatch,
  type KnownSecret,
  type SignedBodies,
  type SignedMessage,
  signedBodies,
  type WorkBudget,
  workBudget,
} from "./search.js";
import { unexplained } from "./unexplained.js";

const KEYS: readonly Option<KeyOfSecret>[] = optionsOf(utf8, SECRET_MISTAKES);
const LAYOUTS: readonly Option<Layout>[] = optionsOf(RIGHT_LAYOUT, LAYOUT_MISTAKES);
const TIMESTAMPS: readonly Option<Rewrite>[] = optionsOf((text) => text, TIMESTAMP_MISTAKES);
const EVENT_IDS: readonly Option<Rewrite>[] = optionsOf((text) => text, EVENT_ID_MISTAKES);
const DIGESTS: readonly Option<Digest>[] = optionsOf(hmacOf, ALGORITHM_MISTAKES);

/** A single mistake that is not rare, and the rarest. */
const COST_OF_USUAL = 4;
const COST_OF_ONE = 5;

/** The dimensions of the body, among those of `SignatureOptions`. */
const BODY_DIMENSIONS = [4, 5];

function asReceived(dimension: Dimension, index: number): Dimension {
  return BODY_DIMENSIONS.includes(index) ? dimension.slice(0, 1) : dimension;
}

function butBody(dimension: Dimension, index: number): Dimension {
  return BODY_DIMENSIONS.includes(index) ? dimension : dimension.slice(0, 1);
}

/** Three everyday mistakes, or two of which one is an everyday one. */
const MAX_COST = 9;

/** The secrets of a listener during a rotation, and a few of other listeners. More are not tried. */
const MAX_SECRETS = 8;

/**
 * What is wrong with a signature; nothing if it is right.
 *
 * @param inflated the body decompressed, if it is compressed
 */
export function mistakesInSignature(message: SignedMessage, inflated?: Uint8Array): Mistake[] {
  if (message.secrets.some(({ text }) => text !== "" && text === message.signature.trim()))
    return [SECRET_SENT];
  const read = readDigest(message.signature);
  if (read === undefined) return [asLossyForm(message) ?? noDigest(message.signature)];
  const forms = read.forms.map((form) => SIGNATURE_FORMS[form]);
  const secrets = message.secrets.slice(0, MAX_SECRETS);
  if (secrets.length === 0) return forms;
  if (inflated !== undefined && isRight({ ...message, body: inflated }, read))
    return [BODY_COMPRESSED, ...forms];
  const found = mistakesBehind(message, secrets, read);
  if (found === undefined) {
    const lossy = asLossyForm(message);
    return lossy ? [lossy] : [...forms, unexplained(message)];
  }
  if (found.length <= 1) return [...found, ...forms];
  const together = `It takes these together: ${found.map(({ id }) => id).join(", ")}.`;
  return [...found.map((mistake) => withDetail(mistake, together)), ...forms];
}

function isRight(
  { timestamp, eventId, body, secrets }: SignedMessage,
  { hash, digest }: ReadDigest,
): boolean {
  const head = signingHead(timestamp, eventId);
  return secrets.slice(0, MAX_SECRETS).some(({ text }) => hmacOf(hash, utf8(text), [head, body]) === digest);
}

/** What was done to a right signature that cannot be undone. */
function asLossyForm({ signature, timestamp, eventId, body, secrets }: SignedMessage): Mistake | undefined {
  for (const { text } of secrets.slice(0, MAX_SECRETS)) {
    const right = hmacOf("sha256", utf8(text), [signingHead(timestamp, eventId), body]);
    const form = lossyForm(signature, right);
    if (form !== undefined) return form;
  }
  return undefined;
}

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
    const { dimensions } = options;
    const found =
      firstMatch(dimensions, COST_OF_USUAL, budget, matches) ??
      // What needs no other body costs least.
      firstMatch(dimensions.map(asReceived), COST_OF_ONE, budget, matches, COST_OF_USUAL) ??
      firstMatch(dimensions.map(butBody), COST_OF_ONE, budget, matches, COST_OF_USUAL) ??
      signedMilliseconds(message, options, read, budget) ??
      firstMatch(dimensions, MAX_COST, budget, matches, COST_OF_ONE);
    if (found !== undefined) return [...mistakes, ...found];
  }
  return undefined;
}

/** The dimensions of the search for one secret, and what is worked out once for all of its combinations. */
interface SignatureOptions {
  readonly dimensions: readonly Dimension[];
  readonly keys: readonly Option<Uint8Array>[];
  readonly serialisings: SignedBodies["serialisings"];
  readonly encodings: SignedBodies["encodings"];
  readonly digests: readonly Option<Digest>[];
  /** The text around the body; `undefined` where a mistake is in a part that is not signed, or not known. */
  around(layout: number, timestamp: number, eventId: number): Around | undefined;
  /** A body as a string of JSON. */
  quoted(body: Uint8Array): Uint8Array | undefined;
}

interface Around {
  readonly head: string;
  readonly tail: string | undefined;
  readonly isQuoted: boolean;
}

const NO_MISTAKE = [0, 0, 0, 0, 0, 0, 0];

function optionsFor(message: SignedMessage, secret: string, bodies: SignedBodies): SignatureOptions {
  const keys = applied(KEYS, secret, latin1Text);
  const timestamps = applied(TIMESTAMPS, message.timestamp, String);
  const eventIds = applied(EVENT_IDS, message.eventId, String);
  const { serialisings, encodings } = bodies;
  const known = new Map<number, Around | undefined>();
  const quotes = new Map<Uint8Array, Uint8Array | undefined>();
  return {
    dimensions: [keys, LAYOUTS, timestamps, eventIds, serialisings, encodings, DIGESTS],
    keys,
    serialisings,
    encodings,
    digests: DIGESTS,
    around(layout, timestamp, eventId) {
      const place = (layout * timestamps.length + timestamp) * eventIds.length + eventId;
      if (!known.has(place)) known.set(place, work());
      return known.get(place);

      function work(): Around | undefined {
        const template = LAYOUTS[layout]?.repeat ?? RIGHT_LAYOUT;
        if (timestamp > 0 && !template.includes("{t}")) return undefined;
        if (eventId > 0 && !template.includes("{i}")) return undefined;
        if (!isKnown(template, message.url)) return undefined;
        const [head, tail] = aroundBody(template, {
          timestamp: timestamps[timestamp]?.repeat ?? "",
          eventId: eventIds[eventId]?.repeat ?? "",
          url: message.url,
        });
        return { head, tail, isQuoted: template.includes("{j}") };
      }
    },
    quoted(body) {
      if (!quotes.has(body)) {
        const text = decodeUtf8(body);
        quotes.set(body, text === undefined ? undefined : utf8(JSON.stringify(text)));
      }
      return quotes.get(body);
    },
  };
}

/** Whether a layout has what it needs: of a path alone the URL is not known. */
function isKnown(template: Layout, url: string): boolean {
  if (template.includes("{u}")) return /^https?:/i.test(url);
  return url !== "" || !template.includes("{p}");
}

/** Whether the mistakes of a choice, made together, give the digest. */
function givesDigest(
  options: SignatureOptions,
  choice: readonly number[],
  read: ReadDigest,
  budget: WorkBudget,
): boolean {
  const { keys, serialisings, encodings, digests } = options;
  const [key = 0, layout = 0, timestamp = 0, eventId = 0, serialising = 0, encoding = 0, digest = 0] = choice;
  const around = options.around(layout, timestamp, eventId);
  if (around === undefined) return false;
  const { head, tail } = around;
  const parts: (string | Uint8Array)[] = [head];
  let length = head.length;
  if (tail === undefined) {
    if (serialising + encoding > 0) return false;
  } else {
    const body = encodings[encoding]?.repeat(serialisings[serialising]?.repeat());
    const written = body && around.isQuoted ? options.quoted(body) : body;
    if (written === undefined) return false;
    length += written.length + tail.length;
    parts.push(written);
    if (tail !== "") parts.push(tail);
  }
  budget.spend(length);
  const compute = digests[digest]?.repeat ?? hmacOf;
  return compute(read.hash, keys[key]?.repeat ?? NO_KEY, parts) === read.digest;
}

const NO_KEY = new Uint8Array();

/** A body of at most this many bytes is tried with each millisecond of its second. */
const MAX_BODY_WITH_MILLISECONDS = 400;

/** So many hashes are added for them, and for the pairs of a body that costs little. */
const HASHES_FOR_SMALL_BODIES = 1_250;

const IN_MILLISECONDS = TIMESTAMP_MISTAKES.filter(({ id }) => id === "timestamp-signed-in-milliseconds");

/** The mistake of who signs Date.now() and sends its seconds: one of a thousand milliseconds gives the digest. */
function signedMilliseconds(
  { timestamp, eventId, body }: SignedMessage,
  { keys }: SignatureOptions,
  read: ReadDigest,
  budget: WorkBudget,
): readonly Mistake[] | undefined {
  if (!isTimestamp(timestamp) || body.length > MAX_BODY_WITH_MILLISECONDS) return undefined;
  budget.add(HASHES_FOR_SMALL_BODIES * (BYTES_PER_HASH + body.length));
  const key = keys[0]?.repeat ?? NO_KEY;
  for (let millisecond = 1; millisecond < 1_000; millisecond++) {
    if (budget.isSpent) return undefined;
    const head = signingHead(`${timestamp}${String(millisecond).padStart(3, "0")}`, eventId);
    budget.spend(head.length + body.length);
    if (hmacOf(read.hash, key, [head, body]) === read.digest) return IN_MILLISECONDS;
  }
  return undefined;
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
