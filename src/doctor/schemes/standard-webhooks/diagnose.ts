// Finds the mistakes that give a signature of Standard Webhooks.

import { hmacOf } from "#hash";
import { bodyBytes, decodeBase64url, encodeBase64 } from "../../../core/bytes.js";
import { type Clock, unixSeconds } from "../../../core/clock.js";
import { type HeadersInput, receivedHeaders, requireHeaders } from "../../../core/headers.js";
import { isObject, parseJson } from "../../../core/json.js";
import { checkOptions, type OptionNames } from "../../../core/options.js";
import { isTimestamp } from "../../../core/protocol.js";
import {
  checkSecretOptions,
  type HeaderNames,
  namesOf,
  readKey,
  type StandardWebhooksSecretOptions,
} from "../../../schemes/standard-webhooks/key.js";
import { listOf, type StandardWebhooksSecrets } from "../../../schemes/standard-webhooks/sign.js";
import { mistakesInBody } from "../../diagnose/headers.js";
import { BODY_MISTAKES } from "../../diagnose/mistakes/header.js";
import { once, type WorkBudget, workBudget } from "../../diagnose/search.js";
import { catalogueOf, type Mistake, type MistakeRow, withDetail } from "../../rows/mistake.js";
import { choices, firstFound, mistakesFound, mistakesOf } from "../../rows/run.js";
import { damaged, FORM_MISTAKES, readSignatures } from "./forms.js";
import { foundHeaders, HEADER_MISTAKES } from "./header-mistakes.js";
import { KEY_FORM_MISTAKES, PREHASH_MISTAKES, UNEXPLAINED_BY_KEY } from "./key-forms.js";
import { mistakesInKeySignature } from "./key-signature.js";
import { bodiesOf, DIGESTS, HEADS, KEYS, MISTAKES as SIGNATURE_MISTAKES } from "./mistakes.js";
import { AGE_MISTAKES, TIME_MISTAKES } from "./time-mistakes.js";

/** Where nothing gives the signature. */
const UNEXPLAINED: MistakeRow = {
  id: "signature-unexplained",
  title: "The signature does not match",
  message:
    "No known mistake gives the signature: another secret, another id, time or body than was signed, or a mistake that is not known here.",
  fix: `Compare on both sides the secret's SHA-256, webhook-id, webhook-timestamp and the body's SHA-256. What was tried: ${KEYS.length - 1} mistakes in the secret, ${HEADS.length - 1} in what stands before the body, those in the body, ${FORM_MISTAKES.length} in how the signature is written, and the likeliest pairs.`,
};

/** Every mistake of the scheme. */
export const MISTAKES = catalogueOf(
  HEADER_MISTAKES,
  TIME_MISTAKES,
  FORM_MISTAKES,
  SIGNATURE_MISTAKES,
  KEY_FORM_MISTAKES,
  PREHASH_MISTAKES,
  [UNEXPLAINED, ...AGE_MISTAKES],
  BODY_MISTAKES,
);

/** A request of Standard Webhooks. Of several signatures one that matches says enough. */
export interface StandardWebhooksInput {
  /** Standard Webhooks. */
  readonly scheme: "standard-webhooks";
  /** The request as it arrived. */
  readonly request: {
    /** The headers as received. */
    readonly headers: HeadersInput;
    /** The body as received; a text stands for its UTF-8 bytes. Empty if it is missing. */
    readonly body?: string | Uint8Array | undefined;
  };
  /** `whsec_…`: one, or several. */
  readonly secrets: StandardWebhooksSecrets;
  /** How the headers are named: what stands before `-id`; `webhook` by default. */
  readonly headerNames?: "webhook" | "svix" | "x-webhook" | undefined;
  /** How the secrets are written: `prefixed` by default. */
  readonly secretForm?: "prefixed" | "base64" | "raw" | undefined;
  /** Also takes base64 with wrong padding or last bits; `false` by default. */
  readonly loosePadding?: boolean | undefined;
  /** The receiver's time. Without it the timestamp's age is no mistake. */
  readonly clock?: Clock | undefined;
}

/**
 * What is wrong with the headers, and the fewest mistakes that together give a signature of the request, for `v1` and
 * `v1a`; none if one is right. Where nothing gives it, that is said with what was tried.
 */
