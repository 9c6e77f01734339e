// Searches the mistakes that give the signature that was received.
import { digestOf } from "#hash";
import { concatBytes, decodeBase64url, decodeUtf8, utf8 } from "../../core/bytes.js";
import { isTimestamp } from "../../core/protocol.js";
import { signingHead } from "../../schemes/access-governance/protocol.js";
import { type Mistake, type MistakeRow, type Option, optionsOf, withDetail } from "../rows/mistake.js";
import { type Choice, firstMatch, only } from "../rows/run.js";
import { decodeAnyBase64, hexOf, parseHex } from "../texts/rewrite.js";
import { lossyForm, noDigest, type ReadDigest, readDigest } from "./digest-text.js";
import { keysOf, type LazyKey } from "./keys.js";
import { LAYOUT_MISTAKES, RIGHT_LAYOUT } from "./mistakes/layout.js";
import { aroundBody, type Layout } from "./mistakes/layout-text.js";
import { SECRET_NOT_ACCEPTED } from "./mistakes/secret.js";
import {
  ALGORITHM_MISTAKES,
  BODY_COMPRESSED,
  type Digest,
  hmac,
  SECRET_SENT,
  SIGNATURE_FORMS,
  SIGNATURE_INPUT_BEFORE,
} from "./mistakes/signature.js";
import { EVENT_ID_MISTAKES, type Rewrite, TIMESTAMP_MISTAKES } from "./mistakes/signing-input.js";
import {
  BYTES_PER_HASH,
  type KnownSecret,
  type SignedBodies,
  type SignedMessage,
  signedBodies,
  type WorkBudget,
  workBudget,
} from "./search.js";
import { unexplained } from "./unexplained.js";

const LAYOUTS = placed<Layout>(distinct(optionsOf(RIGHT_LAYOUT, LAYOUT_MISTAKES)));
const TIMESTAMPS: readonly Option<Rewrite>[] = optionsOf((text) => text, TIMESTAMP_MISTAKES);
const EVENT_IDS: readonly Option<Rewrite>[] = optionsOf((text) => text, EVENT_ID_MISTAKES);
const DIGESTS: readonly Option<Digest>[] = optionsOf(hmac, ALGORITHM_MISTAKES);

/** A single mistake that is not rare, one that is, and the rarest variant of one, which is as likely as the likeliest two. */
const COST_OF_USUAL = 4;
const COST_OF_ONE = 5;
const COST_OF_VARIANT = 6;
const COST_OF_LIKELIEST_PAIR = 6;

const WEIGHT_OF_VARIANT = 4;

/** Two mistakes, of which one is of every day: they are tried before each millisecond. */
const COST_OF_EVERYDAY_PAIR = 7;

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

function isRight({ timestamp, eventId, body, secrets }: SignedMessage, read: ReadDigest): boolean {
  const head = signingHead(timestamp, eventId);
  return secrets
    .slice(0, MAX_SECRETS)
    .some(({ text }) => isAmong(read, hmac(read.hash, utf8(text), [head, body])));
}

function isAmong({ digest, others }: ReadDigest, made: string): boolean {
  return made === digest || (others.length > 0 && others.includes(made));
}

/** What was done to a right signature that cannot be undone. */
function asLossyForm({ signature, timestamp, eventId, body, secrets }: SignedMessage): Mistake | undefined {
  const head = signingHead(timestamp, eventId);
  const input = signature.length > body.length ? concatBytes([utf8(head), body]) : undefined;
  for (const { text } of secrets.slice(0, MAX_SECRETS)) {
    if (input && isInputBefore(signature, input, hmac("sha256", utf8(text), [])))
      return SIGNATURE_INPUT_BEFORE;
    const right = parseHex(hmac("sha256", utf8(text), [head, body]));
    const form = right && lossyForm(signature, right);
    if (form !== undefined) return form;
  }
  return undefined;
}

/** Whether a signature is the input, and the digest of nothing behind it. */
function isInputBefore(signature: string, input: Uint8Array, empty: string): boolean {
  const bytes = parseHex(signature) ?? decodeAnyBase64(signature);
  if (bytes?.length !== input.length + empty.length / 2) return false;
  return hexOf(bytes) === hexOf(input) + empty;
}

