// What two sides agree on: how the headers are named, how secrets are written, and how long they are.
import { decodeBase64url, utf8 } from "../../core/bytes.js";
import { HookproofError, isNotGiven, notGiven } from "../../core/errors.js";
import { countOf } from "../../core/shown.js";
import { isOfLowOrder } from "../../jwt/ed25519.js";

/**
 * How the three headers are named. `webhook`: `webhook-id`, `webhook-timestamp` and `webhook-signature`, as the
 * specification has them. `svix`: `svix-id` and so on. `x-webhook`: `x-webhook-id` and so on.
 */
type StandardWebhooksHeaders = "webhook" | "svix" | "x-webhook";

const PREFIXES: readonly unknown[] = ["webhook", "svix", "x-webhook"] satisfies StandardWebhooksHeaders[];

/** The names of the headers. */
export interface HeaderNames {
  readonly prefix: StandardWebhooksHeaders;
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
}

/** @throws {TypeError} for names that there are not */
export function namesOf(prefix: StandardWebhooksHeaders = "webhook"): HeaderNames {
  if (!PREFIXES.includes(prefix))
    throw new TypeError(`headerNames must be ${PREFIXES.map((one) => JSON.stringify(one)).join(", ")}`);
  return { prefix, id: `${prefix}-id`, timestamp: `${prefix}-timestamp`, signature: `${prefix}-signature` };
}

/**
 * How the secrets are written. `prefixed`: `whsec_`, `whsk_` or `whpk_` and base64, as the specification has it.
 * `base64`: base64 of a shared secret, without a prefix. `raw`: a shared secret whose text is the key, letter by letter.
 */
type StandardWebhooksSecretForm = "prefixed" | "base64" | "raw";

/** What two sides may have agreed on about secrets, where they differ from the specification. Nothing is guessed. */
export interface StandardWebhooksSecretOptions {
  /** How the secrets are written; `prefixed` by default. */
  secretForm?: StandardWebhooksSecretForm | undefined;
  /**
   * Also takes base64 with padding too little or too much, and with bits in its last character that belong to no byte, as
   * secrets have them that were drawn letter by letter. `false` by default.
   */
  loosePadding?: boolean | undefined;
}

/** What a secret's text is: its kind by its prefix, and its bytes. */
interface Key {
  readonly kind: "symmetric" | "private" | "public";
  readonly bytes: Uint8Array;
}

const KINDS: Readonly<Record<string, Key["kind"]>> = {
  whsec_: "symmetric",
  whsk_: "private",
  whpk_: "public",
};

const FORMS: readonly unknown[] = ["prefixed", "base64", "raw"] satisfies StandardWebhooksSecretForm[];

/** @throws {TypeError} for a form that there is not, and for padding of what is not decoded */
export function checkSecretOptions({ secretForm, loosePadding }: StandardWebhooksSecretOptions): void {
  if (secretForm !== undefined && !FORMS.includes(secretForm))
    throw new TypeError(`secretForm must be ${FORMS.map((form) => JSON.stringify(form)).join(", ")}`);
  if (secretForm === "raw" && loosePadding)
    throw new TypeError('loosePadding is about base64, and a secret with secretForm "raw" is not decoded');
}

/**
 * Reads a secret in the form that was agreed on: by default as the specification serialises it, a prefix and base64 of
 * its bytes.
 *
 * @throws {HookproofError} SECRET_INVALID, with what is wrong and without the secret
 */
export function readKey(text: string, options: StandardWebhooksSecretOptions = {}): Key {
  const { secretForm = "prefixed", loosePadding = false } = options;
  if (isNotGiven(text)) throw notGiven("A text of secrets", text);
  if (typeof text !== "string")
    throw new TypeError("secrets must be texts such as whsec_…, whsk_… or whpk_…");
  if (secretForm === "raw") return shared(rawBytes(text));
  const prefix = Object.keys(KINDS).find((one) => text.startsWith(one));
  if (secretForm === "base64") {
    if (prefix !== undefined)
      throw invalidSecret(`begins with ${prefix}, and secretForm "base64" is for secrets without a prefix`);
    return shared(decoded(text, "base64", loosePadding));
  }
  if (prefix === undefined) throw invalidSecret(withoutPrefix(text));
  const bytes = decoded(text.slice(prefix.length), `${prefix} and base64`, loosePadding);
  const kind = KINDS[prefix] as Key["kind"];
  if (kind === "symmetric") return shared(bytes);
  const seed = kind === "private" && bytes.length === 64 ? bytes.subarray(0, 32) : bytes; // some append the public half
  if (seed.length !== 32)
    throw invalidSecret(
      `is no Ed25519 key: ${prefix} has ${countOf(bytes.length, "byte")}, and not 32. A shared secret begins with whsec_`,
    );
  if (kind === "public" && isOfLowOrder(seed))
    throw invalidSecret("is a public key for which everybody can sign");
  return { kind, bytes: seed };
}

