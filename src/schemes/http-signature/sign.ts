// The signer of HTTP message signatures, and what they cover.
import { serializeItem } from "structured-headers";
import { encodeBase64, hmacSha256Base64, sha256Base64 } from "#hash";
import { utf8 } from "../../core/bytes.js";
import { isNotGiven, notGiven } from "../../core/errors.js";
import { CONTENT_TYPE_HEADER } from "../../core/headers.js";
import { checkOptions, type OptionNames } from "../../core/options.js";
import { shownAs } from "../../core/shown.js";
import { wholeUrl } from "../../core/target-url.js";
import { ALGORITHMS, type Algorithm } from "../../jwt/algorithms.js";
import type { SigningKey } from "../../jwt/key.js";
import { rawSigner } from "../../jwt/sign-token.js";
import type { Scheme, Signer, UnsignedRequest } from "../scheme.js";
import { classify } from "./answers.js";

/** The algorithms of tokens by their names in RFC 9421 section 3.3. */
export const ALGORITHM_NAMES: Readonly<Record<Algorithm, string>> = {
  EdDSA: "ed25519",
  ES256: "ecdsa-p256-sha256",
  RS256: "rsa-v1_5-sha256",
};

/** The algorithms that a name may stand for: without a name each, as a key is for one (RFC 9421, 3.2 step 6). */
export function algorithmsNamed(name: unknown): readonly Algorithm[] {
  return ALGORITHMS.filter((one) => name === undefined || ALGORITHM_NAMES[one] === name);
}

/** The algorithm of shared secrets (RFC 9421 section 3.3.3). */
export const HMAC_NAME = "hmac-sha256";

/** Parts of the request line that a signature can cover (RFC 9421 section 2.2). */
export type DerivedComponent =
  | "@method"
  | "@target-uri"
  | "@authority"
  | "@scheme"
  | "@request-target"
  | "@path"
  | "@query";

/** What sender and receiver agree on. */
export interface HttpSignatureProfile {
  /**
   * The parts of the request line that a signature covers; `["@method", "@target-uri"]` by default. `content-type`,
   * `content-digest` and the header of the event id are always covered.
   */
  readonly components?: readonly DerivedComponent[] | undefined;
  /** The header of the event id; `Webhook-Event-Id` by default. */
  readonly eventIdHeader?: string | undefined;
  /** The parameter `tag`: what the signatures are for. None by default. */
  readonly tag?: string | undefined;
}

/** The names of `HttpSignatureProfile`. */
export const PROFILE: OptionNames<HttpSignatureProfile> = { components: 1, eventIdHeader: 1, tag: "string" };

/** Options of `httpSignatureSigner`: a profile, and a key or a secret. */
export type HttpSignatureSignerOptions = HttpSignatureProfile &
  (
    | {
        /** The key, as `jwtSigner` takes it, or a function that gives the one of now: EdDSA, ES256 or RS256. */
        readonly key: SigningKey | (() => SigningKey | Promise<SigningKey>);
      }
    | {
        /** A shared secret: the UTF-8 bytes of a text, or bytes; at least 32 bytes. */
        readonly secret: string | Uint8Array;
        /** The name of the secret, which becomes the parameter `keyid`. */
        readonly keyId: string;
      }
  );

/**
 * A signer of HTTP message signatures (RFC 9421), with `Content-Digest` (RFC 9530) over the body. Each attempt gets a
 * signature with the time of that attempt.
 *
 * @throws {TypeError} for a key, a secret or a profile that cannot be used. Signing rejects as that of `jwtSigner`
 *
 * @example
 * ```ts
 * import { createSender } from "hookproof";
 * import { generateKey } from "hookproof/jwks";
 * import { httpSignatureSigner } from "hookproof/http-signature";
 *
 * const { kid, alg, privateJwk } = await generateKey({ alg: "EdDSA" });
 * const sender = createSender({
 *   url: "https://hooks.example.com/events",
 *   signer: httpSignatureSigner({ key: { key: privateJwk, kid, alg } }),
 * });
 * ```
 */
