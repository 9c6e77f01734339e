// Checks a key set by every rule of the service.

import { decodeProtectedHeader } from "jose/decode/protected_header";
import { compactVerify } from "jose/jws/compact/verify";
import { HookproofError } from "../core/errors.js";
import { duplicateMember, parseJson } from "../core/json.js";
import { checkOptions } from "../core/options.js";
import { MAX_KEY_ID_LENGTH } from "../core/protocol.js";
import { countOf, shown } from "../core/shown.js";
import type { TransportResponse } from "../http/transport.js";
import { ALGORITHM_FACTS, ALGORITHMS, algorithmOf, isAlgorithm } from "../jwt/algorithms.js";
import { importPublicKey, type JWK, PRIVATE_MEMBERS, publicMembers } from "../jwt/key.js";
import { otherPurpose } from "./key-purpose.js";
import { hasOtherCertificate, misspelling, wordsOfShape, wordsOfText } from "./key-set-shape.js";
import {
  keySetRequest,
  MAX_KEY_SET_BYTES,
  REMOTE_KEYS_OPTIONS,
  type RemoteKeysOptions,
} from "./remote-keys.js";
import { type KeyRules, MAX_KEYS, verificationKeys } from "./verification-keys.js";

/** The rules for a key set, in the order they are checked. */
export type KeySetRule =
  | "https"
  | "reachable"
  | "time"
  | "content-type"
  | "caching"
  | "json"
  | "keys"
  | "purpose"
  | "private"
  | "kid"
  | "unique"
  | "kty"
  | "use"
  | "alg"
  | "key-ops"
  | "encoding"
  | "strength"
  | "certificate"
  | "usable"
  | "token";

/** The result of one rule. */
export interface KeySetCheck {
  /** The rule that was checked. */
  readonly rule: KeySetRule;
  /** `note`: nothing is wrong. `warn`: listeners accept the set, but it should be corrected. */
  readonly outcome: "pass" | "note" | "warn" | "fail";
  /** What was found, in words. */
  readonly detail: string;
  /** The keys that break the rule, or that a note is about: their kids, or their positions in the set. */
  readonly keys?: readonly string[];
}

/** The result of `checkKeySet`. */
export interface KeySetReport {
  /** Whether no rule failed. */
  readonly ok: boolean;
  /** The rules that were checked, in order. */
  readonly checks: readonly KeySetCheck[];
}

/** Options of `checkKeySet`. */
interface CheckKeySetOptions extends RemoteKeysOptions {
  /** A token of the sender: its key is looked up in the set and its signature checked, but not its claims. */
  readonly token?: string | undefined;
}

const SLOW_MS = 2_000;

/**
 * Checks a key set by every rule of the service (specification 5.2, JWT method). Give the URL, which is fetched as a
 * listener fetches it, or the document. Does not throw for a faulty set or an unreachable host: see the report.
 *
 * Keys for another purpose (`use` of `enc`, other algorithms and kinds) are noted and not judged; at least one key has
 * to be usable.
 *
 * @example
 * ```ts
 * import { checkKeySet } from "hookproof/jwks";
 *
 * const { ok, checks } = await checkKeySet("https://keys.example.com/.well-known/jwks.json");
 * for (const { rule, outcome, detail } of checks) console.log(outcome, rule, detail);
 * ```
 */
export async function checkKeySet(
  source: string | object,
  options: CheckKeySetOptions = {},
): Promise<KeySetReport> {
  const { clock: _clock, ...fetching } = REMOTE_KEYS_OPTIONS;
  checkOptions("checkKeySet", options, { ...fetching, token: "string" });
  const checks: KeySetCheck[] = [];
  const document = typeof source === "string" ? await fetched(source, options, checks) : { value: source };
  if (document) await checkDocument(document.value, options, checks);
  return { ok: checks.every(({ outcome }) => outcome !== "fail"), checks };
}