export async function diagnosed(input: StandardWebhooksInput): Promise<readonly Mistake[]> {
  checkOptions("diagnose", input, INPUT);
  requireHeaders(input.request);
  const { scheme: _, request, secrets, headerNames, clock, ...agreed } = input;
  const names = namesOf(headerNames);
  const made = [
    ...(await mistakesIn(request, canonical(listOf(secrets), agreed), names)),
    ...mistakesInBody(bodyBytes(request.body ?? "")),
    ...(clock ? mistakesInAge(request.headers, names, unixSeconds(clock)) : []),
  ];
  return names.prefix === "webhook" ? made : made.map((one) => namedAs(names, one));
}

const INPUT: OptionNames<StandardWebhooksInput> = {
  scheme: 1,
  request: 1,
  secrets: 1,
  headerNames: "string",
  secretForm: "string",
  loosePadding: "boolean",
  clock: ".now",
};

/** The secrets as the specification writes them, whatever was agreed on. */
function canonical(secrets: readonly string[], agreed: StandardWebhooksSecretOptions): readonly string[] {
  checkSecretOptions(agreed);
  const { secretForm = "prefixed", loosePadding = false } = agreed;
  if (secretForm === "prefixed" && !loosePadding) return secrets;
  return secrets.map((text) => {
    const { kind, bytes } = readKey(text, agreed);
    const prefix = { symmetric: "whsec_", private: "whsk_", public: "whpk_" }[kind];
    return `${prefix}${encodeBase64(bytes)}`;
  });
}

/** How far the timestamp is from the receiver's time, if that is too far. It comes last, as every recorded request ages. */
function mistakesInAge(headers: HeadersInput, { timestamp }: HeaderNames, now: number): readonly Mistake[] {
  const [text = ""] = receivedHeaders(headers).all(timestamp);
  if (!isTimestamp(text) || firstFound(TIME_MISTAKES, text).length > 0) return [];
  return mistakesFound(AGE_MISTAKES, now - Number(text));
}

/** A mistake in the words of headers with other names. What was received under which name is told as it is. */
function namedAs({ prefix }: HeaderNames, mistake: Mistake): Mistake {
  const named = (text: string) =>
    text.replace(/(?<![\w-])webhook-(?=\*|id|timestamp|signature)/g, `${prefix}-`);
  const { id, message, fix } = mistake;
  return { ...mistake, message: id === "header-misnamed" ? message : named(message), fix: named(fix) };
}

async function mistakesIn(
  { headers, body = "" }: StandardWebhooksInput["request"],
  secrets: readonly string[],
  names: HeaderNames,
): Promise<readonly Mistake[]> {
  const received = receivedHeaders(headers);
  const known = secrets.map((text) => ({ text, ...readKey(text) }));
  const found = foundHeaders(received, new Set(known.map(({ kind }) => kind)), names);
  const [id, timestamp, list] = found.values;
  const inHeaders = [
    ...mistakesFound(HEADER_MISTAKES, found),
    ...(received.all(names.timestamp).length === 1 ? firstFound(TIME_MISTAKES, timestamp) : []),
  ];
  if (list === "") return inHeaders;
  const inSignature = await mistakesInProof({ id, timestamp, list, sent: bodyBytes(body) }, known);
  const isExplained = !inSignature.some((one) => one.id === UNEXPLAINED.id);
  // Behind the version of the other kind stood one of this kind.
  if (isExplained) return [...inHeaders.filter(({ id }) => id !== OTHER_KIND), ...inSignature];
  // What is wrong with the headers explains a signature that nothing else does.
  return inHeaders.length > 0 ? inHeaders : inSignature;
}

const OTHER_KIND = "signature-of-other-kind";

/** What is wrong with the signatures of both kinds, each by the keys that are for it; nothing where one is right. */
async function mistakesInProof(
  signed: Signed,
  known: readonly (ReturnType<typeof readKey> & { readonly text: string })[],
): Promise<readonly MistakeRow[]> {
  const secrets = known.filter(({ kind }) => kind === "symmetric").slice(0, MAX_SECRETS);
  const keys = known.filter(({ kind }) => kind !== "symmetric").slice(0, MAX_SECRETS);
  const budget = workBudget(signed.sent.length);
  // What takes longest is to write the body again, which no secret makes another.
  const bodies = bodiesOf(signed.sent, budget);
  const search = { ...signed, bodies, budget, share: keys.length > 0 ? 0.5 : 1 };
  const bySecret =
    secrets.length > 0
      ? mistakesInSignature(
          search,
          secrets.map(({ text }) => text),
        )
      : [UNEXPLAINED];
  if (bySecret.every((one) => one !== UNEXPLAINED)) return bySecret;
  budget.allow(1);
  const byKey = keys.length > 0 ? await mistakesInKeySignature(search, keys, budget) : [UNEXPLAINED_BY_KEY];
  if (byKey.every((one) => one !== UNEXPLAINED_BY_KEY)) return byKey;
  const { list } = signed;
  if (secrets.length === 0)
    return [/(?:^|\s)v1,/.test(list) ? withDetail(UNEXPLAINED_BY_KEY, UNCHECKED.v1) : UNEXPLAINED_BY_KEY];
  return [
    keys.length === 0 && /(?:^|\s)v1a,/.test(list) ? withDetail(UNEXPLAINED, UNCHECKED.v1a) : UNEXPLAINED,
  ];
}