/** Why a text begins with no prefix: mostly something stands before it. */
function withoutPrefix(text: string): string {
  const before = text.slice(0, Math.max(0, text.search(/(?:whsec|whsk|whpk)_/i)));
  if (before === "")
    return /^(?:whsec|whsk|whpk)_/i.test(text)
      ? "has its prefix in capitals: write whsec_, whsk_ or whpk_"
      : "does not begin with whsec_ (a shared secret), whsk_ (a private key) or whpk_ (a public key)";
  if (!/^\W*(?:v1a?,\W*)?$/i.test(before))
    return "has something in front of its prefix, such as the name of a variable: take it away";
  const [version] = /v1a?,/i.exec(before) ?? [];
  if (version !== undefined) return `begins with ${version}, which names a version: take it away`;
  if (/["'`]/.test(before)) return "stands in quotes: take them away";
  return before.includes("\uFEFF")
    ? "begins with a byte order mark: take it away"
    : "has white space in front: take it away";
}

/** A cut or mistyped secret has a few bytes, and would sign all the same. */
const MIN_BYTES = 16;

/** Nobody has a longer one: it is a file of something else. */
const MAX_BYTES = 1_024;

function shared(bytes: Uint8Array): Key {
  const { length } = bytes;
  if (length < MIN_BYTES)
    throw invalidSecret(
      `has ${countOf(length, "byte")}, too few to be a secret: was it cut? It should have 24 to 64`,
    );
  if (length > MAX_BYTES)
    throw invalidSecret(`has ${countOf(length, "byte")}, too many to be a secret: it should have 24 to 64`);
  return { kind: "symmetric", bytes };
}

function rawBytes(text: string): Uint8Array {
  if (text === "") throw invalidSecret("is empty");
  if (text.trim() !== text)
    throw invalidSecret(
      "begins or ends with white space, which would be part of the key: was a line break read?",
    );
  // Of other characters some make one byte (npm's standardwebhooks) and some two (UTF-8).
  if (!/^[\x20-\x7e]*$/.test(text))
    throw invalidSecret("has characters outside ASCII, of which libraries make different bytes");
  return utf8(text);
}

function decoded(text: string, form: string, isLoose: boolean): Uint8Array {
  const bytes = /[-_]/.test(text) ? undefined : decodeBase64url(unpadded(text));
  const loosely = bytes ?? decodedLoosely(text);
  if (loosely === undefined)
    throw invalidSecret(whyNoBase64(text) ?? `is not ${form} in the standard alphabet`);
  if (loosely.length === 0) throw invalidSecret("is empty");
  if (bytes === undefined && !isLoose)
    throw invalidSecret("is base64 with padding or last bits that no encoder writes");
  return loosely;
}

/** What people hand in with the secret, or in its place. */
function whyNoBase64(text: string): string | undefined {
  if (/(?:whsec|whsk|whpk)_/i.test(text)) return "has a prefix twice: are these two secrets?";
  if (/[*\u2022\u2026]|\.\./.test(text))
    return "has signs in place of its characters, as a page shows it: copy it there in full";
  const last = text.slice(-1);
  return /^[,;"'`]$/.test(last) && /^[\w+/-]*=*.$/.test(text)
    ? `ends with ${last}, which belongs to what stands around it: take it away`
    : undefined;
}

function unpadded(text: string): string {
  let end = text.length;
  while (end > text.length - 2 && text[end - 1] === "=") end -= 1;
  return text.slice(0, end).replaceAll("+", "-").replaceAll("/", "_");
}

/** Of the last character, the bits that make up no byte are dropped, as most decoders do. */
function decodedLoosely(text: string): Uint8Array | undefined {
  const [, digits = ""] = /^([A-Za-z0-9+/]*)={0,4}$/.exec(text) ?? [];
  const rest = digits.length % 4;
  if (digits === "" || rest === 1) return undefined;
  // Zeros up to a whole group make every bit belong to a byte; those of the padding are cut off again.
  const bytes = decodeBase64url(
    digits
      .padEnd(digits.length + ((4 - rest) % 4), "A")
      .replaceAll("+", "-")
      .replaceAll("/", "_"),
  );
  return bytes?.subarray(0, Math.floor((digits.length * 6) / 8));
}

export function invalidSecret(what: string): HookproofError {
  return new HookproofError("SECRET_INVALID", `The secret ${what}.`);
}

/** What is unusual about a secret's length. */
export function lengthWarnings(text: string, options: StandardWebhooksSecretOptions): string[] {
  const { kind, bytes } = readKey(text, options);
  if (kind !== "symmetric" || (bytes.length >= 24 && bytes.length <= 64)) return [];
  return [`The secret has ${countOf(bytes.length, "byte")}; Standard Webhooks wants 24 to 64.`];
}