export function httpSignatureSigner(options: HttpSignatureSignerOptions): Signer {
  checkOptions("httpSignatureSigner", options, { ...PROFILE, key: 1, secret: 1, keyId: 1 });
  const { eventIdHeader, covered, tag } = checkedProfile(options);
  if ("secret" in options && options.secret === undefined) throw notGiven("secret", options.secret);
  if ("key" in options && options.key === undefined && !("secret" in options))
    throw notGiven("key", options.key, "KEY_UNFIT");
  if (!("secret" in options) && !options.key) throw new TypeError("give a key, or a secret with its keyId");
  const proof = "secret" in options ? withSecret(options.secret, options.keyId) : withKey(options.key);
  const names = `(${covered.map((name) => `"${name}"`).join(" ")})`;
  const ending = tag === undefined ? "" : `;tag=${serializeItem(tag)}`;
  const partsOf = lastOf(requestParts);

  function signWith({ alg, keyId, sign }: Proof, request: UnsignedRequest): ReturnType<Signer["sign"]> {
    const digest = contentDigest(request.body);
    const shown = `${names};created=${Number(request.timestamp)};keyid=${keyId};alg="${alg}"${ending}`;
    const parts = partsOf(request.url);
    const valueAt = (name: string) =>
      name.startsWith("@") ? parts.get(name) : ownValue(request, digest, name);
    const made = sign(signatureBase(covered, valueAt, shown) ?? "");
    const proven = (signature: string): { headers: [string, string][] } => ({
      headers: [
        ["Content-Digest", digest],
        ["Signature-Input", `sig1=${shown}`],
        ["Signature", `sig1=:${signature}:`],
      ],
    });
    return typeof made === "string" ? proven(made) : made.then(proven);
  }

  const signer: Signer = {
    scheme: httpSignature(eventIdHeader),
    sign: (request) =>
      typeof proof === "function" ? proof().then((one) => signWith(one, request)) : signWith(proof, request),
  };
  return shownAs(signer, "Signer { scheme: 'http-signature', key: [redacted] }");
}

/** The scheme, for an event id in this header. */
export function httpSignature(eventIdHeader: string): Scheme {
  return {
    name: "http-signature",
    contentType: "application/json",
    proof: "attempt",
    takesEventId: () => true,
    ownHeaders: ["signature", "signature-input", "content-digest", eventIdHeader],
    headers: ({ eventId }) => [[eventIdHeader, eventId]],
    classify,
  };
}

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const PRINTABLE = /^[ -~]{1,256}$/;
const DERIVED: readonly string[] = [
  "@method",
  "@target-uri",
  "@authority",
  "@scheme",
  "@request-target",
  "@path",
  "@query",
] satisfies DerivedComponent[];

/** A profile with its defaults, and the names of all that is covered. */
export function checkedProfile({
  components = ["@method", "@target-uri"],
  eventIdHeader = "Webhook-Event-Id",
  tag,
}: HttpSignatureProfile) {
  if (
    !Array.isArray(components) ||
    components.length === 0 ||
    !components.every((one) => DERIVED.includes(one))
  )
    throw new TypeError(`components must name at least one of ${DERIVED.join(", ")}`);
  if (typeof eventIdHeader !== "string" || !HEADER_NAME.test(eventIdHeader))
    throw new TypeError("eventIdHeader must be the name of a header");
  if (tag !== undefined && !PRINTABLE.test(tag))
    throw new TypeError("tag must be 1 to 256 printable characters");
  const headers = [CONTENT_TYPE_HEADER, "content-digest", eventIdHeader].map((name) => name.toLowerCase());
  return { eventIdHeader, tag, covered: [...new Set<string>(components), ...headers] };
}

/** @throws {TypeError} with what is wrong with the URL of a receiver */
export function receiverUrl(text: string): URL {
  return wholeUrl(text, notWhole);
}

export function notWhole(rule: string): TypeError {
  return new TypeError(`url must be the receiver's whole URL: it ${rule}`);
}

const MIN_SECRET_BYTES = 32;

