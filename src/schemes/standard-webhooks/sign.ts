// The signer of Standard Webhooks, and its secrets.
import { encodeBase64, hmacSha256Base64 } from "#hash";
import { ed25519Signer } from "#signature";
import { decodeBase64url, utf8 } from "../../core/bytes.js";
import { HookproofError, notGiven } from "../../core/errors.js";
import { checkOptions } from "../../core/options.js";
import { countOf, shownAs } from "../../core/shown.js";
import { andThen } from "../../core/value-or-promise.js";
import { isOfLowOrder } from "../../jwt/ed25519.js";
import { type Answer, type Classification, classifyRefusal, classifyTransient } from "../classification.js";
import type { Scheme, Signer, UnsignedRequest } from "../scheme.js";

export const ID_HEADER = "webhook-id";
export const TIMESTAMP_HEADER = "webhook-timestamp";
export const SIGNATURE_HEADER = "webhook-signature";

/** Standard Webhooks 1.0: symmetric signatures (`v1`), asymmetric ones (`v1a`), or both in one header. */
export const standardWebhooksScheme: Scheme = {
  name: "standard-webhooks",
  contentType: "application/json",
  proof: "attempt",
  ownHeaders: ["webhook-*"],
  headers: ({ eventId, timestamp }) => [
    [ID_HEADER, eventId],
    [TIMESTAMP_HEADER, timestamp],
  ],
  classify,
};

/**
 * What an answer means: any 2xx accepts, 410 says that the receiver wants nothing more at this URL, and everything else
 * is a failure that the specification has tried again. What no wait will heal is a wrong setting, of which a person is
 * told.
 */
function classify(answer: Answer, _attempt: number, now: number): Classification {
  const { status } = answer;
  if (status >= 200 && status < 300) return { outcome: "accepted", earlier: false };
  if (status === 410)
    return { outcome: "final", code: "REQUEST_REFUSED", hints: GONE_HINTS, stopSending: true };
  const refused = classifyTransient(answer, now) ?? classifyRefusal(answer, HINTS);
  return refused.outcome === "final" ? { ...refused, outcome: "setup" } : refused;
}

const GONE_HINTS = ["a receiver that wants no more events at this URL (410 Gone)"];

const HINTS = [
  "another secret or key than the receiver's",
  "a URL that is not the receiver's",
  "a proxy that changed the body",
];

/** What a secret's text is: its kind by its prefix, and its bytes. */
export interface Key {
  readonly kind: "symmetric" | "private" | "public";
  readonly bytes: Uint8Array;
}

const KINDS: Readonly<Record<string, Key["kind"]>> = {
  whsec_: "symmetric",
  whsk_: "private",
  whpk_: "public",
};

/**
 * Reads a secret as the specification serialises it: a prefix, and base64 of its bytes.
 *
 * @throws {HookproofError} SECRET_INVALID, with what is wrong and without the secret
 */
export function readKey(text: string): Key {
  if (text === undefined) throw notGiven("A text of secrets");
  if (typeof text !== "string")
    throw new TypeError("secrets must be texts such as whsec_…, whsk_… or whpk_…");
  const prefix = Object.keys(KINDS).find((one) => text.startsWith(one));
  if (prefix === undefined)
    throw invalid(
      "does not begin with whsec_ (a shared secret), whsk_ (a private key) or whpk_ (a public key)",
    );
  const encoded = text.slice(prefix.length);
  const bytes = /[-_]/.test(encoded) ? undefined : decodeBase64url(unpadded(encoded));
  if (bytes === undefined) throw invalid(`is not ${prefix} and base64 in the standard alphabet`);
  const kind = KINDS[prefix] as Key["kind"];
  if (bytes.length === 0) throw invalid("is empty");
  if (kind === "symmetric") {
    if (bytes.length < LEAST_BYTES)
      throw invalid(
        `has ${countOf(bytes.length, "byte")}, too few to be a secret: was it cut? It should have 24 to 64`,
      );
    return { kind, bytes };
  }
  const seed = kind === "private" && bytes.length === 64 ? bytes.subarray(0, 32) : bytes; // some append the public half
  if (seed.length !== 32)
    throw invalid(
      `is no Ed25519 key: ${prefix} has ${countOf(bytes.length, "byte")}, and not 32. A shared secret begins with whsec_`,
    );
  if (kind === "public" && isOfLowOrder(seed)) throw invalid("is a public key for which everybody can sign");
  return { kind, bytes: seed };
}