async function fetched(
  url: string,
  options: CheckKeySetOptions,
  checks: KeySetCheck[],
): Promise<{ value: unknown } | undefined> {
  const start = performance.now();
  let response: TransportResponse;
  try {
    const get = keySetRequest(url, options);
    checks.push({
      rule: "https",
      outcome: "pass",
      detail: new URL(url).protocol === "https:" ? "https" : "http, on loopback",
    });
    response = await get();
  } catch (error) {
    const isRefused = error instanceof HookproofError && error.code === "KEY_SET_URL_REFUSED";
    const detail = error instanceof HookproofError ? error.message : "the transport failed";
    checks.push({ rule: isRefused ? "https" : "reachable", outcome: "fail", detail });
    return undefined;
  }
  const tookMs = Math.round(performance.now() - start);
  checks.push(verdict("reachable", response.status === 200, `the host answered ${response.status}`));
  if (response.status !== 200) return undefined;
  const slow = tookMs > SLOW_MS;
  checks.push({
    rule: "time",
    outcome: slow ? "warn" : "pass",
    detail: `${tookMs} ms; listeners wait 5000 ms`,
  });
  checks.push(contentType(response), caching(response));
  if (response.truncated) {
    checks.push({ rule: "json", outcome: "fail", detail: `more than ${MAX_KEY_SET_BYTES} bytes` });
    return undefined;
  }
  const parsed = parseJson(response.body);
  const doubled = parsed.ok ? duplicateMember(new TextDecoder().decode(response.body)) : undefined;
  if (doubled !== undefined) {
    const detail = `the member ${shown(doubled)} stands twice in one object: strict readers refuse it, and others take the first or the last`;
    checks.push({ rule: "json", outcome: "fail", detail });
    return undefined;
  }
  const reason = parsed.ok
    ? ""
    : parsed.reason === "not-utf8"
      ? "not UTF-8"
      : `not JSON${wordsOfText(response.body)}`;
  checks.push(
    verdict("json", parsed.ok, parsed.ok ? countOf(response.body.length, "byte") : `the body is ${reason}`),
  );
  return parsed.ok ? { value: parsed.value } : undefined;
}

function contentType(response: TransportResponse): KeySetCheck {
  const value = headerOf(response, "content-type");
  const isJson = /^application\/(?:jwk-set\+)?json\s*(?:;|$)/i.test(value ?? "");
  return {
    rule: "content-type",
    outcome: isJson ? "pass" : "warn",
    detail: value === undefined ? "none; application/jwk-set+json is meant for it" : shown(value),
  };
}

function caching(response: TransportResponse): KeySetCheck {
  const value = headerOf(response, "cache-control");
  if (value === undefined)
    return {
      rule: "caching",
      outcome: "warn",
      detail: "no Cache-Control: each listener decides for itself how long it keeps the set",
    };
  const maxAge = /(?:^|[\s,])max-age\s*=\s*"?([0-9]+)/i.exec(value)?.[1];
  const fits =
    maxAge !== undefined &&
    Number(maxAge) >= 60 &&
    Number(maxAge) <= 600 &&
    !/no-store|no-cache/i.test(value);
  return {
    rule: "caching",
    outcome: fits ? "pass" : "warn",
    detail: fits ? shown(value) : `${shown(value)}; a max-age of 60 to 600 s is what listeners keep to`,
  };
}

function headerOf({ headers }: TransportResponse, wanted: string): string | undefined {
  const values = headers.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value);
  return values.length === 0 ? undefined : values.join(", ");
}

