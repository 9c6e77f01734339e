import { hmacOf } from "#hash";
import { utf8 } from "../primitives/bytes.js";
import { ALGORITHM_TRIALS, type Digest } from "./algorithm-mistakes.js";
import { combinations } from "./combinations.js";
import { type Effort, effort } from "./effort.js";
import { EVENT_ID_TRIALS, type Rewrite, TIMESTAMP_TRIALS } from "./header-value-mistakes.js";
import { aroundBody, LAYOUT_TRIALS, type Layout, RIGHT_LAYOUT } from "./input-mistakes.js";
import { type Finding, type Mistake, type Option, optionsOf } from "./mistake.js";
import { type ReadDigest, readDigest, SIGNATURE_FORMS, SIGNATURE_MALFORMED } from "./read-signature.js";
import { type KeyOfSecret, SECRET_NOT_ACCEPTED, SECRET_TRIALS } from "./secret-mistakes.js";
import { type SignedBodies, signedBodies } from "./signed-bodies.js";
import { latin1Text } from "./text-encodings.js";

/** A signature, what it should cover, and the secrets the caller knows. */
export interface SignedMessage {
  readonly signature: string;
  readonly timestamp: string;
  readonly eventId: string;
  readonly body: Uint8Array;
  readonly secrets: readonly KnownSecret[];
}

/** A secret, and whether the listener takes it. */
export interface KnownSecret {
  readonly text: string;
  readonly accepted: boolean;
}

/** The secret was sent in place of what it makes. */
export const SECRET_SENT: Mistake = {
  id: "secret-sent",
  title: "The secret itself was sent",
  message: "The secret itself was sent in a header. Whoever saw the request knows it.",
  fix: "Rotate the secret now. Send the signature that the secret makes: signHmac({ secret, timestamp, eventId, body }).",
};

/** Nothing in the tables made this signature. */
export const SIGNATURE_UNEXPLAINED: Mistake = {
  id: "signature-unexplained",
  title: "No known mistake",
  message:
    "No known mistake explains the signature: the secret is another one, or the body was changed after it was signed.",
  fix: "Compare secretFingerprint(secret) on both sides, then the SHA-256 of the body's bytes on both sides.",
};

const KEYS: readonly Option<KeyOfSecret>[] = optionsOf(utf8, SECRET_TRIALS);
const LAYOUTS: readonly Option<Layout>[] = optionsOf(RIGHT_LAYOUT, LAYOUT_TRIALS);
const TIMESTAMPS: readonly Option<Rewrite>[] = optionsOf((text) => text, TIMESTAMP_TRIALS);
const EVENT_IDS: readonly Option<Rewrite>[] = optionsOf((text) => text, EVENT_ID_TRIALS);
const DIGESTS: readonly Option<Digest>[] = optionsOf(hmacOf, ALGORITHM_TRIALS);

/** Three mistakes of every day, or two of which one is. */
const MAX_COST = 9;

/** More secrets than a listener has during a rotation, with a few of other listeners. */
const MAX_SECRETS = 8;

/** What is wrong about a signature; nothing if it is right. */
export function explainSignature(message: SignedMessage): Finding[] {
  if (message.secrets.some(({ text }) => text !== "" && text === message.signature.trim()))
    return [{ mistake: SECRET_SENT }];
  const read = readDigest(message.signature);
  if (read === undefined) return [{ mistake: SIGNATURE_MALFORMED }];
  const forms = read.forms.map((form) => ({ mistake: SIGNATURE_FORMS[form] }));
  const secrets = message.secrets.slice(0, MAX_SECRETS);
  if (secrets.length === 0) return forms;
  const found = mistakesBehind(message, secrets, read);
  if (found === undefined) return [...forms, { mistake: SIGNATURE_UNEXPLAINED }];
  const detail =
    found.length > 1 ? `It takes these together: ${found.map(({ id }) => id).join(", ")}.` : undefined;
  return [...found.map((mistake) => ({ mistake, detail })), ...forms];
}

/** The mistakes that lead from the secrets to the digest: none if it is right, `undefined` if no way was found. */
function mistakesBehind(
  message: SignedMessage,
  secrets: readonly KnownSecret[],
  read: ReadDigest,
): readonly Mistake[] | undefined {
  const work = effort(message.body.length);
  const bodies = signedBodies(message.body, work);
  const candidates = secrets.map((secret) => ({
    secret,
    candidate: candidateOf(message, secret.text, bodies),
  }));
  for (const { secret, candidate } of candidates) {
    if (isMadeBy(candidate, NOTHING_WRONG, read, work)) return secret.accepted ? [] : [SECRET_NOT_ACCEPTED];
  }
  for (const [index, { secret, candidate }] of candidates.entries()) {
    work.allow((index + 1) / candidates.length);
    const weights = candidate.map((options) => options.map(({ weight }) => weight));
    for (const choice of combinations(weights, MAX_COST)) {
      if (work.isSpent) break;
      if (!isMadeBy(candidate, choice, read, work)) continue;
      const mistakes = choice.flatMap((option, dimension) => candidate[dimension]?.[option]?.mistake ?? []);
      return secret.accepted ? mistakes : [SECRET_NOT_ACCEPTED, ...mistakes];
    }
  }
  return undefined;
}

/** One secret with everything that may have been done to it and to the message, as far as it makes a difference. */
type Candidate = readonly [
  keys: readonly Option<Uint8Array>[],
  layouts: readonly Option<Layout>[],
  timestamps: readonly Option<string>[],
  eventIds: readonly Option<string>[],
  reserialisings: SignedBodies["reserialisings"],
  encodings: SignedBodies["encodings"],
  digests: readonly Option<Digest>[],
];

const NOTHING_WRONG = [0, 0, 0, 0, 0, 0, 0];

function candidateOf(message: SignedMessage, secret: string, bodies: SignedBodies): Candidate {
  return [
    applied(KEYS, secret, latin1Text),
    LAYOUTS,
    applied(TIMESTAMPS, message.timestamp, String),
    applied(EVENT_IDS, message.eventId, String),
    bodies.reserialisings,
    bodies.encodings,
    DIGESTS,
  ];
}

/** Whether the mistakes of a choice give the digest. */
function isMadeBy(candidate: Candidate, choice: readonly number[], read: ReadDigest, work: Effort): boolean {
  const [keys, layouts, timestamps, eventIds, reserialisings, encodings, digests] = candidate;
  const [key = 0, layout = 0, timestamp = 0, eventId = 0, reserialising = 0, encoding = 0, digest = 0] =
    choice;
  const template = layouts[layout]?.repeat ?? RIGHT_LAYOUT;
  // A mistake in a part that is not signed is none.
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
    if (reserialising + encoding > 0) return false;
  } else {
    const body = encodings[encoding]?.repeat(reserialisings[reserialising]?.repeat());
    if (body === undefined) return false;
    length += body.length + tail.length;
    parts.push(body, tail);
  }
  work.spend(length);
  const compute = digests[digest]?.repeat ?? hmacOf;
  return compute(read.hash, keys[key]?.repeat ?? new Uint8Array(), parts) === read.digest;
}

/** What the options make of a text, without those that change nothing or make what an earlier one does. */
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