/** The mistakes that give this digest: none if it is right, `undefined` if none are found. */
function mistakesBehind(
  message: SignedMessage,
  secrets: readonly KnownSecret[],
  read: ReadDigest,
): readonly MistakeRow[] | undefined {
  const budget = workBudget(message.body.length);
  if (message.body.length <= MAX_BODY_WITH_MILLISECONDS)
    budget.add(HASHES_FOR_SMALL_BODIES * (BYTES_PER_HASH + message.body.length));
  const bodies = signedBodies(message.body, budget);
  const tries = secrets.map(({ text, accepted }) => ({
    search: searchFor(message, text, bodies),
    mistakes: accepted ? [] : [SECRET_NOT_ACCEPTED],
  }));
  for (const { search, mistakes } of tries) {
    const matches = (choice: SignatureChoice) => givesDigest(search, choice, read, budget);
    if (firstMatch(search.dimensions, { upTo: 0 }, matches)) return mistakes;
  }
  for (const [index, { search, mistakes }] of tries.entries()) {
    budget.allow((index + 1) / tries.length);
    const matches = (choice: SignatureChoice) => givesDigest(search, choice, read, budget);
    const { dimensions } = search;
    const rare = { above: COST_OF_USUAL, upTo: COST_OF_ONE, budget };
    const found =
      firstMatch(dimensions, { above: 0, upTo: COST_OF_USUAL, budget }, matches) ??
      // What needs no other body costs least.
      firstMatch(only(dimensions, BUT_BODY), rare, matches) ??
      firstMatch(only(dimensions, BODY), rare, matches) ??
      (budget.isSpent ? undefined : beyondOne(message, search, read, budget, matches));
    if (found !== undefined) return [...mistakes, ...found];
  }
  return undefined;
}

/** Two mistakes and more, and the variants of one that are hardly ever seen: each is tried alone. */
function beyondOne(
  message: SignedMessage,
  search: SignatureSearch,
  read: ReadDigest,
  budget: WorkBudget,
  matches: (choice: SignatureChoice) => boolean,
): readonly MistakeRow[] | undefined {
  const { dimensions } = search;
  const likely = combinable(dimensions);
  const combined = (above: number, upTo: number) => firstMatch(likely, { above, upTo, budget }, matches);
  const variant = { above: COST_OF_ONE, upTo: COST_OF_VARIANT, budget };
  let found = combined(COST_OF_ONE, COST_OF_LIKELIEST_PAIR);
  for (const name of BY_VARIANTS) found ??= firstMatch(only(dimensions, [name]), variant, matches);
  found ??= combined(COST_OF_LIKELIEST_PAIR, COST_OF_EVERYDAY_PAIR);
  found ??= signedMilliseconds(message, search, read, budget);
  return found ?? combined(COST_OF_EVERYDAY_PAIR, MAX_COST);
}

/** The options that can be made together with others: without those variants, and without what is impossible here. */
function combinable({ key, serialising, ...others }: SignatureDimensions): SignatureDimensions {
  const isLikely = ({ weight }: Option<unknown>) => weight < WEIGHT_OF_VARIANT;
  const isPossible = (option: Option<() => unknown>) => isLikely(option) && option.repeat() !== undefined;
  return {
    key: key.filter(isPossible),
    serialising: serialising.filter(isPossible),
    layout: others.layout.filter(isLikely),
    timestamp: others.timestamp.filter(isLikely),
    eventId: others.eventId.filter(isLikely),
    encoding: others.encoding.filter(isLikely),
    digest: others.digest.filter(isLikely),
  };
}

/** What can be wrong about a signature. */
type SignatureDimensions = SignedBodies & {
  readonly key: readonly Option<LazyKey>[];
  readonly layout: readonly Placed<Layout>[];
  readonly timestamp: readonly Placed<string>[];
  readonly eventId: readonly Placed<string>[];
  readonly digest: readonly Option<Digest>[];
};

type SignatureChoice = Choice<SignatureDimensions>;

const BUT_BODY = ["key", "layout", "timestamp", "eventId", "digest"] as const;
const BODY = ["serialising", "encoding"] as const;
/** Where the most variants are is tried first. */
const BY_VARIANTS = ["key", "layout", "serialising", "timestamp", "digest", "eventId", "encoding"] as const;

/** The search for one secret, and what is worked out once for all of its choices. */
interface SignatureSearch {
  readonly dimensions: SignatureDimensions;
  /** The text around the body; `undefined` where a mistake is in a part that is not signed, or not known. */
  around(choice: SignatureChoice): Around | undefined;
  /** A body as a string of JSON. */
  quoted(body: Uint8Array): Uint8Array | undefined;
}

interface Around {
  readonly head: string;
  readonly tail: string | undefined;
  readonly isQuoted: boolean;
}

