// Probes about a token's form, header and key.
import { hmacSha256 } from "#hash";
import { decodeBase64url, utf8 } from "../../../core/bytes.js";
import { AUTHORIZATION_HEADER } from "../../../core/headers.js";
import { MAX_TOKEN_LENGTH } from "../../../core/protocol.js";
import { SIGNATURE_HEADER } from "../../../schemes/access-governance/protocol.js";
import { accepts, type ProbeDefinition, refuses } from "../probe.js";
import {
  added,
  padded,
  partsOf,
  pemOf,
  requestOf,
  type SignBytes,
  type TokenChanges,
  type TokenKit,
  withTrailingBit,
} from "../requests.js";

const COMPACT = "Accept exactly three segments of base64url without padding, and nothing around them.";
const FIXED_ALGORITHMS =
  "Accept RS256, ES256 and EdDSA only, in this spelling, and only the alg that the key set gives for the key.";
const OWN_KEYS =
  "Look the key up by kid in the configured key set only; refuse tokens that contain or name a key.";
const MALFORMED = {
  means: "The listener accepts a text that is not a token, or its parser fails with an error.",
  fix: COMPACT,
};
const MORE_THAN_BEARER = "The listener accepts more than Bearer and one token.";
const ONE_BEARER = "Accept one Authorization line only: Bearer, a space, one token.";

/** A request whose `Authorization` is made from a correct token. */
function authorization(
  id: string,
  title: string,
  spell: (token: string) => string,
  more: Partial<ProbeDefinition<TokenKit>> = {},
): ProbeDefinition<TokenKit> {
  return refuses<TokenKit>(401, {
    id,
    title,
    section: "5.2",
    means: MORE_THAN_BEARER,
    fix: ONE_BEARER,
    build: async (kit) => kit.withAuthorization(spell(await kit.token())),
    ...more,
  });
}

/** A token that is signed by the listener's own key and has another header. */
function header(
  id: string,
  title: string,
  change: (kit: TokenKit) => TokenChanges["header"],
  words: Pick<ProbeDefinition, "means" | "fix"> & Partial<ProbeDefinition<TokenKit>>,
): ProbeDefinition<TokenKit> {
  return refuses<TokenKit>(401, {
    id,
    title,
    section: "7",
    build: (kit) => kit.withToken({ header: change(kit) ?? {} }),
    ...words,
  });
}

const NO_SIGNATURE: SignBytes = async () => new Uint8Array();

/** Signs as HS256 with any text as the secret. */
function hs256(secret: string): SignBytes {
  return async (bytes) => decodeBase64url(hmacSha256(secret)("", bytes)) ?? new Uint8Array();
}

async function publicPem(kit: TokenKit): Promise<string | undefined> {
  const jwk = await kit.publicJwk();
  return jwk && pemOf(jwk, kit.alg);
}

const UNSIGNED = {
  means: "Anybody can make a token that is accepted.",
  fix: FIXED_ALGORITHMS,
};
const CONFUSED = {
  means: "The public key is used as an HMAC secret, and everybody knows public keys.",
  fix: FIXED_ALGORITHMS,
};
const NO_KEY_ID = { means: "A token without a valid kid is verified with some key.", fix: OWN_KEYS };
const BRINGS_KEY = {
  means: "A token is verified with a key that the token itself contains or names.",
  fix: OWN_KEYS,
};

