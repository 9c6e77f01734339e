import type { Mutant } from "./mutant.js";
import {
  CORRECT_TOKENS,
  decoded,
  isHs256,
  isSignedBy,
  publicKeyOf,
  type TokenChecks,
} from "./reference-tokens.js";

type Claims = TokenChecks["claims"];

/** Correct claims, one of them replaced. */
const claims = (over: Claims) => ({ claims: { ...CORRECT_TOKENS.claims, ...over } });
const ignoring = (name: string) => claims({ [name]: () => true });

export const JWT_MUTANTS: readonly Mutant<Partial<TokenChecks>>[] = [
  {
    name: "takes alg none",
    flaw: {
      isSigned: (parts, own) => parts.header.alg === "none" || CORRECT_TOKENS.isSigned(parts, own),
    },
    fails: ["alg-none", "alg-none-without-kid"],
  },
  {
    name: "takes HS256 with the public key",
    flaw: {
      isSigned: (parts, own) =>
        parts.header.alg === "HS256"
          ? isHs256(own.publicKey.export({ type: "spki", format: "pem" }).toString(), parts)
          : CORRECT_TOKENS.isSigned(parts, own),
    },
    fails: ["alg-hs256-public-pem"],
  },
  {
    name: "does not verify signatures",
    flaw: { isSigned: () => true },
    fails: [
      "event-id-processed-bad-proof",
      "token-empty-signature",
      "token-of-other-key",
      "alg-none",
      "alg-none-other-case",
      "alg-none-without-kid",
      "alg-hs256-public-pem",
      "alg-hs256-public-jwk",
      "alg-hs256-empty-secret",
      "alg-missing",
      "alg-lower-case",
      "alg-of-another-key",
      "kid-missing",
      "kid-empty",
      "kid-unknown",
      "kid-a-number",
      "kid-path",
      "kid-prototype",
      "kid-5-kb",
    ],
    unclear: ["body-not-json-bad-proof"],
  },
  {
    name: "does not look at the kid",
    flaw: {
      isSigned: ({ header, input, signature }, { publicKey }) =>
        header.alg === "ES256" && isSignedBy(publicKey, input, signature),
    },
    fails: [
      "kid-missing",
      "kid-empty",
      "kid-unknown",
      "kid-a-number",
      "kid-path",
      "kid-prototype",
      "kid-5-kb",
    ],
  },
  {
    name: "does not look at the alg",
    flaw: {
      isSigned: ({ header, input, signature }, { kid, publicKey }) =>
        header.kid === kid && isSignedBy(publicKey, input, signature),
    },
    fails: ["alg-missing", "alg-lower-case", "alg-of-another-key"],
  },
  {
    name: "trusts the key in jwk",
    flaw: {
      refusedMembers: ["crit", "b64", "jku", "x5u", "x5c"],
      isSigned: (parts, own) =>
        parts.header.jwk
          ? isSignedBy(publicKeyOf(parts.header.jwk), parts.input, parts.signature)
          : CORRECT_TOKENS.isSigned(parts, own),
    },
    fails: ["header-jwk"],
  },
  {
    name: "follows jku",
    flaw: {
      refusedMembers: ["crit", "b64", "jwk", "x5u", "x5c"],
      async isSigned(parts, own) {
        const { jku, kid } = parts.header;
        if (typeof jku !== "string") return CORRECT_TOKENS.isSigned(parts, own);
        const { keys } = (await (await fetch(jku)).json()) as { keys: { kid: string }[] };
        const key = keys.find((one) => one.kid === kid);
        return key !== undefined && isSignedBy(publicKeyOf(key), parts.input, parts.signature);
      },
    },
    fails: ["header-jku"],
  },
  {
    name: "ignores crit",
    flaw: { refusedMembers: ["b64", "jwk", "jku", "x5u", "x5c"] },
    fails: ["header-crit-unknown", "header-crit-empty"],
  },
  {
    name: "ignores sub",
    flaw: ignoring("sub"),
    fails: ["sub-missing", "sub-other-tenant", "sub-trailing-slash"],
  },
  {
    name: "ignores aud",
    flaw: ignoring("aud"),
    fails: ["aud-missing", "aud-other-listener", "aud-base-url", "aud-other-host", "aud-prefix"],
    unclear: ["aud-array"],
  },
  {
    name: "ignores exp",
    flaw: ignoring("exp"),
    fails: [
      "exp-missing",
      "exp-an-hour-ago",
      "exp-now",
      "exp-601-s-ahead",
      "exp-an-hour-ahead",
      "exp-a-text",
      "exp-infinite",
      "exp-null",
    ],
  },
  {
    name: "allows any life",
    flaw: claims({ exp: (exp, { now }) => Number.isSafeInteger(exp) && (exp as number) > now }),
    fails: ["exp-601-s-ahead", "exp-an-hour-ahead"],
  },
  {
    name: "ignores jti",
    flaw: ignoring("jti"),
    fails: ["event-id-changed", "jti-missing", "jti-other", "jti-an-array"],
  },
  { name: "ignores htm", flaw: ignoring("htm"), fails: ["htm-missing", "htm-get", "htm-lower-case"] },
  {
    name: "compares htm without case",
    flaw: claims({ htm: (htm) => typeof htm === "string" && htm.toUpperCase() === "POST" }),
    fails: ["htm-lower-case"],
  },
  {
    name: "ignores htb_s256",
    flaw: ignoring("htb_s256"),
    fails: [
      "body-changed",
      "body-reserialised",
      "body-newline-added",
      "htb-s256-missing",
      "htb-s256-other-body",
      "htb-s256-padded",
      "htb-s256-hex",
      "htb-s256-empty",
    ],
  },
  {
    name: "checks htb_s256 where it is there",
    flaw: claims({
      htb_s256: (hash, expected) =>
        hash === undefined || CORRECT_TOKENS.claims.htb_s256?.(hash, expected) === true,
    }),
    fails: ["htb-s256-missing"],
  },
  {
    name: "takes any scheme",
    flaw: { tokenOf: (authorization) => authorization.split(" ").pop() },
    fails: ["authorization-without-scheme", "authorization-basic", "authorization-two-tokens"],
  },
  {
    name: "takes any base64",
    flaw: { partsOf: (token) => (token.split(".").length === 3 ? decoded(token.split(".")) : undefined) },
    fails: ["token-padded"],
    unclear: ["token-trailing-bits", "token-9-kb"],
  },
  {
    name: "breaks on headers that are not JSON",
    flaw: {
      partsOf(token) {
        try {
          return CORRECT_TOKENS.partsOf(token);
        } catch {
          throw new TypeError("a header that is not JSON");
        }
      },
    },
    fails: ["header-not-json", "claims-not-json"],
  },
];
