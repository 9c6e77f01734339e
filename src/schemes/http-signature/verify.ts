// The verifier of HTTP message signatures.
import { constantTimeEqual, decodeBase64, digestOf } from "#hash";
import { encodeBase64url, utf8 } from "../../core/bytes.js";
import { type Check, type SchemeCheck, type SchemeChecks, schemeChecks } from "../../core/check.js";
import type { VerdictCode } from "../../core/errors.js";
import { OWN_ID } from "../../core/event.js";
import { jsonTypeFault, type ReceivedHeaders } from "../../core/headers.js";
import { parseJson } from "../../core/json.js";
import { checkOptions } from "../../core/options.js";
import { TIMESTAMP_TOLERANCE_SECONDS } from "../../core/protocol.js";
import { countOf, shown } from "../../core/shown.js";
import { andThen } from "../../core/value-or-promise.js";
import type { Algorithm } from "../../jwt/algorithms.js";
import { hasSigned, type KeyResolver, resolveKey } from "../../jwt/verify.js";
import { checkHeader, passAll } from "../pass-all.js";
import type { UnverifiedRequest, Verification, Verifier } from "../scheme.js";
import {
  algorithmsNamed,
  checkedProfile,
  contentDigest,
  HMAC_NAME,
  type HttpSignatureProfile,
  hmacBytes,
  hmacText,
  httpSignature,
  notWhole,
  PROFILE,
  receiverUrl,
  requestParts,
  signatureBase,
} from "./sign.js";
import { dictionaryOf, type ReadSignature, readSignatures } from "./signature-fields.js";

/** Options of `httpSignatureVerifier`: a profile, and where the keys come from. */
export interface HttpSignatureVerifierOptions extends HttpSignatureProfile {
  /**
   * The URL that senders post to. What a signature covers of the request line is compared with this URL, never with the
   * Host header.
   */
  readonly url: string;
  /** The public keys by `keyid`: `remoteKeys` or `localKeys` of `hookproof/jwks`. */
  readonly keys?: KeyResolver | undefined;
  /** The shared secrets by `keyid`; texts stand for their UTF-8 bytes. At least 32 bytes each. */
  readonly secrets?: Readonly<Record<string, string | Uint8Array>> | undefined;
}

const MAX_HEADER_LENGTH = 8_192;
const MAX_SIGNATURES = 8;

const TABLE = (eventIdHeader: string): readonly SchemeCheck[] => [
  {
    step: "listener",
    rule: "the path and query are those of the listener's URL",
    codes: ["LISTENER_UNKNOWN"],
  },
  {
    step: "event-id",
    rule: `${eventIdHeader} is one id of 1 to 256 visible characters`,
    codes: ["EVENT_ID_MISSING", "EVENT_ID_MALFORMED"],
  },
  {
    step: "signature",
    rule: "Signature-Input and Signature hold a signature of RFC 9421 that covers the request as agreed, and is right",
    codes: ["SIGNATURE_MISSING", "SIGNATURE_MALFORMED", "SIGNATURE_MISMATCH"],
  },
  {
    step: "timestamp",
    rule: "created is a Unix time in whole seconds, and so is expires, if it is there",
    codes: ["TIMESTAMP_MISSING", "TIMESTAMP_MALFORMED"],
  },
  {
    step: "window",
    rule: `created is at most ${TIMESTAMP_TOLERANCE_SECONDS} s from the server's time, and expires is not over`,
    codes: ["TIMESTAMP_OUT_OF_WINDOW"],
  },
  {
    step: "key",
    rule: "keyid names a key of the receiver, for the algorithm of alg if that is there",
    codes: ["KEY_NOT_FOUND", "KEY_SET_UNAVAILABLE", "KEY_SET_INVALID"],
  },
  {
    step: "media-type",
    rule: "Content-Type is application/json, and the body is not encoded",
    codes: ["CONTENT_TYPE_UNSUPPORTED", "CONTENT_ENCODING_UNSUPPORTED"],
  },
  { step: "body", rule: "the body is one JSON value in UTF-8", codes: ["BODY_NOT_JSON"] },
];

/**
 * A verifier of HTTP message signatures (RFC 9421) with `Content-Digest` (RFC 9530), for `createReceiver`. A request may
 * have up to 8 signatures, such as one of a proxy; it is accepted if one of them is right and covers all that is agreed.
 *
 * @throws {TypeError} for an option that cannot work
 *
 * @example
 * ```ts
 * import { createReceiver } from "hookproof/receiver";
 * import { remoteKeys } from "hookproof/jwks";
 * import { httpSignatureVerifier } from "hookproof/http-signature";
 *
 * const receiver = createReceiver({
 *   verifier: httpSignatureVerifier({
 *     url: "https://hooks.example.com/events",
 *     keys: remoteKeys("https://sender.example.com/.well-known/jwks.json"),
 *   }),
 * });
 * ```
 */
