// Finds the mistakes in a request of HTTP message signatures.

import type { Dictionary } from "structured-headers";
import { encodeBase64 } from "#hash";
import { bodyBytes, decodeUtf8, utf8 } from "../../../core/bytes.js";
import { type Clock, systemClock, unixSeconds } from "../../../core/clock.js";
import { type HeadersInput, receivedHeaders, requireHeaders } from "../../../core/headers.js";
import { checkOptions } from "../../../core/options.js";
import { countOf } from "../../../core/shown.js";
import type { Jwks } from "../../../jwks/key-set.js";
import { ALGORITHMS } from "../../../jwt/algorithms.js";
import { hasSigned, resolveKey } from "../../../jwt/verify.js";
import {
  algorithmsNamed,
  checkedProfile,
  HMAC_NAME,
  hmacBytes,
  hmacText,
  PROFILE,
  receiverUrl,
} from "../../../schemes/http-signature/sign.js";
import { dictionaryOf, isInnerList } from "../../../schemes/http-signature/signature-fields.js";
import type { HttpSignatureVerifierOptions } from "../../../schemes/http-signature/verify.js";
import { mistakesInBody, mistakesInContent } from "../../diagnose/headers.js";
import { BODY_MISTAKES, CONTENT_MISTAKES } from "../../diagnose/mistakes/header.js";
import { catalogueOf, type Mistake, type MistakeRow } from "../../rows/mistake.js";
import { choices, mistakesFound, mistakesOf, ONE_MISTAKE } from "../../rows/run.js";
import type { Signature, SignedRequestFacts } from "./facts.js";
import { ALGORITHM_TEXTS, REQUEST_MISTAKES } from "./request-mistakes.js";
import { KEY_WAYS, mistakesBehindSignature, SIGNATURE_ROWS } from "./signature-mistakes.js";
import { SIGNED_TEXTS, signedRequest, signedText, TEXT_MISTAKES } from "./text-mistakes.js";

/** Where nothing explains the signature. */
const UNEXPLAINED: MistakeRow = {
  id: "signature-unexplained",
  title: "The signature does not match",
  message:
    "No known mistake gives the signature: another key than the one that keyid names, another request than was signed, or a mistake that is not known here.",
  fix: "Print the signed text on both sides and compare it line by line.",
};

/** With what was tried: not every way makes another text of this request. */
function unexplained(texts: number, isHmac: boolean): MistakeRow {
  const keys = isHmac ? `${KEY_WAYS} ways to make the key of the secret, ` : "";
  const ways = countOf(texts, "other way");
  return {
    ...UNEXPLAINED,
    fix: `${UNEXPLAINED.fix} What was tried: ${ways} to write that text, ${keys}and other spellings of the signature.`,
  };
}

/** Every mistake of the scheme. */
export const MISTAKES = catalogueOf(
  REQUEST_MISTAKES,
  TEXT_MISTAKES,
  SIGNATURE_ROWS,
  [UNEXPLAINED],
  CONTENT_MISTAKES,
  BODY_MISTAKES,
);

/** A request of HTTP message signatures, with the options of its `httpSignatureVerifier`. */
export interface HttpSignatureInput extends HttpSignatureVerifierOptions {
  /** HTTP message signatures. */
  readonly scheme: "http-signature";
  /** The request as it arrived. */
  readonly request: {
    /** The headers as received. */
    readonly headers: HeadersInput;
    /** The body as received; a text stands for its UTF-8 bytes. Empty if it is missing. */
    readonly body?: string | Uint8Array | undefined;
  };
  /** The document that `keys` reads, as it is served. With it more can be said of a key that is not found. */
  readonly jwks?: Jwks | undefined;
  /** The receiver's time; the system's clock by default. */
  readonly clock?: Clock | undefined;
}

/**
 * What is wrong with the headers, with what they cover, the time, the body's digest, the key. Where all of that is right
 * and the signature is not, the signed text is made with one known mistake after another, until the signature fits.
 */
export async function diagnosed({
  request: { headers, body = "" },
  clock = systemClock,
  jwks,
  ...options
}: HttpSignatureInput): Promise<readonly Mistake[]> {
  requireHeaders({ headers });
  const received = receivedHeaders(headers);
  const { scheme: _, ...profile } = options;
  checkOptions("diagnose", profile, { ...PROFILE, url: 1, keys: ".resolve", secrets: "object" });
  const { covered } = checkedProfile(options);
  const url = receiverUrl(options.url);
  const [input, signature, digest] = ["Signature-Input", "Signature", "Content-Digest"].map((name) =>
    received.all(name).join(", ").slice(0, LONGEST),
  ) as [string, string, string];
  const [inputs, signatures] = [dictionaryOf(input), dictionaryOf(signature)];
  const target = { url, headers: received, body: decodeUtf8(bodyBytes(body)) ?? "" };
  const { first, check, isRight } = await likeliest(
    signaturesIn(inputs, signatures, options.tag),
    target,
    options,
  );
  const facts: SignedRequestFacts = {
    headers: received,
    body: bodyBytes(body),
    input,
    signature,
    digest,
    inputs,
    signatures,
    first,
    covered,
    tag: options.tag,
    now: unixSeconds(clock),
    keyProblem: typeof check === "object" ? check : undefined,
    jwks,
  };
  const found = mistakesFound(REQUEST_MISTAKES, facts);
  const around = [...mistakesInContent(received), ...mistakesInBody(facts.body)];
  if (found.length > 0 || !first || typeof check !== "function" || isRight) return [...found, ...around];
  return [...(await mistakesInText(first, target, { check, jwks, options })), ...around];
}

