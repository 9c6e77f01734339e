// Finds the mistakes that explain why a request is refused.

import { bodyBytes } from "../../core/bytes.js";
import { type Clock, systemClock, unixSeconds } from "../../core/clock.js";
import {
  AUTHORIZATION_HEADER,
  type HeadersInput,
  type ReceivedHeaders,
  receivedHeaders,
  requireHeaders,
} from "../../core/headers.js";
import { checkOptions, type OptionNames } from "../../core/options.js";
import type { Jwks } from "../../jwks/key-set.js";
import type { KeyResolver } from "../../jwt/verify.js";
import { INGESTION_PATH, listenerUrl } from "../../schemes/access-governance/listener-url.js";
import {
  EVENT_ID_HEADER,
  SIGNATURE_HEADER,
  TIMESTAMP_HEADER,
} from "../../schemes/access-governance/protocol.js";
import { inLanguagesOfSenders } from "../rows/language-fixes.js";
import { type Mistake, type MistakeRow, withoutFunctions } from "../rows/mistake.js";
import { mistakesFound } from "../rows/run.js";
import { doctorOf, type SchemeInputs } from "../schemes/mistakes-by-name.js";
import type { OtherScheme } from "../schemes/other-scheme.js";
import { inflate } from "../texts/rewrite.js";
import { mistakesInAge, mistakesInBody, mistakesInHeader, mistakesInHeaders, movedToken } from "./headers.js";
import { EXPIRED } from "./mistakes/expiry.js";
import { OTHER_NAMES, TARGET_MISTAKES, TIMESTAMP_STALE } from "./mistakes/header.js";
import { SECRET_SENT } from "./mistakes/signature.js";
import { TOKEN_MISTAKES } from "./mistakes/token.js";
import type { KnownSecret } from "./search.js";
import { mistakesInSignature } from "./signature.js";
import { mistakesInToken } from "./token.js";

/** What a diagnosis found. */
export interface Diagnosis {
  /** The mistakes that explain the request, the likeliest first; empty if nothing is wrong as far as can be seen. */
  readonly mistakes: readonly Mistake[];
}

/** A request that is refused, and what the caller knows. The more is known, the more can be found. */
export interface DiagnoseInput {
  /** Left out: the request is of the default scheme. Those of other schemes have inputs of their own. */
  readonly scheme?: undefined;
  /** The request as it arrived. */
  request: {
    /** The HTTP method, such as `POST`. */
    method?: string | undefined;
    /** The whole URL, or its path. */
    url?: string | undefined;
    /** The headers as received. */
    headers: HeadersInput;
    /** The body as received; a text stands for its UTF-8 bytes. Empty if it is missing. */
    body?: string | Uint8Array | undefined;
  };
  /** The text of the secret as the service shows it; a list if more than one may have been used. */
  secret?: string | readonly string[] | undefined;
  /** The listener that the request is for. If it has secrets of its own, a match with `secret` is a mistake too. */
  listener?: KnownListener | undefined;
  /** The document of the key set, as it is served. With it a wrong key of a token is found too. */
  jwks?: Jwks | undefined;
  /** The time to check the request against; the system's clock by default. */
  clock?: Clock | undefined;
}

const INPUT: OptionNames<DiagnoseInput> = {
  scheme: 1,
  request: 1,
  secret: 1,
  listener: 1,
  jwks: 1,
  clock: ".now",
};

/** A listener as far as the caller knows it; a `ListenerOptions` of `hookproof/receiver` fits. */
interface KnownListener {
  /** The listener's id, as in its URL. */
  readonly id?: string | undefined;
  /** The tenant's base URL, which is the claim `sub`. */
  readonly baseUrl?: string | undefined;
  /** The listener's URL, which is the claim `aud`; made from `baseUrl` and `id` by default. */
  readonly url?: string | undefined;
  /** The method that the listener demands, with its secrets or keys. */
  readonly auth?:
    | { readonly method: "hmac"; readonly secret: string | readonly string[] }
    | { readonly method: "jwt"; readonly keys?: KeyResolver | undefined }
    | undefined;
}