/** A cut or mistyped secret decodes to a few bytes, and would sign all the same. */
const LEAST_BYTES = 16;

function invalid(what: string): HookproofError {
  return new HookproofError("SECRET_INVALID", `The secret ${what}.`);
}

function unpadded(text: string): string {
  let end = text.length;
  while (end > text.length - 2 && text[end - 1] === "=") end -= 1;
  return text.slice(0, end).replaceAll("+", "-").replaceAll("/", "_");
}

/** What is signed before the body: `{id}.{timestamp}.`. */
export function signedHead(id: string, timestamp: string): string {
  return `${id}.${timestamp}.`;
}

/** Makes HMAC-SHA256 in standard base64, as `v1` has it. */
export function symmetric(secret: Uint8Array): (head: string, body: Uint8Array) => string {
  return hmacSha256Base64(secret);
}

/** The secrets of a signer: one, or several while they are rotated. */
export type StandardWebhooksSecrets = string | readonly string[];

/**
 * A signer for Standard Webhooks. Each secret gives one signature in `webhook-signature`: `whsec_…` a symmetric one
 * (`v1`), `whsk_…` an asymmetric one with Ed25519 (`v1a`). Give two secrets while one is rotated; the receiver looks for
 * one that it knows.
 *
 * If you give a function, such as one that reads a vault, the signer calls it at every attempt. Keep its answer for as long
 * as it may be old.
 *
 * @param options.secrets `whsec_` or `whsk_` and base64: one, several, or a function that gives them
 * @throws {HookproofError} SECRET_INVALID. An attempt fails with SIGNER_FAILED if your function fails
 *
 * @example
 * ```ts
 * import { createSender } from "hookproof";
 * import { generateStandardSecret, standardWebhooksSigner } from "hookproof/standard-webhooks";
 *
 * const sender = createSender({
 *   url: "https://hooks.example.com/incoming",
 *   signer: standardWebhooksSigner({ secrets: generateStandardSecret() }),
 * });
 * ```
 */
export function standardWebhooksSigner(options: {
  /** `whsec_` or `whsk_` and base64: one, several during a rotation, or a function that gives them. */
  secrets: StandardWebhooksSecrets | (() => StandardWebhooksSecrets | Promise<StandardWebhooksSecrets>);
}): Signer {
  checkOptions("standardWebhooksSigner", options, { secrets: 1 });
  const { secrets } = options;
  const shown = "Signer { scheme: 'standard-webhooks', secrets: [redacted] }";
  if (typeof secrets === "function") {
    const prepared = preparedOnce();
    const sign: Signer["sign"] = async (request) => proofBy(prepared(await askFor(secrets)), request);
    return shownAs({ scheme: standardWebhooksScheme, sign }, shown);
  }
  const signatures = prepare(listOf(secrets));
  const warnings = listOf(secrets).flatMap(lengthWarnings);
  const sign: Signer["sign"] = (request) => proofBy(signatures, request);
  return shownAs({ scheme: standardWebhooksScheme, warnings, sign }, shown);
}

/** Makes one signature, with its version. */
type Sign = (head: string, body: Uint8Array) => string | Promise<string>;

function proofBy(
  signatures: readonly Sign[],
  { eventId, timestamp, body }: UnsignedRequest,
): ReturnType<Signer["sign"]> {
  const head = signedHead(eventId, timestamp);
  const [only, second] = signatures;
  if (only && !second) {
    const signature = only(head, body);
    return typeof signature === "string" ? partsOf(signature) : signature.then(partsOf);
  }
  const made = signatures.map((one) => one(head, body));
  if (made.every((one) => typeof one === "string")) return partsOf(made.join(" "));
  return Promise.all(made).then((all) => partsOf(all.join(" ")));
}

