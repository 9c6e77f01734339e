// The signer of Standard Webhooks, and its secrets.
import { encodeBase64, hmacSha256Base64 } from "#hash";
import { ed25519Signer } from "#signature";
import { utf8 } from "../../core/bytes.js";
import { HookproofError, notGiven } from "../../core/errors.js";
import { checkOptions } from "../../core/options.js";
import { shownAs } from "../../core/shown.js";
import { andThen } from "../../core/value-or-promise.js";
import {
  type Answer,
  acceptance,
  type Classification,
  classifyRefusal,
  classifyTransient,
} from "../classification.js";
import type { Scheme, Signer, UnsignedRequest } from "../scheme.js";
import {
  checkSecretOptions,
  type HeaderNames,
  invalidSecret,
  lengthWarnings,
  namesOf,
  readKey,
  type StandardWebhooksSecretOptions,
} from "./key.js";

/** Standard Webhooks 1.0: symmetric signatures (`v1`), asymmetric ones (`v1a`), or both in one header. */
export function standardWebhooksScheme(names: HeaderNames): Scheme {
  return {
    name: "standard-webhooks",
    contentType: "application/json",
    proof: "attempt",
    ownHeaders: [`${names.prefix}-*`],
    takesEventId: (id) => !id.includes("."), // which ends the id in what is signed
    headers: ({ eventId, timestamp }) => [
      [names.id, eventId],
      [names.timestamp, timestamp],
    ],
    classify,
  };
}

/**
 * What an answer means: any 2xx accepts, 410 says that the receiver wants nothing more at this URL, and everything else
 * is a failure that the specification has tried again. What no wait will heal is a wrong setting, of which a person is
 * told.
 */
function classify(answer: Answer, _attempt: number, now: number): Classification {
  const { status } = answer;
  if (status >= 200 && status < 300) return acceptance(answer);
  if (status === 410)
    return { outcome: "final", code: "REQUEST_REFUSED", hints: GONE_HINTS, stopSending: true };
  const refused = classifyTransient(answer, now) ?? classifyRefusal(answer, HINTS, now);
  return refused.outcome === "final" ? { ...refused, outcome: "setup" } : refused;
}

const GONE_HINTS = ["a receiver that wants no more events at this URL (410 Gone)"];

const HINTS = [
  "another secret or key than the receiver's",
  "a URL that is not the receiver's",
  "a proxy that changed the body",
  "a login or gateway in front",
];

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
 * Where the other side differs from the specification, say how: `headerNames` for Svix's or other names of the headers,
 * `secretForm` and `loosePadding` for secrets that are written otherwise. Nothing is guessed.
 *
 * @param options.secrets `whsec_` or `whsk_` and base64: one, several, or a function that gives them
 * @param options.headerNames `webhook` (the default), `svix` or `x-webhook`: what stands before `-id`
 * @param options.secretForm `prefixed` (the default), `base64` or `raw`
 * @param options.loosePadding whether base64 with wrong padding or last bits is taken
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
  /** How the headers are named: what stands before `-id`; `webhook` by default. */
  headerNames?: "webhook" | "svix" | "x-webhook" | undefined;
  /**
   * How the secrets are written: `prefixed`, by default, with `whsec_`, `whsk_` or `whpk_` and base64; `base64`, that of a
   * shared secret without a prefix; `raw`, a shared secret whose text is the key, letter by letter.
   */
  secretForm?: "prefixed" | "base64" | "raw" | undefined;
  /**
   * Also takes base64 with padding too little or too much, and with bits in its last character that belong to no byte, as
   * secrets have them that were drawn letter by letter.
   */
  loosePadding?: boolean | undefined;
}): Signer {
  checkOptions("standardWebhooksSigner", options, {
    secrets: 1,
    headerNames: "string",
    secretForm: "string",
    loosePadding: "boolean",
  });
  const { secrets, headerNames } = options;
  checkSecretOptions(options);
  const names = namesOf(headerNames);
  const scheme = standardWebhooksScheme(names);
  const shown = "Signer { scheme: 'standard-webhooks', secrets: [redacted] }";
  if (typeof secrets === "function") {
    const prepared = preparedOnce(options);
    const sign: Signer["sign"] = async (request) =>
      proofBy(prepared(await askFor(secrets)), request, names.signature);
    return shownAs({ scheme, sign }, shown);
  }
  const signatures = prepare(listOf(secrets), options);
  const warnings = listOf(secrets).flatMap((text) => lengthWarnings(text, options));
  const sign: Signer["sign"] = (request) => proofBy(signatures, request, names.signature);
  return shownAs({ scheme, warnings, sign }, shown);
}

/** Makes one signature, with its version. */
type Sign = (head: string, body: Uint8Array) => string | Promise<string>;

function proofBy(
  signatures: readonly Sign[],
  { eventId, timestamp, body }: UnsignedRequest,
  header: string,
): ReturnType<Signer["sign"]> {
  const partsOf = (made: string): { headers: [[string, string]] } => ({ headers: [[header, made]] });
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

function prepare(secrets: readonly string[], options: StandardWebhooksSecretOptions): readonly Sign[] {
  return secrets.map((text): Sign => {
    const { kind, bytes } = readKey(text, options);
    if (kind === "public")
      throw invalidSecret("is a public key (whpk_), which only verifies: sign with its whsk_");
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
function preparedOnce(
  options: StandardWebhooksSecretOptions,
): (secrets: readonly string[]) => readonly Sign[] {
  let last: { readonly secrets: string; readonly signatures: readonly Sign[] } | undefined;
  return (secrets) => {
    const joined = secrets.join("\n"); // a raw secret may have spaces
    if (last?.secrets !== joined) last = { secrets: joined, signatures: prepare(secrets, options) };
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
  if (secrets === undefined) throw notGiven("secrets", secrets);
  const list = typeof secrets === "string" ? [secrets] : secrets;
  if (!Array.isArray(list) || list.length < 1 || list.length > MAX_SECRETS)
    throw new TypeError(`secrets must be a text, or a list of 1 to ${MAX_SECRETS}`);
  return list;
}

/** More secrets than a rotation needs are a mistake, and each costs every request its time. */
const MAX_SECRETS = 10;

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