export function httpSignatureVerifier(options: HttpSignatureVerifierOptions): Verifier {
  checkOptions("httpSignatureVerifier", options, {
    ...PROFILE,
    url: "string",
    keys: ".resolve",
    secrets: "object",
  });
  const { eventIdHeader, covered, tag } = checkedProfile(options);
  const { pathname, search } = receiverUrl(options.url);
  if (options.url.includes("#")) throw notWhole("must not have a fragment"); // as no signer takes one
  const table = TABLE(eventIdHeader);
  const checks = schemeChecks(table);
  const secrets = new Map(
    Object.entries(options.secrets ?? {}).map(
      ([keyId, secret]) => [keyId, hmacText(hmacBytes(secret))] as const,
    ),
  );
  if (secrets.size === 0 && typeof options.keys?.resolve !== "function")
    throw new TypeError("give keys, such as remoteKeys(), or secrets by their keyid");
  const agreed: Agreed = {
    eventIdHeader: eventIdHeader.toLowerCase(),
    covered,
    tag,
    parts: requestParts(options.url),
    secrets,
    keys: options.keys,
    checks,
  };
  return {
    scheme: httpSignature(eventIdHeader),
    checks: table,
    checkTarget(given) {
      // A sender may write what a URL escapes, such as a quote, or a question mark with nothing behind it.
      const at = pathOf(given.startsWith("/") ? `http://localhost${given}` : given);
      return at === `${pathname}${search}`
        ? checks.passed("listener", shown(at))
        : checks.failed("listener", "LISTENER_UNKNOWN", shown(given));
    },
    covers(headers) {
      const found = candidatesOf(headers, tag);
      const text = typeof found === "string" ? undefined : baseOf(found[0], headers, agreed);
      if (text === undefined || typeof found === "string") return undefined;
      return { text, hasBody: false, timestamp: String(found[0].parameters.created) };
    },
    verify: (request) => verify(request, agreed),
  };
}

/** What the receiver has agreed on with its senders, prepared. */
interface Agreed {
  readonly eventIdHeader: string;
  readonly covered: readonly string[];
  readonly tag: string | undefined;
  /** The parts of the request line, as the listener's URL has them. */
  readonly parts: ReadonlyMap<string, string>;
  readonly secrets: ReadonlyMap<string, (text: string) => string>;
  readonly keys: KeyResolver | undefined;
  readonly checks: SchemeChecks;
}

/** At once where no key has to be waited for, as a promise costs a tenth of the rest. */
function verify(request: UnverifiedRequest, agreed: Agreed): Verification | Promise<Verification> {
  const { headers, body } = request;
  const { passed, failed } = agreed.checks;
  const checks: Check[] = [];
  const refused: Verification = { ok: false, checks };
  const ids = headers.all(agreed.eventIdHeader);
  if (!passAll(checks, [checkHeader(ids, "event-id", "EVENT_ID", seenId, agreed.checks)])) return refused;
  const [id = ""] = ids;
  const candidates = candidatesOf(headers, agreed.tag);
  if (typeof candidates === "string") {
    const code = candidates === MISSING ? "SIGNATURE_MISSING" : "SIGNATURE_MALFORMED";
    passAll(checks, [failed("signature", code, candidates)]);
    return refused;
  }
  const ended = ({ checks: made, created }: CheckedSignature): Verification => {
    if (!passAll(checks, made) || created === undefined) return refused;
    const fault = jsonTypeFault(headers);
    const type = fault ? failed("media-type", fault.code, shown(fault.seen)) : passed("media-type");
    if (!passAll(checks, [type])) return refused;
    const parsed = parseJson(body);
    const json = parsed.ok ? passed("body") : failed("body", "BODY_NOT_JSON", parsed.reason);
    if (!passAll(checks, [json]) || !parsed.ok) return refused;
    return { ok: true, checks, id, timestamp: created, payload: parsed.value };
  };
  const now = request.nowSeconds();
  const digest = digestProblem(request);
  const found = firstRight(candidates, (one) => checkSignature(one, headers, { now, digest }, agreed));
  return andThen(found, ended);
}