/** Probes about the token's form, its header and the key it is verified with. */
export const TOKEN_PROBES: readonly ProbeDefinition<TokenKit>[] = [
  accepts<TokenKit>({
    id: "authorization-lower-case",
    title: "bearer in lower case",
    section: "5.2",
    listenerChoice: "refusal",
    decision: "RFC 9110 section 11.1",
    means: "The scheme of Authorization is case-insensitive.",
    fix: "Compare Bearer case-insensitively.",
    build: async (kit) => kit.withAuthorization(`bearer ${await kit.token()}`),
  }),
  authorization("authorization-empty", "an empty Authorization", () => ""),
  authorization("authorization-without-token", "Bearer without a token", () => "Bearer "),
  authorization("authorization-without-scheme", "the token without Bearer", (token) => token),
  authorization("authorization-basic", "the token after Basic", (token) => `Basic ${token}`),
  authorization("authorization-two-tokens", "Bearer and two tokens", (token) => `Bearer ${token} ${token}`),
  refuses<TokenKit>(401, {
    id: "authorization-sent-twice",
    title: "Authorization twice, the correct one first",
    section: "5.2",
    listenerChoice: "refusal",
    decision: "R6",
    means: "A proxy and the listener may read different lines.",
    fix: ONE_BEARER,
    build: async (kit) => added(await kit.signed(), AUTHORIZATION_HEADER, "Bearer e30.e30.AAAA"),
  }),
  refuses<TokenKit>(401, {
    id: "token-in-signature-header",
    title: "the token in Webhook-Signature",
    section: "5.2",
    means: MORE_THAN_BEARER,
    fix: ONE_BEARER,
    build: async (kit) => requestOf(partsOf(kit), [SIGNATURE_HEADER, await kit.token()]),
  }),
  authorization("token-garbage", "a token that is a word", () => "Bearer token", MALFORMED),
  authorization(
    "token-not-ascii",
    "a token of characters beyond ASCII",
    () => `Bearer ${"\u00e9".repeat(40)}`,
    MALFORMED,
  ),
  authorization(
    "token-two-segments",
    "a token without its signature",
    (token) => `Bearer ${token.split(".", 2).join(".")}`,
    MALFORMED,
  ),
  authorization(
    "token-five-segments",
    "a token with two segments more",
    (token) => `Bearer ${token}.e30.e30`,
    MALFORMED,
  ),
  authorization(
    "token-empty-signature",
    "a token whose third segment is empty",
    (token) => `Bearer ${token.replace(/[^.]+$/, "")}`,
    MALFORMED,
  ),
  refuses<TokenKit>(401, {
    id: "token-padded",
    title: "a token whose segments are padded",
    section: "5.2",
    fix: COMPACT,
    means:
      "The listener accepts several spellings of one token (RFC 7515 section 2: base64url without padding).",
    build(kit) {
      const json = JSON.stringify({ alg: kit.alg, kid: kit.kid, typ: "JWT" });
      // Spaces bring the header to a length that padding belongs to.
      const header = json + " ".repeat((4 - (utf8(json).length % 3)) % 3);
      return kit.withToken({ header, spell: padded });
    },
  }),
  authorization(
    "token-trailing-bits",
    "a token whose signature has unused bits set",
    (token) => `Bearer ${withTrailingBit(token)}`,
    {
      fix: COMPACT,
      listenerChoice: "refusal",
      decision: "T1, RFC 4648 section 3.5",
      means: "The listener accepts several spellings of one token.",
    },
  ),
  refuses<TokenKit>(401, {
    id: "token-9-kb",
    title: "a correct token of more than 8 KiB",
    section: "5.2",
    listenerChoice: "refusal",
    decision: "T1",
    means: "Anybody can make the listener decode large tokens before it verifies anything.",
    fix: "Refuse tokens of more than 8,192 characters before they are decoded.",
    build: (kit) => kit.withToken({ claims: { filler: "a".repeat(MAX_TOKEN_LENGTH) } }),
  }),
  refuses<TokenKit>(401, {
    id: "token-of-other-key",
    title: "a token with the right kid, signed by another key",
    section: "7",
    means: "Signatures are not verified: anybody can run the automation.",
    fix: "Verify the signature with the key that kid names.",
    build: (kit) => kit.signedWithWrongKey(),
  }),
  refuses<TokenKit>(401, {
    id: "alg-none",
    title: "a token with alg none and no signature",
    section: "7",
    ...UNSIGNED,
    build: (kit) => kit.withToken({ header: { alg: "none" }, sign: NO_SIGNATURE }),
  }),
  refuses<TokenKit>(401, {
    id: "alg-none-other-case",
    title: "a token with alg nOnE and no signature",
    section: "7",
    ...UNSIGNED,
    build: (kit) => kit.withToken({ header: { alg: "nOnE" }, sign: NO_SIGNATURE }),
  }),
  refuses<TokenKit>(401, {
    id: "alg-none-without-kid",
    title: "a token with alg none, no kid and no signature",
    section: "7",
    ...UNSIGNED,
    build: (kit) => kit.withToken({ header: { alg: "none", kid: undefined }, sign: NO_SIGNATURE }),
  }),
  refuses<TokenKit>(401, {
    id: "alg-hs256-public-pem",
    title: "a token with HS256 and the public key's PEM as secret",
    section: "7",
    ...CONFUSED,
    async build(kit) {
      const pem = await publicPem(kit);
      return pem
        ? kit.withToken({ header: { alg: "HS256" }, sign: hs256(pem) })
        : { skip: "the public key is not known" };
    },
  }),
  refuses<TokenKit>(401, {
    id: "alg-hs256-public-jwk",
    title: "a token with HS256 and the public JWK's key material as secret",
    section: "7",
    ...CONFUSED,
    async build(kit) {
      const jwk = await kit.publicJwk();
      const material = jwk?.n ?? jwk?.x;
      return material
        ? kit.withToken({ header: { alg: "HS256" }, sign: hs256(material) })
        : { skip: "the public key is not known" };
    },
  }),
  refuses<TokenKit>(401, {
    id: "alg-hs256-empty-secret",
    title: "a token with HS256 and an empty secret",
    section: "7",
    ...CONFUSED,
    build: (kit) => kit.withToken({ header: { alg: "HS256" }, sign: hs256("") }),
  }),
  header("alg-missing", "a token without alg", () => ({ alg: undefined }), UNSIGNED),
  header("alg-lower-case", "a token whose alg is in lower case", ({ alg }) => ({ alg: alg.toLowerCase() }), {
    means: "Names of algorithms are case-sensitive (RFC 7515 section 4.1.1).",
    fix: FIXED_ALGORITHMS,
  }),
  header(
    "alg-of-another-key",
    "a token whose alg is not that of its key",
    ({ alg }) => ({ alg: alg === "ES256" ? "EdDSA" : "ES256" }),
    {
      means: "The token decides how it is verified, and not the key.",
      fix: FIXED_ALGORITHMS,
    },
  ),
  refuses<TokenKit>(401, {
    id: "alg-ed25519",
    title: "a token with alg Ed25519",
    section: "7",
    listenerChoice: "refusal",
    decision: "T2",
    means: "RFC 9864 names it; the specification knows EdDSA only.",
    fix: FIXED_ALGORITHMS,
    build: (kit) =>
      kit.alg === "EdDSA"
        ? kit.withToken({ header: { alg: "Ed25519" } })
        : { skip: "the key is not an Ed25519 key" },
  }),
  header("kid-missing", "a token without kid", () => ({ kid: undefined }), NO_KEY_ID),
  header("kid-empty", "a token with an empty kid", () => ({ kid: "" }), NO_KEY_ID),
  header(
    "kid-unknown",
    "a token with a kid that is not in the key set",
    () => ({ kid: "probe-unknown" }),
    NO_KEY_ID,
  ),
  header("kid-a-number", "a token whose kid is a number", () => ({ kid: 1 }), NO_KEY_ID),
  header("kid-path", "a token whose kid is a path", () => ({ kid: "../../../../dev/null" }), NO_KEY_ID),
  header("kid-prototype", "a token whose kid is __proto__", () => ({ kid: "__proto__" }), NO_KEY_ID),
  header("kid-5-kb", "a token whose kid has 5,000 characters", () => ({ kid: "k".repeat(5000) }), NO_KEY_ID),
  refuses<TokenKit>(401, {
    id: "header-jwk",
    title: "a token with a key of its own in jwk, signed by it",
    section: "7",
    ...BRINGS_KEY,
    async build(kit) {
      // Of the listener's own algorithm, which it may compare first.
      const key = await kit.unknownKey(kit.alg);
      return kit.withToken({ header: { jwk: await key.publicJwk() }, sign: key.sign });
    },
  }),
  refuses<TokenKit>(401, {
    id: "header-jku",
    title: "a token with a key set of its own in jku, signed by it",
    section: "7",
    ...BRINGS_KEY,
    async build(kit) {
      const key = await kit.unknownKey(kit.alg);
      const jwk = { ...(await key.publicJwk()), use: "sig", alg: kit.alg, kid: kit.kid };
      // A data: URL is fetched like any other, and needs no host.
      const jku = `data:application/json,${encodeURIComponent(JSON.stringify({ keys: [jwk] }))}`;
      return kit.withToken({ header: { jku }, sign: key.sign });
    },
  }),
  header("header-x5u", "a correct token with x5u", () => ({ x5u: "https://localhost/" }), {
    ...BRINGS_KEY,
    listenerChoice: "refusal",
    decision: "T2",
  }),
  header("header-x5c", "a correct token with x5c", () => ({ x5c: ["AAAA"] }), {
    ...BRINGS_KEY,
    listenerChoice: "refusal",
    decision: "T2",
  }),
  header(
    "header-crit-unknown",
    "a token with an unknown extension in crit",
    () => ({ crit: ["probe"], probe: true }),
    {
      means: "What is critical must be understood or refused (RFC 7515 section 4.1.11).",
      fix: "Refuse every token with crit.",
    },
  ),
  header("header-crit-empty", "a token with an empty crit", () => ({ crit: [] }), {
    means: "An empty crit is not allowed (RFC 7515 section 4.1.11).",
    fix: "Refuse every token with crit.",
  }),
  header("header-b64-false", "a token with b64 false", () => ({ b64: false, crit: ["b64"] }), {
    means: "A JWT must not use b64 (RFC 7797 section 7).",
    fix: "Refuse every token with b64 or crit.",
  }),
  header(
    "header-duplicate-member",
    "a token whose header has alg twice, the right one last",
    ({ alg, kid }) => `{"alg":"none","alg":"${alg}","kid":${JSON.stringify(kid)}}`,
    {
      listenerChoice: "refusal",
      decision: "T1",
      means: "Two parsers read two algorithms.",
      fix: "Refuse a header that has a member twice.",
    },
  ),
  header("header-not-an-object", "a token whose header is an array", () => "[]", {
    means: "The header is not checked, or the check fails with an error.",
    fix: "Accept a header only if it is a JSON object; answer 401 to any other.",
  }),
  header("header-not-json", "a token whose header is not JSON", () => "{alg", {
    means: "The header is not checked, or the check fails with an error.",
    fix: "Accept a header only if it is a JSON object; answer 401 to any other.",
  }),
];
