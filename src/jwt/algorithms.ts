// The one table of algorithms.
/** The algorithms a token may be signed with (specification 5.2, JWT method, step 2), in the order they are offered. */
export const ALGORITHMS = ["RS256", "ES256", "EdDSA"] as const;

/** RS256 (RSA, 2048 bit or more), ES256 (ECDSA on P-256) or EdDSA (Ed25519). */
export type Algorithm = (typeof ALGORITHMS)[number];

/**
 * What this library knows about an algorithm. Other files name only Ed25519: for points of low order (`key.ts`), and for
 * its name in RFC 9864.
 */
interface AlgorithmFacts {
  /** The `kty` of its keys as JWK. */
  readonly kty: "RSA" | "EC" | "OKP";
  /** The `crv` of its keys as JWK; RSA keys have none. */
  readonly crv?: "P-256" | "Ed25519";
  /** WebCrypto's parameters to generate or import a key. */
  readonly keyParameters:
    | {
        readonly name: string;
        readonly hash: string;
        readonly modulusLength: number;
        readonly publicExponent: ReturnType<typeof Uint8Array.of>;
      }
    | { readonly name: string; readonly namedCurve: string }
    | { readonly name: "Ed25519" };
  /** WebCrypto's parameters to sign or verify. */
  readonly signatureParameters: { readonly name: string; readonly hash?: string };
  /** Whether a signature can have this length in bytes. */
  isSignatureLength(length: number): boolean;
  /** Whether key services answer in DER, so that a signature of another length is worth converting. */
  readonly isOftenDer: boolean;
  /** Why a key of WebCrypto must not be used, as the end of the sentence "The key for RS256 ..."; or nothing. */
  unfitness(key: KeyParameters): string | undefined;
}

/** The members of `CryptoKey.algorithm` that decide whether a key is fit. */
interface KeyParameters {
  readonly name: string;
  readonly modulusLength?: number;
  readonly publicExponent?: Uint8Array;
  readonly hash?: { readonly name: string };
  readonly namedCurve?: string;
}

const MIN_RSA_BITS = 2048;

/** The one table of algorithms. To add one: a row here, its sentences in `core/errors.ts`, and vectors. */
export const ALGORITHM_FACTS: Readonly<Record<Algorithm, AlgorithmFacts>> = {
  RS256: {
    kty: "RSA",
    keyParameters: {
      name: "RSASSA-PKCS1-v1_5",
      hash: "SHA-256",
      modulusLength: MIN_RSA_BITS,
      publicExponent: /* @__PURE__ */ Uint8Array.of(1, 0, 1),
    },
    signatureParameters: { name: "RSASSA-PKCS1-v1_5" },
    isSignatureLength: (length) => length >= MIN_RSA_BITS / 8,
    isOftenDer: false,
    unfitness({ name, hash, modulusLength = 0, publicExponent }) {
      if (name !== "RSASSA-PKCS1-v1_5" || hash?.name !== "SHA-256")
        return `is ${name} ${hash?.name ?? ""}, not RSASSA-PKCS1-v1_5 with SHA-256`;
      if (modulusLength < MIN_RSA_BITS)
        return `has ${modulusLength} bit; at least ${MIN_RSA_BITS} are needed`;
      return publicExponent?.join() === "1,0,1" ? undefined : "has a public exponent other than 65537";
    },
  },
  ES256: {
    kty: "EC",
    crv: "P-256",
    keyParameters: { name: "ECDSA", namedCurve: "P-256" },
    signatureParameters: { name: "ECDSA", hash: "SHA-256" },
    isSignatureLength: (length) => length === 64,
    isOftenDer: true,
    unfitness: ({ name, namedCurve }) =>
      name === "ECDSA" && namedCurve === "P-256"
        ? undefined
        : `is ${name} ${namedCurve ?? ""}, not ECDSA on P-256`,
  },
  EdDSA: {
    kty: "OKP",
    crv: "Ed25519",
    keyParameters: { name: "Ed25519" },
    signatureParameters: { name: "Ed25519" },
    isSignatureLength: (length) => length === 64,
    isOftenDer: false,
    unfitness: ({ name }) => (name === "Ed25519" ? undefined : `is of the kind ${name}, not Ed25519`),
  },
};

/** The kinds of key in words, for messages. */
export const KINDS_OF_KEY = "RSA, EC on P-256 or Ed25519";

/** Whether a value names one of the three algorithms, in its exact spelling. */
export function isAlgorithm(value: unknown): value is Algorithm {
  return (ALGORITHMS as readonly unknown[]).includes(value);
}

/** Refuses a value that is not one of the three algorithms. */
export function checkAlgorithm(alg: unknown): void {
  if (!isAlgorithm(alg)) throw new TypeError(`alg must be one of ${ALGORITHMS.join(", ")}`);
}

/** The only algorithm that a JWK's kind and curve allow; nothing for another kind. */
export function algorithmOf({ kty, crv }: { kty?: unknown; crv?: unknown }): Algorithm | undefined {
  return ALGORITHMS.find((alg) => {
    const facts = ALGORITHM_FACTS[alg];
    return facts.kty === kty && (facts.crv === undefined || facts.crv === crv);
  });
}