/**
 * Finds the mistakes that explain why a request is refused (specification 4.10, 5.2 and 7). It computes the signature
 * with one known mistake after another, and with several together, until one matches; of a token it checks every claim.
 * It is a tool for developers: verification never uses it.
 *
 * With `scheme` it names the mistakes of that scheme, by its specification; that none is found does not mean that the
 * request is genuine. The package `structured-headers` is needed for `http-signature` alone.
 *
 * Where User-Agent shows the sender's language, the fix has the code in it.
 *
 * The result contains no secret, no whole signature and no token. A diagnosis takes up to 20 ms of processor time for
 * a body of 1 KB and 100 ms for 64 KB (on Node), so do not call it for every request that arrives from the internet.
 *
 * @throws {TypeError} for a request without headers, or a body or secret of another type, for a scheme that it does not
 *   know, and for options that `httpSignatureVerifier` refuses
 * @throws {HookproofError} SECRET_INVALID, for secrets that `standardWebhooksVerifier` refuses
 *
 * @example
 * ```ts
 * import { diagnose } from "hookproof/diagnose";
 *
 * const { mistakes } = await diagnose({
 *   request: {
 *     headers: {
 *       "Content-Type": "application/json",
 *       "Webhook-Timestamp": "1767225600",
 *       "Webhook-Event-Id": "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10",
 *       "Webhook-Signature": "5IR7O7M7coTagTYFSQcd_pWFTM8MOOcTqzRb4CF0BqA",
 *     },
 *     body: '{"type":"user.offboarded","userId":"u_123"}',
 *   },
 *   secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
 * });
 * mistakes[0]?.id; // "secret-base64url-decoded"
 * ```
 *
 * @example
 * Requests of another scheme:
 * ```ts
 * import { diagnose } from "hookproof/diagnose";
 *
 * const { mistakes } = await diagnose({
 *   scheme: "standard-webhooks",
 *   request: {
 *     headers: {
 *       "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
 *       "webhook-timestamp": "1614265330",
 *       "webhook-signature": "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
 *     },
 *     body: '{"test": 2432232314}',
 *   },
 *   secrets: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
 * });
 * mistakes[0]?.id; // "version-missing"
 *
 * const token = '"eyJhbGciOiJub25lIn0.e30."';
 * await diagnose({ scheme: "security-event-token", request: { body: token } }); // "body-in-quotes", "typ-differs", …
 * await diagnose({
 *   scheme: "http-signature",
 *   url: "https://hooks.example.com/events",
 *   request: { headers: { Digest: "SHA-256=K/0U9D0X/HzqJOCReoh5tLL4gLi67sG52Q+6rWVecb0=" }, body: '{"n":1}' },
 * }); // "digest-header-old"
 * ```
 */
export async function diagnose(input: DiagnoseInput | SchemeInputs[OtherScheme]): Promise<Diagnosis> {
  if (typeof input?.request !== "object" || input.request === null)
    throw new TypeError("request must be an object with headers and body");
  if (input.scheme !== undefined) return { mistakes: await mistakesByScheme(input.scheme, input) };
  checkOptions("diagnose", input, INPUT);
  const { request, clock = systemClock } = input;
  requireHeaders(request);
  const { body: given = "" } = request;
  if (typeof given !== "string" && !(given instanceof Uint8Array))
    throw new TypeError("request.body must be the exact text or bytes (string or Uint8Array)");
  const headers = receivedHeaders(request.headers);
  const body = bodyBytes(given);
  const nowSeconds = unixSeconds(clock);
  const found = [
    ...mistakesFound(TARGET_MISTAKES, { ...request, listenerId: input.listener?.id }),
    ...mistakesInHeaders(headers),
    ...(await mistakesInProof({ url: request.url, headers, body, nowSeconds }, input)),
    ...mistakesInBody(body),
    ...mistakesInAge(headers, nowSeconds),
  ];
  const [userAgent] = headers.all("User-Agent");
  const rows: readonly MistakeRow[] = isCompressed(headers) ? withoutUnread(found, body) : found;
  return { mistakes: inLanguagesOfSenders(likeliestFirst(rows), userAgent) };
}

