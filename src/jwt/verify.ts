import { type CryptoKey, compactVerify, errors } from "jose";
import type { VerdictCode } from "../errors.js";
import { type Check, type CheckStep, shown } from "../protocol/check.js";
import { checkClaims, type ExpectedClaims } from "./claims.js";
import type { KeyResolver } from "./key-resolver.js";
import { bearerToken, parseMembers, readToken, type TokenHeader } from "./token.js";

/** What the JWT method of a listener needs beside the request. */
export interface TokenRules extends ExpectedClaims {
  readonly keys: KeyResolver;
  /** Accept the header `alg: "Ed25519"` (RFC 9864) beside `EdDSA`. */
  readonly allowEd25519: boolean;
}

const TOKEN_RULE =
  "Authorization is one Bearer token: three canonical segments, no header member that is refused";
const KEY_RULE = "the key set has one usable key for the token's kid and alg";
const SIGNATURE_RULE = "the token's signature is by that key";

/**
 * The checks of the JWT method in order (specification 5.2). Nothing that needs an earlier one is tried after that
 * one failed; the first failure is the verdict.
 */
export async function checkToken(authorization: string, rules: TokenRules): Promise<readonly Check[]> {
  const token = bearerToken(authorization);
  if (token === undefined) return [failed("token", "TOKEN_MALFORMED", TOKEN_RULE, "another scheme or form")];
  const read = readToken(token, rules);
  if (!read.ok) return [failed("token", read.code, TOKEN_RULE, read.seen)];
  const { header } = read;
  const checks: Check[] = [
    { step: "token", ok: true, rule: TOKEN_RULE, seen: `alg ${header.alg}, kid ${shown(header.kid)}` },
  ];

  const resolved = await resolve(rules.keys, header);
  if (!resolved.ok) return [...checks, failed("key", resolved.code, KEY_RULE, resolved.detail)];
  checks.push({ step: "key", ok: true, rule: KEY_RULE, seen: `kid ${shown(header.kid)}` });

  const verified = await verifySignature(token, resolved.key, header.alg);
  if (!(verified instanceof Uint8Array)) {
    return [...checks, failed("signature", "TOKEN_SIGNATURE_MISMATCH", SIGNATURE_RULE, verified.reason)];
  }
  checks.push({ step: "signature", ok: true, rule: SIGNATURE_RULE });

  const claims = parseMembers(verified);
  if (typeof claims === "string") {
    const rule = "the claims are one JSON object, each name once";
    return [...checks, failed("token", "TOKEN_MALFORMED", rule, `claims with ${claims}`)];
  }
  checks.push(...checkClaims(claims, rules));
  return checks;
}

const KEY_CODES: ReadonlySet<unknown> = new Set(["KEY_NOT_FOUND", "KEY_SET_UNAVAILABLE", "KEY_SET_INVALID"]);

async function resolve(keys: KeyResolver, header: TokenHeader): ReturnType<KeyResolver["resolve"]> {
  try {
    const resolved = await keys.resolve(header.kid, header.alg);
    if (resolved?.ok === true) return resolved;
    if (resolved?.ok === false && KEY_CODES.has(resolved.code)) return resolved;
  } catch {
    // A resolver somebody else wrote may throw anything; a stranger's request must not become a 500.
  }
  return { ok: false, code: "KEY_SET_UNAVAILABLE", detail: "a resolver that failed" };
}

async function verifySignature(
  token: string,
  key: CryptoKey,
  alg: string,
): Promise<Uint8Array | { reason: string }> {
  try {
    return (await compactVerify(token, key, { algorithms: [alg] })).payload;
  } catch (error) {
    return {
      reason:
        error instanceof errors.JWSSignatureVerificationFailed
          ? "a signature by another key, or of other content"
          : "a token that cannot be verified with this key",
    };
  }
}

function failed(step: CheckStep, code: VerdictCode, rule: string, seen: string): Check {
  return { step, ok: false, code, rule, seen };
}