function seenId(id: string): string | undefined {
  return OWN_ID.test(id) ? shown(id) : undefined;
}

/** The first signature that is right; of wrong ones the first. */
function firstRight(
  candidates: Candidates,
  check: (one: ReadSignature) => CheckedSignature | Promise<CheckedSignature>,
): CheckedSignature | Promise<CheckedSignature> {
  return candidates.length === 1 ? check(candidates[0]) : firstOf(candidates, check);
}

async function firstOf(
  candidates: Candidates,
  check: (one: ReadSignature) => CheckedSignature | Promise<CheckedSignature>,
): Promise<CheckedSignature> {
  let first: CheckedSignature | undefined;
  for (const candidate of candidates) {
    const one = await check(candidate);
    if (one.created !== undefined) return one;
    first ??= one;
  }
  return first as CheckedSignature;
}

/** The checks of one signature up to the first that fails, and when it was made, if none does. */
interface CheckedSignature {
  readonly checks: readonly Check[];
  readonly created?: number;
}

function checkSignature(
  read: ReadSignature,
  headers: ReceivedHeaders,
  { now, digest }: { readonly now: number; readonly digest: string | undefined },
  agreed: Agreed,
): CheckedSignature | Promise<CheckedSignature> {
  const { names, parameters, signature } = read;
  const { passed, failed } = agreed.checks;
  const refused = (...check: Parameters<typeof failed>) => ({ checks: [failed(...check)] });
  const time = checkTime(parameters, now, agreed.checks);
  if (time.created === undefined) return time;
  const isMissing = (name: string) => !names.includes(name);
  if (agreed.covered.some(isMissing)) {
    const seen = `covers ${shown(names.join(" "))}`;
    return refused("signature", "SIGNATURE_MALFORMED", seen, agreed.covered.join(" "));
  }
  const base = baseOf(read, headers, agreed);
  if (base === undefined)
    return refused("signature", "SIGNATURE_MALFORMED", "covers what the request does not have, or twice");
  const { keyid, alg } = parameters;
  if (typeof keyid !== "string" || (alg !== undefined && typeof alg !== "string"))
    return refused("key", "KEY_NOT_FOUND", "no keyid, or an alg that is no text");
  if (digest !== undefined) return refused("signature", "SIGNATURE_MISMATCH", digest);

  const ended = (found: Found): CheckedSignature => {
    if (typeof found === "object") return refused("key", found.code, found.detail);
    if (found) return { ...time, checks: [...time.checks, passed("signature")] };
    return refused(
      "signature",
      "SIGNATURE_MISMATCH",
      `by keyid ${shown(keyid)}${alg === undefined ? "" : `, alg ${shown(alg)}`}`,
    );
  };
  const found = isBy({ keyid, alg }, signature, base, agreed);
  return andThen(found, ended);
}

/** The text that a signature covers; `undefined` where it covers what the request does not have, or twice. */
function baseOf({ names, shown: signed }: ReadSignature, headers: ReceivedHeaders, { parts }: Agreed) {
  const valueAt = (name: string) => (name.startsWith("@") ? parts.get(name) : headerValue(headers, name));
  return signatureBase(names, valueAt, signed);
}

/** The checks of the time of a signature; it has `created` where both passed. */
function checkTime(
  { created, expires }: ReadSignature["parameters"],
  now: number,
  { passed, failed }: SchemeChecks,
): CheckedSignature {
  const refused = (...check: Parameters<typeof failed>) => ({ checks: [failed(...check)] });
  if (created === undefined) return refused("timestamp", "TIMESTAMP_MISSING", "no parameter created");
  if (!isTime(created) || (expires !== undefined && !isTime(expires)))
    return refused("timestamp", "TIMESTAMP_MALFORMED", "another kind of value");
  const age = now - created;
  const seen = `${created}, ${countOf(Math.abs(age), "second")} ${age > 0 ? "in the past" : "in the future"}`;
  if (Math.abs(age) > TIMESTAMP_TOLERANCE_SECONDS) return refused("window", "TIMESTAMP_OUT_OF_WINDOW", seen);
  if (isTime(expires) && expires <= now)
    return refused("window", "TIMESTAMP_OUT_OF_WINDOW", `expires ${expires}, which is over`);
  return { checks: [passed("timestamp", String(created)), passed("window", seen)], created };
}

/** Whether a key has made the signature, or why there is no such key. */
type Found = boolean | { readonly code: VerdictCode; readonly detail: string };

