import { type Dictionary, parseDictionary } from "structured-headers";
import { encodeBase64, hmacKey } from "#hash";
import { bodyBytes, utf8 } from "../../core/bytes.js";
import { type HeadersInput, receivedHeaders } from "../../core/headers.js";
import { ALGORITHMS } from "../../jwt/algorithms.js";
import { hasSigned, resolveKey } from "../../jwt/verify.js";
import {
  ALGORITHM_NAMES,
  checkedProfile,
  HMAC_NAME,
  hmacBytes,
  hmacText,
} from "../../schemes/http-signature/sign.js";
import { isInnerList } from "../../schemes/http-signature/signature-fields.js";
import type { HttpSignatureVerifierOptions } from "../../schemes/http-signature/verify.js";
import type { SchemeMistake } from "../../schemes/scheme.js";
import {
  ALGORITHM_TEXTS,
  type Facts,
  REQUEST_MISTAKES,
  type Signature,
} from "./http-signature-request-mistakes.js";
import { signedText, TEXT_MISTAKES } from "./http-signature-text-mistakes.js";
import { catalogueOf, inWords, mistakesMade } from "./mistake-rows.js";

/**
 * Every mistake that `httpSignatureMistakes` can name, for tools that list or explain them. Ids are stable.
 *
 * @example
 * ```ts
 * import { allHttpSignatureMistakes } from "hookproof/http-signature";
 *
 * allHttpSignatureMistakes.find(({ id }) => id === "digest-in-hex")?.title; // "Digest in hex"
 * ```
 */
export const allHttpSignatureMistakes: readonly SchemeMistake[] = catalogueOf(
  REQUEST_MISTAKES,
  TEXT_MISTAKES,
);

/**
 * Names what is wrong with a request of HTTP message signatures: its headers, what they cover, the time, the body's
 * digest, the key. Where all of that is right and the signature is not, it makes the signed text with one known mistake
 * after another, until the signature fits. Empty if nothing is found. For people and tests; a receiver does not need it.
 *
 * @param options.headers the header lines as received
 * @param options.body the bytes as received
 * @param options.nowSeconds Unix seconds; the machine's time by default
 * @throws {TypeError} for options that `httpSignatureVerifier` refuses
 *
 * @example
 * ```ts
 * import { httpSignatureMistakes } from "hookproof/http-signature";
 *
 * const found = await httpSignatureMistakes({
 *   url: "https://hooks.example.com/events",
 *   headers: { Digest: "SHA-256=K/0U9D0X/HzqJOCReoh5tLL4gLi67sG52Q+6rWVecb0=" },
 *   body: '{"n":1}',
 * });
 * found[0]?.id; // "digest-header-old"
 * ```
 */
export async function httpSignatureMistakes({
  headers,
  body,
  nowSeconds = Math.floor(Date.now() / 1000),
  ...options
}: HttpSignatureVerifierOptions & {
  headers: HeadersInput;
  body: string | Uint8Array;
  nowSeconds?: number | undefined;
}): Promise<readonly SchemeMistake[]> {
  const received = receivedHeaders(headers);
  const { covered } = checkedProfile(options);
  const [input, signature, digest] = ["Signature-Input", "Signature", "Content-Digest"].map((name) =>
    received.all(name).join(", ").slice(0, LONGEST),
  ) as [string, string, string];
  const [inputs, signatures] = [read(input), read(signature)];
  const first = firstOf(inputs, signatures);
  const check = first && (await checkBy(first, options));
  const facts: Facts = {
    headers: received,
    body: bodyBytes(body),
    ...{ input, signature, digest, inputs, signatures, first, covered },
    now: nowSeconds,
    keyProblem: typeof check === "string" ? check : undefined,
  };
  const found = mistakesMade(REQUEST_MISTAKES, facts);
  if (found.length > 0 || !first || typeof check !== "function") return found;
  const url = new URL(options.url);
  if (await check(signedText(first, { url, headers: received }, {}) ?? "")) return [];
  for (const way of TEXT_MISTAKES) {
    const signed = signedText(first, { url, headers: received }, way);
    if (signed !== undefined && (await check(signed))) return [inWords(way)];
  }
  return [];
}

/** More of a header is not looked at, as a receiver refuses it. */
const LONGEST = 8_192;

function read(text: string): Dictionary | undefined {
  try {
    return parseDictionary(text);
  } catch {
    return undefined;
  }
}

function firstOf(inputs: Dictionary | undefined, signatures: Dictionary | undefined): Signature | undefined {
  for (const [label, member] of inputs ?? []) {
    const bytes = signatures?.get(label)?.[0];
    if (!isInnerList(member) || !(bytes instanceof ArrayBuffer)) continue;
    const components = member[0].map(([name]) => String(name));
    return {
      components,
      input: member,
      parameters: Object.fromEntries(member[1]),
      bytes: new Uint8Array(bytes),
    };
  }
  return undefined;
}

/** Checks a text against the signature, or says why there is no key to do it with. */
async function checkBy(
  { parameters: { keyid, alg: name }, bytes }: Signature,
  { secrets = {}, keys }: HttpSignatureVerifierOptions,
): Promise<((text: string) => Promise<boolean>) | "unknown" | "other-kind" | undefined> {
  if (typeof keyid !== "string" || typeof name !== "string" || !ALGORITHM_TEXTS.includes(name))
    return undefined;
  const secret = Object.hasOwn(secrets, keyid) ? secrets[keyid] : undefined;
  if (name === HMAC_NAME) {
    if (secret !== undefined) {
      const key = hmacKey(hmacBytes(secret));
      return async (text) => hmacText(key, text) === encodeBase64(bytes);
    }
    return keys && (await isKnown(keys, keyid)) ? "other-kind" : "unknown";
  }
  if (secret !== undefined) return "other-kind";
  if (!keys) return "unknown";
  const alg = ALGORITHMS.find((one) => ALGORITHM_NAMES[one] === name);
  if (alg === undefined) return undefined;
  const resolved = await resolveKey(keys, { kid: keyid, alg });
  if (resolved.ok) return (text) => hasSigned(resolved.key, alg, bytes, utf8(text));
  return (await isKnown(keys, keyid)) ? "other-kind" : "unknown";
}

async function isKnown(
  keys: NonNullable<HttpSignatureVerifierOptions["keys"]>,
  kid: string,
): Promise<boolean> {
  for (const alg of ALGORITHMS) if ((await resolveKey(keys, { kid, alg })).ok) return true;
  return false;
}