/** Checks the document, and adds the results to `checks`. */
async function checkDocument(
  document: unknown,
  options: KeyRules & { readonly token?: string | undefined },
  checks: KeySetCheck[],
): Promise<void> {
  const list = (document as { keys?: unknown } | null)?.keys;
  if (!Array.isArray(list) || list.length === 0 || list.length > MAX_KEYS) {
    const detail = Array.isArray(list)
      ? `${countOf(list.length, "key")}; 1 to ${MAX_KEYS} are allowed`
      : `there is no list of keys${wordsOfShape(document)}`;
    checks.push({ rule: "keys", outcome: "fail", detail });
    return;
  }
  checks.push({ rule: "keys", outcome: "pass", detail: countOf(list.length, "key") });
  const all = list.map((jwk: JWK | null, index) => ({
    jwk: typeof jwk === "object" && jwk !== null ? jwk : ({} as JWK),
    name: nameOf(jwk, index),
  }));
  const others = all.filter(({ jwk }) => otherPurpose(jwk) !== undefined);
  const keys = all.filter((one) => !others.includes(one));
  if (others.length > 0)
    checks.push({
      rule: "purpose",
      outcome: "note",
      detail: `${countOf(others.length, "key")} for another purpose (${[...new Set(others.map(({ jwk }) => otherPurpose(jwk)))].join(", ")}), which listeners pass over`,
      keys: others.map(({ name }) => name),
    });
  const rule = (name: KeySetRule, meaning: string, breaks: (jwk: JWK) => boolean, among = keys) => {
    const broken = among.filter(({ jwk }) => breaks(jwk)).map((key) => key.name);
    checks.push({
      rule: name,
      outcome: broken.length === 0 ? "pass" : "fail",
      detail: meaning,
      ...(broken.length === 0 ? {} : { keys: broken }),
    });
  };
  const kids = keys.map(({ jwk }) => jwk.kid);
  rule(
    "private",
    "no key has a private or symmetric member",
    (jwk) => PRIVATE_MEMBERS.some((name) => Object.hasOwn(jwk, name)),
    all,
  );
  rule(
    "kid",
    `every key has a kid, a text of 1 to ${MAX_KEY_ID_LENGTH} characters`,
    ({ kid }) => typeof kid !== "string" || kid === "" || kid.length > MAX_KEY_ID_LENGTH,
  );
  rule(
    "unique",
    "no kid occurs twice",
    ({ kid }) => kid !== undefined && kids.indexOf(kid) !== kids.lastIndexOf(kid),
  );
  const shared = others.filter(({ jwk }) => jwk.kid !== undefined && kids.includes(jwk.kid));
  if (shared.length > 0)
    checks.push({
      rule: "unique",
      outcome: "warn",
      detail:
        "a key for another purpose has the same kid, and a listener that looks at kids alone may take it",
      keys: shared.map(({ name }) => name),
    });
  const alike = keys.filter(({ jwk }) =>
    kids.some((kid) => kid !== jwk.kid && plainKid(kid) === plainKid(jwk.kid)),
  );
  if (alike.length > 0)
    checks.push({
      rule: "unique",
      outcome: "warn",
      detail: "kids differ only by case or type, which is easily mistaken",
      keys: alike.map(({ name }) => name),
    });
  const kinds = ALGORITHMS.map((alg) => ALGORITHM_FACTS[alg].kty as unknown);
  rule("kty", "kty is RSA, EC or OKP", ({ kty }) => !kinds.includes(kty));
  rule("use", "use is sig", ({ use }) => use !== "sig");
  rule("alg", "alg is RS256, ES256 or EdDSA", ({ alg }) => !isAlgorithm(alg));
  const nameless = others.filter(({ jwk }) => typeof jwk.alg !== "string");
  if (nameless.length > 0)
    checks.push({
      rule: "alg",
      outcome: "warn",
      detail: "a key for another purpose names no alg, and some verifiers refuse the whole set for it",
      keys: nameless.map(({ name }) => name),
    });
  rule(
    "key-ops",
    "key_ops, if there, has verify, each operation once, and none that use sig excludes",
    ({ key_ops: ops }) => ops !== undefined && !isForSignatures(ops),
  );
  const misspelt = new Set(keys.flatMap(({ jwk }) => misspelling(jwk) ?? []));
  rule(
    "encoding",
    misspelt.size === 0
      ? "numbers are base64url without padding"
      : `${[...misspelt].join("; ")} (RFC 7518, 6)`,
    (jwk) => misspelling(jwk) !== undefined,
  );
  const unfit = new Map<JWK, string>();
  for (const { jwk } of keys) {
    const alg = isAlgorithm(jwk.alg) ? jwk.alg : algorithmOf(jwk);
    if (alg === undefined) unfit.set(jwk, `A key has kty ${shown(jwk.kty)} and crv ${shown(jwk.crv)}.`);
    else
      await importPublicKey(publicMembers(jwk), alg).catch((error: Error) => unfit.set(jwk, error.message));
  }
  const reasons = [...new Set(unfit.values())].join(" ");
  rule(
    "strength",
    reasons === "" ? "RSA of at least 2048 bit with e = 65537, EC on P-256, Ed25519" : reasons,
    (jwk) => unfit.has(jwk),
  );
  if (keys.some(({ jwk }) => jwk.x5c !== undefined))
    rule("certificate", "x5c, if there, begins with this key's own certificate", hasOtherCertificate);
  checks.push(await checkUsable(keys, document, options));
  if (options.token !== undefined) checks.push(await checkToken(options.token.trim(), document, options));
}