/** Whether the key of this name has made the signature. A secret is never tried as a public key. */
function isBy(
  { keyid, alg: name }: { readonly keyid: string; readonly alg: string | undefined },
  signature: string,
  base: string,
  { secrets, keys }: Agreed,
): Found | Promise<Found> {
  if (name === HMAC_NAME || (name === undefined && secrets.has(keyid))) {
    const secret = secrets.get(keyid);
    if (!secret) return { code: "KEY_NOT_FOUND", detail: `no secret has the keyid ${shown(keyid)}` };
    return constantTimeEqual(secret(base), signature);
  }
  // Without alg the key's own decides (RFC 9421, 3.2 step 6): it is a key for one algorithm.
  const algs = algorithmsNamed(name);
  if (algs.length === 0 || !keys)
    return { code: "KEY_NOT_FOUND", detail: `no key is for alg ${shown(name ?? "")}` };
  return isByKey(keys, { kid: keyid, algs }, decodeBase64(signature) ?? new Uint8Array(), utf8(base));
}

async function isByKey(
  keys: KeyResolver,
  { kid, algs }: { readonly kid: string; readonly algs: readonly Algorithm[] },
  signature: Uint8Array<ArrayBuffer>,
  base: Uint8Array<ArrayBuffer>,
): Promise<Found> {
  let found: Found | undefined;
  for (const alg of algs) {
    const resolved = await resolveKey(keys, { kid, alg });
    // A kid may stand for a key of each kind (RFC 7517, 4.5): without alg any of them may have signed.
    if (resolved.ok && (await hasSigned(resolved.key, alg, signature, base))) return true;
    if (resolved.ok) found = false;
    else if (resolved.code !== "KEY_NOT_FOUND") return resolved;
    else found ??= resolved;
  }
  return found ?? false;
}

type Candidates = readonly [ReadSignature, ...ReadSignature[]];

const MISSING = "no Signature-Input, or no Signature";

/** The signatures that may be the agreed one, or why there is none. */
function candidatesOf(headers: ReceivedHeaders, tag: string | undefined): Candidates | string {
  const [inputs, signatures] = [headers.all("signature-input"), headers.all("signature")];
  const [input, signature] = [inputs[0], signatures[0]];
  if (input === undefined || signature === undefined) return MISSING;
  if (inputs.length > 1 || signatures.length > 1) return "a header more than once";
  if (Math.max(input.length, signature.length) > MAX_HEADER_LENGTH)
    return `a header of more than ${MAX_HEADER_LENGTH} characters`;
  const read = readSignatures(input, signature, MAX_SIGNATURES);
  if (!read) return `no dictionary of RFC 9651, or more than ${MAX_SIGNATURES} signatures`;
  const [first, ...others] =
    tag === undefined ? read : read.filter(({ parameters }) => parameters.tag === tag);
  return first ? [first, ...others] : "no signature that has its input, and the tag that is agreed";
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** The value of a covered header (RFC 9421 section 2.1); `undefined` if the request does not have it. */
function headerValue(headers: ReceivedHeaders, name: string): string | undefined {
  if (name !== name.toLowerCase()) return undefined;
  // Servers have taken away the white space around a value, as HTTP demands.
  const lines = headers.all(name);
  return lines.length > 1 ? lines.join(", ") : lines[0];
}

const DIGESTS = { "sha-256": "sha256", "sha-512": "sha512" } as const;

/** Why `Content-Digest` does not stand for the body; `undefined` where it does. */
function digestProblem({ headers, body }: UnverifiedRequest): string | undefined {
  const lines = headers.all("content-digest");
  const [value = ""] = lines;
  const isOne = lines.length === 1 && value.length <= MAX_HEADER_LENGTH;
  // As senders write it, which spares the library's reading, twice as long as the digest.
  if (isOne && value.startsWith("sha-256=:") && value === contentDigest(body)) return undefined;
  const digests = isOne ? dictionaryOf(value) : undefined;
  if (!digests) return "Content-Digest that is no dictionary, or stands twice";
  let isKnown = false;
  for (const [name, hash] of Object.entries(DIGESTS)) {
    const member = digests.get(name);
    if (member === undefined) continue;
    const bytes = member[0];
    if (!(bytes instanceof ArrayBuffer) || encodeBase64url(new Uint8Array(bytes)) !== digestOf(hash, [body]))
      return `Content-Digest with the ${name} of other bytes`;
    isKnown = true;
  }
  return isKnown ? undefined : "Content-Digest without sha-256 or sha-512";
}

function pathOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}
