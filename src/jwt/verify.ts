// Opens a token with the key that its header names.
import type { CryptoKey } from "jose";
import { isSignatureBy } from "#signature";
import type { Check } from "../core/check.js";
import type { VerdictCode } from "../core/errors.js";
import { shown } from "../core/shown.js";
import { ALGORITHM_FACTS, type Algorithm } from "./algorithms.js";
import { type Bytes, parseMembers, readToken, type TokenForm, type TokenHeader } from "./token.js";

/** The key for a token's `kid` and `alg`, or why there is none. */
export type ResolvedKey =
  | {
      readonly ok: true;
      /** The public key. */
      readonly key: CryptoKey;
    }
  | {
      readonly ok: false;
      readonly code: "KEY_NOT_FOUND" | "KEY_SET_UNAVAILABLE" | "KEY_SET_INVALID";
      /** The reason, for the receiver's own log; it is not sent to the caller. */
      readonly detail: string;
    };

/**
 * Finds the public key for a token (specification 5.2, JWT method, step 3). `localKeys` and `remoteKeys` make one;
 * write your own for keys that are kept elsewhere.
 */
export interface KeyResolver {
  /**
   * The key with this id for this algorithm. `Ed25519` occurs only where a listener has `allowEd25519`. A resolver
   * that throws counts as KEY_SET_UNAVAILABLE.
   */
  resolve(kid: string, alg: Algorithm | "Ed25519"): Promise<ResolvedKey>;
}

/** The checks that open a token of any kind. */
type OpeningStep = "token" | "key" | "token-signature" | "claims";

/** Makes those checks, with the rules of the scheme that opens it. */
interface OpeningChecks {
  passed(step: OpeningStep, seen?: string): Check;
  failed(step: OpeningStep, code: VerdictCode, seen?: string): Check;
}

/** Opens a compact token: its header, its key, its signature, its claims. There are no claims where a check failed. */
export async function openToken(
  token: string,
  rules: TokenForm & { readonly keys: KeyResolver },
  { passed, failed }: OpeningChecks,
): Promise<{ readonly checks: readonly Check[]; readonly claims?: Readonly<Record<string, unknown>> }> {
  const read = readToken(token, rules);
  if (!read.ok) return { checks: [failed("token", read.code, read.seen)] };
  const { header } = read;
  const checks: Check[] = [passed("token", `alg ${header.alg}, kid ${shown(header.kid)}`)];
  const refused = (check: Check) => ({ checks: [...checks, check] });

  const resolved = await resolveKey(rules.keys, header);
  if (!resolved.ok) return refused(failed("key", resolved.code, resolved.detail));
  checks.push(passed("key", `kid ${shown(header.kid)}`));

  const alg = header.alg === "Ed25519" ? "EdDSA" : header.alg;
  if (!(await hasSigned(resolved.key, alg, read.signature, read.signed))) {
    const seen = isVerifyingKey(resolved.key, alg)
      ? "a signature by another key, or of other content"
      : "a token that cannot be verified with this key";
    return refused(failed("token-signature", "TOKEN_SIGNATURE_MISMATCH", seen));
  }
  checks.push(passed("token-signature"));

  const claims = parseMembers(read.claims);
  if (typeof claims === "string")
    return refused(failed("claims", "TOKEN_MALFORMED", `claims with ${claims}`));
  return { checks: [...checks, passed("claims")], claims };
}

const KEY_CODES: ReadonlySet<unknown> = new Set(["KEY_NOT_FOUND", "KEY_SET_UNAVAILABLE", "KEY_SET_INVALID"]);

/** Asks a resolver, which may be the caller's own and fail. */
export async function resolveKey(
  keys: KeyResolver,
  { kid, alg }: Pick<TokenHeader, "kid" | "alg">,
): ReturnType<KeyResolver["resolve"]> {
  try {
    const resolved = await keys.resolve(kid, alg);
    if (resolved?.ok === true) return resolved;
    if (resolved?.ok === false && KEY_CODES.has(resolved.code)) return resolved;
  } catch {
    // A resolver of the application may throw anything; a request from outside must not end in a 500.
  }
  return { ok: false, code: "KEY_SET_UNAVAILABLE", detail: "a resolver that failed" };
}

/** Whether a key, which a caller's resolver may have given, is one that verifies signatures of an algorithm. */
function isVerifyingKey(key: CryptoKey | undefined, alg: Algorithm): boolean {
  if (!key?.algorithm || !key.usages?.includes("verify")) return false;
  return ALGORITHM_FACTS[alg].unfitness(key.algorithm) === undefined;
}

/** Whether a key has signed these bytes; false also for a key that cannot verify them. */
export async function hasSigned(
  key: CryptoKey,
  alg: Algorithm,
  signature: Bytes,
  bytes: Bytes,
): Promise<boolean> {
  if (!isVerifyingKey(key, alg)) return false;
  try {
    return await isSignatureBy(key, ALGORITHM_FACTS[alg].signatureParameters, signature, bytes);
  } catch {
    return false;
  }
}