/** The text with one known mistake after another, the key and the spelling of a signature that does not fit. */
async function mistakesInText(
  first: Signature,
  request: Parameters<typeof signedRequest>[1],
  { check, jwks, options }: TextSearch,
): Promise<readonly Mistake[]> {
  const target = signedRequest(first, request);
  const right = signedText(target, {}) ?? "";
  const tried = new Set([right]);
  const { keyid } = first.parameters;
  const isHmac = typeof keyid === "string" && Object.hasOwn(options.secrets ?? {}, keyid);
  for (const choice of choices(SIGNED_TEXTS, { upTo: ONE_MISTAKE + 1 })) {
    const signed = signedText(target, choice.text.repeat);
    if (signed === undefined || tried.has(signed)) continue;
    tried.add(signed);
    if (tried.size > MAX_TEXTS && !isHmac) break;
    if (await check(signed)) return mistakesOf(choice);
  }
  const behind = await mistakesBehindSignature(first, right, { ...options, jwks });
  return behind.length > 0
    ? behind
    : [unexplained(Math.min(tried.size, isHmac ? tried.size : MAX_TEXTS) - 1, isHmac)];
}

/** What the search for a signed text has of the receiver. */
interface TextSearch {
  readonly check: (text: string) => Promise<boolean>;
  readonly jwks: Jwks | undefined;
  readonly options: HttpSignatureVerifierOptions;
}

/** A signature by a key takes thirty times as long to check as an HMAC. */
const MAX_TEXTS = 75;

/** More of a header is not looked at, as a receiver refuses it. */
const LONGEST = 8_192;

/** The signatures that have their input; those of the tag that is agreed on, if there is one. */
function signaturesIn(
  inputs: Dictionary | undefined,
  signatures: Dictionary | undefined,
  tag: string | undefined,
): readonly Signature[] {
  const all: Signature[] = [];
  for (const [label, member] of inputs ?? []) {
    const bytes = signatures?.get(label)?.[0];
    if (!isInnerList(member) || !(bytes instanceof ArrayBuffer)) continue;
    const components = member[0].map(([name]) => String(name));
    all.push({
      components,
      input: member,
      parameters: Object.fromEntries(member[1]),
      bytes: new Uint8Array(bytes),
    });
  }
  const tagged = all.filter(({ parameters }) => tag !== undefined && parameters.tag === tag);
  return (tagged.length > 0 ? tagged : all).slice(0, MAX_SIGNATURES);
}

/** More signatures are refused by a receiver. */
const MAX_SIGNATURES = 8;

/** The signature that is right; otherwise the first whose key is known, or the first of all: proxies add their own. */
async function likeliest(
  all: readonly Signature[],
  request: Parameters<typeof signedRequest>[1],
  options: HttpSignatureVerifierOptions,
): Promise<{ first?: Signature; check?: Awaited<ReturnType<typeof checkBy>>; isRight?: boolean }> {
  const judged = [];
  for (const first of all) {
    const check = await checkBy(first, options);
    const right = typeof check === "function" ? signedText(signedRequest(first, request), {}) : undefined;
    if (typeof check === "function" && right !== undefined && (await check(right)))
      return { first, check, isRight: true };
    judged.push({ first, check });
  }
  return judged.find(({ check }) => typeof check === "function") ?? judged[0] ?? {};
}

/** Checks a text against the signature, or says why there is no key to do it with; nothing where it could not be looked up. */
async function checkBy(
  { parameters: { keyid, alg: name }, bytes }: Signature,
  { secrets = {}, keys }: HttpSignatureVerifierOptions,
): Promise<((text: string) => Promise<boolean>) | SignedRequestFacts["keyProblem"]> {
  if (typeof keyid !== "string") return undefined;
  if (name !== undefined && (typeof name !== "string" || !ALGORITHM_TEXTS.includes(name))) return undefined;
  const secret = Object.hasOwn(secrets, keyid) ? secrets[keyid] : undefined;
  if (name === HMAC_NAME || (name === undefined && secret !== undefined)) {
    if (secret !== undefined) {
      const hmac = hmacText(hmacBytes(secret));
      return async (text) => hmac(text) === encodeBase64(bytes);
    }
    return keys ? refusalFor(keys, keyid, ALGORITHMS[0]) : { kind: "unknown" };
  }
  if (secret !== undefined) return { kind: "other-kind" };
  if (!keys) return { kind: "unknown" };
  const algs = algorithmsNamed(name);
  for (const alg of algs) {
    const resolved = await resolveKey(keys, { kid: keyid, alg });
    if (resolved.ok) return (text) => hasSigned(resolved.key, alg, bytes, utf8(text));
  }
  return algs[0] && refusalFor(keys, keyid, algs[0]);
}

/** Why the resolver has no key of this name for the algorithm. */
async function refusalFor(
  keys: NonNullable<HttpSignatureVerifierOptions["keys"]>,
  kid: string,
  wanted: (typeof ALGORITHMS)[number],
): Promise<SignedRequestFacts["keyProblem"]> {
  for (const alg of ALGORITHMS) if ((await resolveKey(keys, { kid, alg })).ok) return { kind: "other-kind" };
  const refused = await resolveKey(keys, { kid, alg: wanted });
  return refused.ok || refused.code !== "KEY_NOT_FOUND"
    ? undefined
    : { kind: "unknown", detail: refused.detail };
}