function plainKid(kid: unknown): string | undefined {
  return typeof kid === "string" || typeof kid === "number" ? String(kid).toLowerCase() : undefined;
}

function nameOf(jwk: JWK | null, index: number): string {
  return typeof jwk?.kid === "string" && jwk.kid !== "" ? shown(jwk.kid) : `number ${index + 1}`;
}

/** Strict readers refuse a list with an operation twice, and one that `use` contradicts (RFC 7517, 4.3). */
function isForSignatures(operations: unknown): boolean {
  return (
    Array.isArray(operations) &&
    operations.includes("verify") &&
    new Set(operations).size === operations.length &&
    operations.every((one) => one === "verify" || one === "sign")
  );
}

/** Whether a listener would find any key at all. */
async function checkUsable(
  keys: readonly { readonly jwk: JWK }[],
  document: unknown,
  rules: KeyRules,
): Promise<KeySetCheck> {
  const found = verificationKeys(document, rules);
  if (typeof found === "string")
    return verdict("usable", false, `no key can verify a token: the key set has ${found}`);
  let count = 0;
  for (const { jwk } of keys) {
    const alg = isAlgorithm(jwk.alg) ? jwk.alg : algorithmOf(jwk);
    if (alg !== undefined && typeof jwk.kid === "string" && (await found.find(jwk.kid, alg)).ok) count += 1;
  }
  const detail = count === 0 ? "no key can verify a token" : `${countOf(count, "key")} can verify a token`;
  return verdict("usable", count > 0, detail);
}

async function checkToken(token: string, document: unknown, options: KeyRules): Promise<KeySetCheck> {
  const failed = (detail: string) => verdict("token", false, detail);
  let header: { kid?: unknown; alg?: unknown };
  try {
    header = decodeProtectedHeader(token);
  } catch {
    return failed("the token is not a JWT in compact form");
  }
  const { kid, alg } = header;
  if (typeof kid !== "string" || !isAlgorithm(alg))
    return failed(`the token's header has kid ${shown(kid)} and alg ${shown(alg)}`);
  const keys = verificationKeys(document, options);
  if (typeof keys === "string") return failed(`the key set has ${keys}`);
  const found = await keys.find(kid, alg);
  if (!found.ok) return failed(`the key set has ${found.detail}${alikeIn(document, kid)}`);
  try {
    await compactVerify(token, found.key, { algorithms: [alg] });
    return verdict(
      "token",
      true,
      `the key ${shown(kid)} verifies the token's signature; its claims were not looked at`,
    );
  } catch {
    return failed(`the key ${shown(kid)} does not verify the token's signature`);
  }
}

/** The kid in the set that was meant, if it differs by case or type only. */
function alikeIn(document: unknown, kid: string): string {
  const { keys } = document as { keys: readonly (JWK | null)[] };
  const other = keys.find((jwk) => jwk?.kid !== kid && plainKid(jwk?.kid) === plainKid(kid));
  return other ? `, but ${shown(other.kid)}: kids are compared with case and type` : "";
}

function verdict(rule: KeySetRule, ok: boolean, detail: string): KeySetCheck {
  return { rule, outcome: ok ? "pass" : "fail", detail };
}
