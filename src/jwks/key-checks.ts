// The rules for the keys of a set, one after another.
import { MAX_KEY_ID_LENGTH } from "../core/protocol.js";
import { countOf, shown } from "../core/shown.js";
import { ALGORITHM_FACTS, ALGORITHMS, algorithmOf, isAlgorithm } from "../jwt/algorithms.js";
import { importPublicKey, type JWK, PRIVATE_MEMBERS, publicMembers } from "../jwt/key.js";
import { otherPurpose } from "./key-purpose.js";
import { hasEvenModulus, hasOtherCertificate, hasOtherTypes, misspellingOf } from "./key-set-shape.js";

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

const NEWER_NAME = "Ed25519";

interface NamedKey {
  readonly jwk: JWK;
  readonly name: string;
}

/** The keys of a set, rule by rule. */
export class KeyChecks {
  readonly forSignatures: readonly NamedKey[];
  readonly #all: readonly NamedKey[];
  readonly #others: readonly NamedKey[];
  readonly #kids: readonly unknown[];
  readonly #checks: KeySetCheck[];

  constructor(list: readonly (JWK | null)[], checks: KeySetCheck[]) {
    this.#all = list.map((jwk, index) => ({
      jwk: typeof jwk === "object" && jwk !== null ? jwk : ({} as JWK),
      name: nameOf(jwk, index),
    }));
    this.#others = this.#all.filter(({ jwk }) => otherPurpose(jwk) !== undefined);
    this.forSignatures = this.#all.filter((one) => !this.#others.includes(one));
    this.#kids = this.forSignatures.map(({ jwk }) => jwk.kid);
    this.#checks = checks;
  }

  checkPurpose(): void {
    const [newer, others] = [true, false].map((isNewer) =>
      this.#others.filter(({ jwk }) => (jwk.alg === NEWER_NAME) === isNewer),
    ) as [NamedKey[], NamedKey[]];
    const purposes = [...new Set(others.map(({ jwk }) => otherPurpose(jwk)))].join(", ");
    const detail = `${countOf(others.length, "key")} for another purpose (${purposes}), which listeners pass over`;
    this.#remark("purpose", "note", detail, others);
    this.#remark(
      "alg",
      "warn",
      `alg "${NEWER_NAME}" is the newer name of EdDSA (RFC 9864), which listeners of the service pass over: write EdDSA`,
      newer,
    );
    this.#remark(
      "purpose",
      "warn",
      "a key for another purpose has a member of another type than RFC 7517 says, and some verifiers refuse the whole set for it",
      this.#others.filter(({ jwk }) => hasOtherTypes(jwk)),
    );
    this.#rule(
      "private",
      "no key has a private or symmetric member",
      (jwk) => PRIVATE_MEMBERS.some((name) => Object.hasOwn(jwk, name)),
      this.#all,
    );
  }

  checkKids(): void {
    const kids = this.#kids;
    this.#rule(
      "kid",
      `every key has a kid, a text of 1 to ${MAX_KEY_ID_LENGTH} characters`,
      ({ kid }) => typeof kid !== "string" || kid === "" || kid.length > MAX_KEY_ID_LENGTH,
    );
    this.#rule(
      "unique",
      "no kid occurs twice",
      ({ kid }) => kid !== undefined && kids.indexOf(kid) !== kids.lastIndexOf(kid),
    );
    this.#remark(
      "unique",
      "warn",
      "a key for another purpose has the same kid, and a listener that looks at kids alone may take it",
      this.#others.filter(({ jwk }) => jwk.kid !== undefined && kids.includes(jwk.kid)),
    );
    this.#remark(
      "unique",
      "warn",
      "kids differ only by case or type, which is easily mistaken",
      this.forSignatures.filter(({ jwk }) =>
        kids.some((kid) => kid !== jwk.kid && plainKid(kid) === plainKid(jwk.kid)),
      ),
    );
  }

  checkMembers(): void {
    const kinds = ALGORITHMS.map((alg) => ALGORITHM_FACTS[alg].kty as unknown);
    this.#rule("kty", "kty is RSA, EC or OKP", ({ kty }) => !kinds.includes(kty));
    this.#rule("use", "use is sig", ({ use }) => use !== "sig");
    this.#rule("alg", "alg is RS256, ES256 or EdDSA", ({ alg }) => !isAlgorithm(alg));
    this.#remark(
      "alg",
      "warn",
      "a key for another purpose names no alg, and some verifiers refuse the whole set for it",
      this.#others.filter(({ jwk }) => typeof jwk.alg !== "string"),
    );
    this.#rule(
      "key-ops",
      "key_ops, if there, has verify, each operation once, and none that use sig excludes",
      ({ key_ops: ops }) => ops !== undefined && !isForSignatures(ops),
    );
    const misspelt = new Set(this.forSignatures.flatMap(({ jwk }) => misspellingOf(jwk) ?? []));
    this.#rule(
      "encoding",
      misspelt.size === 0
        ? "numbers are base64url without padding"
        : `${[...misspelt].join("; ")} (RFC 7518, 6)`,
      (jwk) => misspellingOf(jwk) !== undefined,
    );
  }

  async checkStrength(): Promise<void> {
    const unfit = new Map<JWK, string>();
    for (const { jwk } of this.forSignatures) {
      const alg = isAlgorithm(jwk.alg) ? jwk.alg : algorithmOf(jwk);
      const misspelt = misspellingOf(jwk);
      if (alg === undefined) unfit.set(jwk, `A key has kty ${shown(jwk.kty)} and crv ${shown(jwk.crv)}.`);
      else if (misspelt?.endsWith("no text")) unfit.set(jwk, `A key cannot be read: ${misspelt}.`);
      else if (hasEvenModulus(jwk))
        unfit.set(jwk, "A key has an even n, and the product of two primes is odd.");
      else
        await importPublicKey(publicMembers(jwk), alg).catch((error: Error) => unfit.set(jwk, error.message));
    }
    const reasons = [...new Set(unfit.values())].join(" ");
    this.#rule(
      "strength",
      reasons === "" ? "RSA of at least 2048 bit with e = 65537, EC on P-256, Ed25519" : reasons,
      (jwk) => unfit.has(jwk),
    );
    if (this.forSignatures.some(({ jwk }) => jwk.x5c !== undefined))
      this.#rule("certificate", "x5c, if there, begins with this key's own certificate", hasOtherCertificate);
  }

  #rule(
    rule: KeySetRule,
    detail: string,
    breaks: (jwk: JWK) => boolean,
    among: readonly NamedKey[] = this.forSignatures,
  ): void {
    const keys = among.filter(({ jwk }) => breaks(jwk)).map(({ name }) => name);
    this.#checks.push(
      keys.length === 0 ? { rule, outcome: "pass", detail } : { rule, outcome: "fail", detail, keys },
    );
  }

  /** What is said only where it is so of any key. */
  #remark(rule: KeySetRule, outcome: "note" | "warn", detail: string, of: readonly NamedKey[]): void {
    if (of.length > 0) this.#checks.push({ rule, outcome, detail, keys: of.map(({ name }) => name) });
  }
}

/** What two kids that are easily mistaken have in common. */
export function plainKid(kid: unknown): string | undefined {
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
