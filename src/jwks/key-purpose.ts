// Says what a published key is for, where that is not to verify tokens of the service.
import { shown } from "../core/shown.js";
import { ALGORITHM_FACTS, ALGORITHMS, algorithmOf, isAlgorithm } from "../jwt/algorithms.js";

type Key = Readonly<Record<string, unknown>>;

const KINDS: readonly string[] = ALGORITHMS.map((alg) => ALGORITHM_FACTS[alg].kty);

/** What `use` is written as by those who mean `sig`. */
const MEANT_AS_SIG = /^(?:sig|sign|signing|signature|verify|verification)$/i;

/** Operations of RFC 7517, 4.3 that are not of signatures. */
const OTHER_OPERATIONS = ["encrypt", "decrypt", "wrapKey", "unwrapKey", "deriveKey", "deriveBits"];

/** EdDSA has a second curve, which tokens of the service do not use (RFC 8037, 2). */
const OTHER_EDDSA_CURVE = "Ed448";

/** Names that a key for signatures has by mistake: of a kind of key, of no algorithm, or of another library's. */
const NO_ALGORITHM = /^(?:none|HS[0-9]{3}|RSA|EC|OKP|ECDSA|RSASSA.*|SHA-?[0-9]{1,3}(?:with.*)?)$/i;

/**
 * The member of a key that makes it one for another purpose, such as `use "enc"` or `kty "AKP"`; `undefined` for a key
 * that is meant for tokens of the service, be it right or wrong. RFC 7517, 5 has readers ignore keys they have no use for.
 */
export function otherPurpose(jwk: Key): string | undefined {
  const { kty, use, alg, crv, key_ops: operations } = jwk;
  // A symmetric key has no business in a public set, whatever it is for.
  if (typeof kty !== "string" || kty === "oct") return undefined;
  // With the members of a kind that is known, another name of it was meant.
  if (!isSpelling(kty, KINDS)) return "n" in jwk || "crv" in jwk ? undefined : `kty ${shown(kty)}`;
  if (typeof use === "string" && !MEANT_AS_SIG.test(use)) return `use ${shown(use)}`;
  if (typeof alg === "string" && !isSpelling(alg, ALGORITHMS) && !NO_ALGORITHM.test(alg))
    return `alg ${shown(alg)}`;
  const isOtherCurve = isAlgorithm(alg) ? crv === OTHER_EDDSA_CURVE : algorithmOf(jwk) === undefined;
  if (KINDS.includes(kty) && typeof crv === "string" && isOtherCurve) return `crv ${shown(crv)}`;
  const isOtherOperation = Array.isArray(operations) && !operations.includes("verify");
  return isOtherOperation && operations.some((one) => OTHER_OPERATIONS.includes(one as string))
    ? `key_ops ${shown(operations)}`
    : undefined;
}

/** Whether a text is one of the names but for case and punctuation, so that the name was meant. */
function isSpelling(text: string, names: readonly string[]): boolean {
  return names.some((name) => plain(name) === plain(text));
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]/g, "");
}