function partsOf(signatures: string): { headers: [[string, string]] } {
  return { headers: [[SIGNATURE_HEADER, signatures]] };
}

function prepare(secrets: readonly string[]): readonly Sign[] {
  return secrets.map((text): Sign => {
    const { kind, bytes } = readKey(text);
    if (kind === "public") throw invalid("is a public key (whpk_), which only verifies: sign with its whsk_");
    if (kind === "private") return asymmetric(bytes);
    const signature = symmetric(bytes);
    return (head, body) => `v1,${signature(head, body)}`;
  });
}

function asymmetric(seed: Uint8Array): Sign {
  const sign = ed25519Signer(seed);
  const shown = (signature: Uint8Array) => `v1a,${encodeBase64(signature)}`;
  return (head, body) => andThen(sign(utf8(head), body), shown);
}

/** Prepares secrets again only when they have changed. */
function preparedOnce(): (secrets: readonly string[]) => readonly Sign[] {
  let last: { readonly secrets: string; readonly signatures: readonly Sign[] } | undefined;
  return (secrets) => {
    const joined = secrets.join(" ");
    if (last?.secrets !== joined) last = { secrets: joined, signatures: prepare(secrets) };
    return last.signatures;
  };
}

async function askFor(
  secrets: () => StandardWebhooksSecrets | Promise<StandardWebhooksSecrets>,
): Promise<readonly string[]> {
  let given: StandardWebhooksSecrets;
  try {
    given = await secrets();
  } catch (cause) {
    throw new HookproofError("SIGNER_FAILED", "The function that gives the secrets failed.", { cause });
  }
  if (given === undefined)
    throw new HookproofError("SIGNER_FAILED", "The function that gives the secrets gave undefined.");
  return listOf(given);
}

export function listOf(secrets: StandardWebhooksSecrets): readonly string[] {
  if (secrets === undefined) throw notGiven("secrets");
  const list = typeof secrets === "string" ? [secrets] : secrets;
  if (!Array.isArray(list) || list.length < 1 || list.length > MOST_KEYS)
    throw new TypeError(`secrets must be a text, or a list of 1 to ${MOST_KEYS}`);
  return list;
}

/** More secrets than a rotation needs are a mistake, and each costs every request its time. */
const MOST_KEYS = 10;

function lengthWarnings(text: string): string[] {
  const { kind, bytes } = readKey(text);
  if (kind !== "symmetric" || (bytes.length >= 24 && bytes.length <= 64)) return [];
  return [`The secret has ${countOf(bytes.length, "byte")}; Standard Webhooks wants 24 to 64.`];
}

/**
 * A new shared secret: `whsec_` and base64 of 32 random bytes.
 *
 * @example
 * ```ts
 * import { generateStandardSecret } from "hookproof/standard-webhooks";
 *
 * generateStandardSecret().startsWith("whsec_"); // true
 * ```
 */
export function generateStandardSecret(): string {
  return `whsec_${encodeBase64(crypto.getRandomValues(new Uint8Array(32)))}`;
}

/**
 * A new Ed25519 key pair: the sender keeps `privateKey` (`whsk_…`, its 32 bytes), and every receiver may have `publicKey`
 * (`whpk_…`).
 *
 * @example
 * ```ts
 * import { generateStandardKeys, standardWebhooksSigner, standardWebhooksVerifier } from "hookproof/standard-webhooks";
 *
 * const { privateKey, publicKey } = await generateStandardKeys();
 * const signer = standardWebhooksSigner({ secrets: privateKey });
 * const verifier = standardWebhooksVerifier({ secrets: publicKey });
 * ```
 */
export async function generateStandardKeys(): Promise<{
  readonly privateKey: string;
  readonly publicKey: string;
}> {
  const keys = (await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])) as CryptoKeyPair;
  const pkcs8 = new Uint8Array(await crypto.subtle.exportKey("pkcs8", keys.privateKey));
  const raw = new Uint8Array(await crypto.subtle.exportKey("raw", keys.publicKey));
  return { privateKey: `whsk_${encodeBase64(pkcs8.subarray(-32))}`, publicKey: `whpk_${encodeBase64(raw)}` };
}