/** The bytes of a shared secret. */
export function hmacBytes(secret: string | Uint8Array): Uint8Array {
  if (isNotGiven(secret)) throw notGiven("secret", secret);
  const bytes = typeof secret === "string" ? utf8(secret) : secret;
  if (bytes instanceof Uint8Array && bytes.length >= MIN_SECRET_BYTES) return bytes;
  throw new TypeError(`secret must be a text or bytes, of at least ${MIN_SECRET_BYTES} bytes`);
}

interface Proof {
  readonly alg: string;
  /** As it is written: in quotes. */
  readonly keyId: string;
  /** Makes the signature, in base64: at once by a secret, as a promise costs a tenth of the rest. */
  sign(base: string): string | Promise<string>;
}

function withSecret(secret: string | Uint8Array, keyId: string): Proof {
  const sign = hmacText(hmacBytes(secret));
  if (typeof keyId !== "string" || !PRINTABLE.test(keyId))
    throw new TypeError("keyId must be 1 to 256 printable characters");
  return { alg: HMAC_NAME, keyId: serializeItem(keyId), sign };
}

function withKey(source: SigningKey | (() => SigningKey | Promise<SigningKey>)): () => Promise<Proof> {
  const signer = rawSigner(source);
  const inQuotes = lastOf(serializeItem);
  return async () => {
    const key = await signer.key();
    const sign = async (base: string) => encodeBase64(await signer.sign(key, utf8(base)));
    return { alg: ALGORITHM_NAMES[key.alg], keyId: inQuotes(key.kid), sign };
  };
}

/** Keeps the result for the last text: a sender has one URL and one key, and each costs as much as a hash. */
function lastOf<Result>(make: (text: string) => Result): (text: string) => Result {
  let last: { readonly text: string; readonly made: Result } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, made: make(text) };
    return last.made;
  };
}

const NOTHING = /* @__PURE__ */ new Uint8Array();

/** HMAC-SHA256 of texts, in base64. */
export function hmacText(secret: Uint8Array): (text: string) => string {
  const hmac = hmacSha256Base64(secret);
  return (text) => hmac(text, NOTHING);
}

/** The value of `Content-Digest` for a body (RFC 9530 section 2). */
export function contentDigest(body: Uint8Array): string {
  return `sha-256=:${sha256Base64(body)}:`;
}

/** The value of a header that the sender makes; one that is no other is that of the event id. */
function ownValue({ eventId }: UnsignedRequest, digest: string, name: string): string {
  if (name === "content-type") return "application/json";
  return name === "content-digest" ? digest : eventId;
}

/** The parts of the request line that a signature can cover, by their names (RFC 9421 section 2.2). */
export function requestParts(url: string): ReadonlyMap<string, string> {
  const { protocol, host, pathname, search } = new URL(url);
  const parts: [DerivedComponent, string][] = [
    ["@method", "POST"],
    ["@target-uri", `${protocol}//${host}${pathname}${search}`], // as it is sent: without a lone question mark
    ["@authority", host],
    ["@scheme", protocol.slice(0, -1)],
    ["@request-target", `${pathname}${search}`],
    ["@path", pathname],
    ["@query", search || "?"],
  ];
  return new Map(parts);
}

/** More components than any sender covers are refused, as each is looked for among the others. */
const MAX_COMPONENTS = 64;

/**
 * The text that is signed (RFC 9421 section 2.5); `undefined` where something is covered that the request does not have,
 * or twice, or with parameters, which this profile does not know; or more than 64 components.
 *
 * @param shown the value of `@signature-params`
 */
export function signatureBase(
  names: readonly (string | undefined)[],
  valueAt: (name: string) => string | undefined,
  shown: string,
): string | undefined {
  if (names.length > MAX_COMPONENTS) return undefined;
  let lines = "";
  for (let at = 0; at < names.length; at++) {
    const name = names[at];
    const value = name === undefined ? undefined : valueAt(name);
    if (value === undefined || names.indexOf(name) < at) return undefined;
    lines += `"${name}": ${value}\n`;
  }
  return `${lines}"@signature-params": ${shown}`;
}
