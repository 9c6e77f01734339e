import { compactVerify, decodeProtectedHeader, type JWK } from "jose";
import { importPublicKey, isAlgorithm } from "../jwt/key.js";
import { shown } from "../protocol/check.js";
import { MAX_KEY_ID_LENGTH } from "../protocol/limits.js";
import {
  type KeyRules,
  MAX_KEYS,
  PRIVATE_MEMBERS,
  publicMaterial,
  verificationKeys,
} from "./verification-keys.js";

/** The rules a key set is held against, in the order they are checked. */
export type KeySetRule =
  | "https"
  | "reachable"
  | "time"
  | "content-type"
  | "caching"
  | "json"
  | "keys"
  | "private"
  | "kid"
  | "unique"
  | "kty"
  | "use"
  | "alg"
  | "strength"
  | "token";

/** One rule's outcome. `warn`: listeners accept it, and it is not as it should be. */
export interface KeySetCheck {
  readonly rule: KeySetRule;
  readonly outcome: "pass" | "warn" | "fail";
  /** What was seen, in words. */
  readonly detail: string;
  /** The keys that break the rule: their kids, or their place in the set. */
  readonly keys?: readonly string[];
}

/** Adds what the document itself keeps and breaks. */
export async function checkDocument(
  document: unknown,
  options: KeyRules & { readonly token?: string | undefined },
  checks: KeySetCheck[],
): Promise<void> {
  const list = (document as { keys?: unknown } | null)?.keys;
  if (!Array.isArray(list) || list.length === 0 || list.length > MAX_KEYS) {
    const detail = Array.isArray(list)
      ? `${list.length} keys; 1 to ${MAX_KEYS} are allowed`
      : "there is no list of keys";
    checks.push({ rule: "keys", outcome: "fail", detail });
    return;
  }
  checks.push({ rule: "keys", outcome: "pass", detail: `${list.length} keys` });
  const keys = list.map((jwk: JWK | null, index) => ({
    jwk: typeof jwk === "object" && jwk !== null ? jwk : ({} as JWK),
    name: nameOf(jwk, index),
  }));
  const rule = (name: KeySetRule, meaning: string, breaks: (jwk: JWK) => boolean) => {
    const broken = keys.filter(({ jwk }) => breaks(jwk)).map((key) => key.name);
    checks.push({
      rule: name,
      outcome: broken.length === 0 ? "pass" : "fail",
      detail: meaning,
      ...(broken.length === 0 ? {} : { keys: broken }),
    });
  };
  const kids = keys.map(({ jwk }) => jwk.kid);
  rule("private", "no key has a private or symmetric member", (jwk) =>
    PRIVATE_MEMBERS.some((name) => Object.hasOwn(jwk, name)),
  );
  rule(
    "kid",
    `every key has a kid, a text of 1 to ${MAX_KEY_ID_LENGTH} characters`,
    ({ kid }) => typeof kid !== "string" || kid === "" || kid.length > MAX_KEY_ID_LENGTH,
  );
  rule(
    "unique",
    "no kid stands twice",
    ({ kid }) => kid !== undefined && kids.indexOf(kid) !== kids.lastIndexOf(kid),
  );
  rule("kty", "kty is RSA, EC or OKP", ({ kty }) => !["RSA", "EC", "OKP"].includes(kty as string));
  rule("use", "use is sig", ({ use }) => use !== "sig");
  rule("alg", "alg is RS256, ES256 or EdDSA", ({ alg }) => !isAlgorithm(alg));
  const unfit = new Map<JWK, string>();
  for (const { jwk } of keys)
    await importPublicKey(publicMaterial(jwk), isAlgorithm(jwk.alg) ? jwk.alg : algFor(jwk)).catch(
      (error: Error) => unfit.set(jwk, error.message),
    );
  const reasons = [...new Set(unfit.values())].join(" ");
  rule(
    "strength",
    reasons === "" ? "RSA of at least 2048 bit with e = 65537, EC on P-256, Ed25519" : reasons,
    (jwk) => unfit.has(jwk),
  );
  if (options.token !== undefined) checks.push(await checkToken(options.token, document, options));
}

function nameOf(jwk: JWK | null, index: number): string {
  return typeof jwk?.kid === "string" && jwk.kid !== "" ? shown(jwk.kid) : `number ${index + 1}`;
}

function algFor({ kty }: JWK): "RS256" | "ES256" | "EdDSA" {
  return kty === "RSA" ? "RS256" : kty === "EC" ? "ES256" : "EdDSA";
}

async function checkToken(token: string, document: unknown, options: KeyRules): Promise<KeySetCheck> {
  const failed = (detail: string) => verdict("token", false, detail);
  let header: { kid?: unknown; alg?: unknown };
  try {
    header = decodeProtectedHeader(token.trim());
  } catch {
    return failed("the token is not a JWT in compact form");
  }
  const { kid, alg } = header;
  if (typeof kid !== "string" || !isAlgorithm(alg))
    return failed(`the token's header has kid ${shown(kid)} and alg ${shown(alg)}`);
  const keys = verificationKeys(document, options);
  if (typeof keys === "string") return failed(`the key set has ${keys}`);
  const found = await keys.find(kid, alg);
  if (!found.ok) return failed(`the key set has ${found.detail}`);
  try {
    await compactVerify(token.trim(), found.key, { algorithms: [alg] });
    return verdict(
      "token",
      true,
      `the key ${shown(kid)} verifies the token's signature; its claims were not looked at`,
    );
  } catch {
    return failed(`the key ${shown(kid)} does not verify the token's signature`);
  }
}

/** A rule that is kept or broken. */
export function verdict(rule: KeySetRule, ok: boolean, detail: string): KeySetCheck {
  return { rule, outcome: ok ? "pass" : "fail", detail };
}