/** What takes a key that the receiver does not have. */
const UNCHECKED = {
  v1: "Whether the signature of v1 is right was not checked: that takes the shared secret (whsec_).",
  v1a: "Whether the signature of v1a is right was not checked: that takes the sender's public key (whpk_).",
};

interface Signed {
  readonly id: string;
  readonly timestamp: string;
  /** The value of webhook-signature. */
  readonly list: string;
  readonly sent: Uint8Array;
}

/** A receiver has one secret, and two during a rotation. */
const MAX_SECRETS = 8;

/** One mistake of any weight, and two of which both are of every day, or nearly so. */
const MAX_COST = 8;

/** What the search for one kind of signature has of it. */
interface Search extends Signed {
  readonly bodies: ReturnType<typeof bodiesOf>;
  readonly budget: WorkBudget;
  /** The share of the budget that it may use. */
  readonly share: number;
}

function mistakesInSignature(
  { id, timestamp, list, sent, bodies, budget, share }: Search,
  secrets: readonly string[],
): readonly MistakeRow[] {
  const right = (secret: string) => hmacOf("sha256", readKey(secret).bytes, [`${id}.${timestamp}.`, sent]);
  const signatures = readSignatures(list);
  const isKnown = secrets.some((secret) => list.split(" ", 64).includes(`v1,${toBase64(right(secret))}`));
  if (isKnown) return [];
  const hashes = [...new Set(signatures.map((one) => one.hash))];
  const own = idIn(sent);
  let fewest: readonly MistakeRow[] | undefined;
  for (const [place, secret] of secrets.entries()) {
    if (signatures.length === 0) break;
    budget.allow((share * (place + 1)) / secrets.length);
    const keys = KEYS.map(({ repeat, ...option }) => ({ ...option, repeat: once(() => repeat(secret)) }));
    const heads = HEADS.map(({ repeat, ...option }) => ({ ...option, repeat: repeat(id, timestamp, own) }));
    const dimensions = { key: keys, head: heads, body: bodies, digest: DIGESTS };
    for (const choice of choices(dimensions, { upTo: MAX_COST })) {
      const made = mistakesOf(choice);
      if (budget.isSpent || (fewest !== undefined && made.length >= fewest.length)) break;
      const { key, head, body, digest } = choice;
      // A head that changes nothing is the right one.
      if (head.mistake && head.repeat === heads[0]?.repeat) continue;
      const signed = body.repeat();
      if (signed === undefined) continue;
      const keyBytes = key.repeat();
      if (keyBytes === undefined) continue;
      for (const hash of hashes) {
        budget.spend(signed.length);
        const given = digest.repeat(hash, keyBytes, [head.repeat, signed]);
        const fit = signatures.find((one) => one.hash === hash && one.digest === given);
        if (fit === undefined) continue;
        const together = [...made, ...fit.mistakes];
        if (fewest === undefined || together.length < fewest.length) fewest = together;
      }
    }
  }
  if (fewest !== undefined) return fewest;
  for (const secret of secrets) {
    const lost = damaged(list, decodeBase64url(right(secret)) ?? sent);
    if (lost) return [lost];
  }
  return [UNEXPLAINED];
}

/** The id that a JSON body has by itself. */
function idIn(sent: Uint8Array): string | undefined {
  const parsed = parseJson(sent);
  const { id, event_id, eventId, data } = parsed.ok && isObject(parsed.value) ? parsed.value : {};
  return [id, event_id, eventId, isObject(data) && data.id].find(
    (one): one is string => typeof one === "string",
  );
}

function toBase64(base64url: string): string {
  return encodeBase64(decodeBase64url(base64url) ?? new Uint8Array());
}