function isCompressed(headers: ReceivedHeaders): boolean {
  return headers.all("Content-Encoding").some((value) => !/^\s*identity\s*$/i.test(value));
}

/** What the bytes of a compressed body would say is no mistake of its text; where they cannot be unpacked, nothing is. */
function withoutUnread(found: readonly Mistake[], body: Uint8Array): readonly Mistake[] {
  const isUnpacked =
    (body[0] === 0x1f && body[1] === 0x8b) || found.some(({ id }) => id === "body-signed-uncompressed");
  return found.filter(({ id }) => !OF_TEXT.has(id) && (isUnpacked || !UNEXPLAINED.has(id)));
}

const OF_TEXT: ReadonlySet<string> = new Set([
  "body-in-other-encoding",
  "body-not-json",
  "body-begins-with-bom",
]);
const UNEXPLAINED: ReadonlySet<string> = new Set(["signature-unexplained", "claim-htb-unexplained"]);

async function mistakesByScheme<Name extends OtherScheme>(
  scheme: Name,
  input: SchemeInputs[Name],
): Promise<readonly Mistake[]> {
  return (await (await doctorOf(scheme)).diagnosed(input)).map(withoutFunctions);
}

/** Every recorded request is too old after some time, so these mistakes come last. */
const AGEING: ReadonlySet<string> = new Set([TIMESTAMP_STALE.id, ...EXPIRED.map(({ id }) => id)]);

function likeliestFirst(found: readonly Mistake[]): readonly Mistake[] {
  return [...found.filter(({ id }) => !AGEING.has(id)), ...found.filter(({ id }) => AGEING.has(id))];
}

/** The part of a request that a signature or a token can cover. */
interface CoveredRequest {
  readonly url: string | undefined;
  readonly headers: ReceivedHeaders;
  readonly body: Uint8Array;
  readonly nowSeconds: number;
}

/** What is wrong with the signature or the token, whichever the listener demands. */
async function mistakesInProof(
  { url, headers, body, nowSeconds }: CoveredRequest,
  { request, secret, listener, jwks }: DiagnoseInput,
): Promise<readonly Mistake[]> {
  const secrets = knownSecrets(secret, listener);
  const [signature, authorization] = [SIGNATURE_HEADER, AUTHORIZATION_HEADER].map(
    (name) => headers.all(name)[0],
  );
  if (secrets.some(({ text }) => text.length >= SURE_LENGTH && authorization?.includes(text)))
    return [SECRET_SENT];
  const method = methodOf(
    demandedMethod(secrets.length > 0, jwks !== undefined, listener),
    signature,
    authorization,
  );
  if (method === undefined) return [];
  const [wanted, other] =
    method === "hmac" ? [SIGNATURE_HEADER, authorization] : [AUTHORIZATION_HEADER, signature];
  const missing = method === "hmac" ? TOKEN_MISTAKES.signatureMissing : TOKEN_MISTAKES.tokenMissing;
  if (method === "jwt" && authorization === undefined) {
    const moved = movedToken(request.headers, TOLD_ELSEWHERE);
    if (moved !== undefined) return [moved];
  }
  if (headers.all(wanted).length !== 1) {
    if (headers.all(wanted).length === 0 && other !== undefined) {
      const isToken = /^(?:bearer )?[\w-]+\.[\w-]+\.[\w-]*$/i.test(other);
      return [method === "jwt" && isToken ? TOKEN_MISTAKES.inOtherHeader : TOKEN_MISTAKES.otherMethod];
    }
    return mistakesInHeader(headers, wanted, missing, () => []);
  }
  const [timestamp = ""] = headers.all(TIMESTAMP_HEADER);
  const [eventId = ""] = headers.all(EVENT_ID_HEADER);
  const urls = expectedUrls(listener, url);
  if (method === "hmac") {
    const signed = { timestamp, eventId, body, url: urls.url ?? url ?? "" };
    const found = mistakesInSignature(
      { signature: signature ?? "", ...signed, secrets },
      await inflate(body, MAX_INFLATED_BYTES),
    );
    // Nothing can be said of a signature over a text that is not there.
    const isWhole = [TIMESTAMP_HEADER, EVENT_ID_HEADER].every((name) => headers.all(name).length === 1);
    return isWhole ? found : found.filter(({ id }) => !UNEXPLAINED.has(id));
  }
  const keys = listener?.auth?.method === "jwt" ? listener.auth.keys : undefined;
  return mistakesInToken(
    authorization ?? "",
    { ...urls, timestamp, eventId, body, nowSeconds },
    { jwks, resolver: keys },
  );
}