function searchFor(message: SignedMessage, secret: string, bodies: SignedBodies): SignatureSearch {
  const timestamps = placed(applied(TIMESTAMPS, message.timestamp, String));
  const eventIds = placed(applied(EVENT_IDS, message.eventId, String));
  const known = new Map<number, Around | undefined>();
  const quotes = new Map<Uint8Array, Uint8Array | undefined>();
  let bodyHash: string | undefined;
  const hash = () => {
    bodyHash ??= hexOf(decodeBase64url(digestOf("sha256", [message.body])) ?? NO_KEY);
    return bodyHash;
  };
  return {
    dimensions: {
      key: keysOf(secret, message),
      layout: LAYOUTS.filter(({ repeat }) => isKnown(repeat, message.url)),
      timestamp: timestamps,
      eventId: eventIds,
      ...bodies,
      digest: DIGESTS,
    },
    around({ layout, timestamp, eventId }) {
      const place = (layout.place * timestamps.length + timestamp.place) * eventIds.length + eventId.place;
      if (!known.has(place)) known.set(place, work());
      return known.get(place);

      function work(): Around | undefined {
        const template = layout.repeat;
        if (timestamp.mistake && !template.includes("{t}")) return undefined;
        if (eventId.mistake && !template.includes("{i}")) return undefined;
        const [head, tail] = aroundBody(template, {
          timestamp: timestamp.repeat,
          eventId: eventId.repeat,
          url: message.url,
          bodyHash: hash,
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

/** An option with its place among those of its dimension. */
interface Placed<Repeat> extends Option<Repeat> {
  readonly place: number;
}

function placed<Repeat>(options: readonly Option<Repeat>[]): readonly Placed<Repeat>[] {
  return options.map((option, place) => ({ ...option, place }));
}

/** Without the options that repeat an earlier one. */
function distinct<Repeat>(options: readonly Option<Repeat>[]): readonly Option<Repeat>[] {
  const seen = new Set<Repeat>();
  return options.filter(({ repeat }) => !seen.has(repeat) && seen.add(repeat));
}

/** Whether a layout has what it needs: of a path alone the URL is not known. */
function isKnown(template: Layout, url: string): boolean {
  if (/\{[uo]\}/.test(template)) return /^https?:/i.test(url);
  return url !== "" || !/\{[pl]\}/.test(template);
}

/** Whether the mistakes of a choice, made together, give the digest. */
function givesDigest(
  search: SignatureSearch,
  choice: SignatureChoice,
  read: ReadDigest,
  budget: WorkBudget,
): boolean {
  const { key, serialising, encoding, digest } = choice;
  const made = key.repeat();
  const around = made && search.around(choice);
  if (made === undefined || around === undefined) return false;
  const { head, tail } = around;
  const parts: (string | Uint8Array)[] = [head];
  let length = head.length;
  if (tail === undefined) {
    if (serialising.mistake || encoding.mistake) return false;
  } else {
    const body = encoding.repeat(serialising.repeat());
    const written = body && around.isQuoted ? search.quoted(body) : body;
    if (written === undefined) return false;
    length += written.length + tail.length;
    parts.push(written);
    if (tail !== "") parts.push(tail);
  }
  budget.spend(length);
  return isAmong(read, digest.repeat(read.hash, made, parts));
}

const NO_KEY = new Uint8Array();

/** A body of at most this many bytes is tried with each millisecond of its second. */
const MAX_BODY_WITH_MILLISECONDS = 400;

/** So many hashes are added for them, and for the pairs and variants of a body that costs little. */
const HASHES_FOR_SMALL_BODIES = 1_900;

const IN_MILLISECONDS = TIMESTAMP_MISTAKES.filter(({ id }) => id === "timestamp-signed-in-milliseconds");

/** The mistake of signing Date.now() and sending its seconds: one of a thousand milliseconds gives the digest. */
function signedMilliseconds(
  { timestamp, eventId, body }: SignedMessage,
  { dimensions }: SignatureSearch,
  read: ReadDigest,
  budget: WorkBudget,
): readonly MistakeRow[] | undefined {
  if (!isTimestamp(timestamp) || body.length > MAX_BODY_WITH_MILLISECONDS) return undefined;
  const key = dimensions.key[0]?.repeat() ?? NO_KEY;
  for (let millisecond = 1; millisecond < 1_000; millisecond++) {
    if (budget.isSpent) return undefined;
    const head = signingHead(`${timestamp}${String(millisecond).padStart(3, "0")}`, eventId);
    budget.spend(head.length + body.length);
    if (isAmong(read, hmac(read.hash, key, [head, body]))) return IN_MILLISECONDS;
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