/** Where a token has a mistake of its own: the other credential, and names that stand for Authorization. */
const TOLD_ELSEWHERE = [SIGNATURE_HEADER, ...(OTHER_NAMES[AUTHORIZATION_HEADER] ?? [])].map((name) =>
  name.toLowerCase(),
);

/** A decompressed body of more bytes is not looked at. */
const MAX_INFLATED_BYTES = 1_048_576;

/** A header may contain a shorter secret by chance. */
const SURE_LENGTH = 16;

type Method = "hmac" | "jwt";

function demandedMethod(
  hasSecret: boolean,
  hasKeys: boolean,
  listener: KnownListener | undefined,
): Method | undefined {
  if (listener?.auth) return listener.auth.method;
  if (hasSecret === hasKeys) return undefined;
  return hasSecret ? "hmac" : "jwt";
}

/** The method that the listener demands; if it is not known, the one that the request uses. */
function methodOf(
  demanded: Method | undefined,
  signature: string | undefined,
  authorization: string | undefined,
): Method | undefined {
  if (demanded !== undefined) return demanded;
  if (signature !== undefined) return "hmac";
  return authorization === undefined ? undefined : "jwt";
}

function knownSecrets(
  secret: DiagnoseInput["secret"],
  listener: KnownListener | undefined,
): readonly KnownSecret[] {
  const own = listener?.auth?.method === "hmac" ? textsOf(listener.auth.secret, "listener.auth.secret") : [];
  const given = textsOf(secret ?? [], "secret").filter((text) => !own.includes(text));
  return [
    ...own.map((text) => ({ text, accepted: true })),
    ...given.map((text) => ({ text, accepted: own.length === 0 })),
  ];
}

function textsOf(secret: string | readonly string[], name: string): readonly string[] {
  const texts = typeof secret === "string" ? [secret] : secret;
  if (!Array.isArray(texts) || texts.some((text) => typeof text !== "string"))
    throw new TypeError(`${name} must be a string or a list of strings`);
  return texts;
}

/** The right sub and aud: from the listener if it is known, else from the URL of the request if that is whole. */
function expectedUrls(
  listener: KnownListener | undefined,
  requestUrl: string | undefined,
): { url: string | undefined; baseUrl: string | undefined } {
  const { id, baseUrl } = listener ?? {};
  const plain = baseUrl?.replace(/\/$/, "");
  const built = plain !== undefined && id !== undefined ? listenerUrl(plain, id) : undefined;
  const url = listener?.url ?? built ?? (baseUrlOf(requestUrl) === undefined ? undefined : requestUrl);
  return { url, baseUrl: plain ?? baseUrlOf(url) };
}

/** What stands before the path of a listener, in a whole URL. */
function baseUrlOf(url = ""): string | undefined {
  const at = url.lastIndexOf(INGESTION_PATH);
  const base = url.slice(0, Math.max(at, 0));
  return /^https?:\/\/[^?#]*$/.test(base) && /^[^/?#]+$/.test(url.slice(at + INGESTION_PATH.length))
    ? base
    : undefined;
}
