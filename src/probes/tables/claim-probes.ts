import { sha256Base64url } from "#hash";
import { decodeBase64url } from "../primitives/base64url.js";
import { bodyBytes, utf8 } from "../primitives/bytes.js";
import { newEventId } from "../protocol/event-id.js";
import { listenerUrl } from "../protocol/listener-url.js";
import { partsOf } from "./craft.js";
import type { JwtCraft, TokenChanges } from "./jwt-craft.js";
import { accepts, type Recipe, refuses } from "./recipe.js";
import { hexOf, padded } from "./spelling.js";

/** What goes wrong where a claim is not checked, and what to check. */
const CLAIMS = {
  sub: {
    means: "A token for another tenant is accepted.",
    fix: "Compare sub with the configured base URL, without a trailing slash.",
  },
  aud: {
    means: "A token for another listener or service is accepted.",
    fix: "Compare aud with the listener's whole URL from configuration, never from the Host header.",
  },
  exp: {
    means: "Tokens live longer than 10 minutes, or for ever.",
    fix: "Take exp only if it is a whole number with now < exp <= now + 600.",
  },
  jti: {
    means: "A token can be sent again under any number of event ids.",
    fix: "Compare jti with Webhook-Event-Id.",
  },
  htm: { means: "A token for another method is accepted.", fix: "Compare htm with POST, in capitals." },
  htb_s256: {
    means: "A token can be sent with any body.",
    fix: "Compare htb_s256 with the SHA-256 of the body's bytes, as base64url without padding.",
  },
} as const;

type ClaimName = keyof typeof CLAIMS;

/** A token whose claim is not what it should be, signed by the listener's own key. */
function claim(
  name: ClaimName,
  what: string,
  title: string,
  change: (craft: JwtCraft) => TokenChanges["claims"],
  more: Partial<Recipe<JwtCraft>> = {},
): Recipe<JwtCraft> {
  return refuses<JwtCraft>(401, {
    id: `${name.replace("_", "-")}-${what}`,
    title,
    section: "5.2",
    ...CLAIMS[name],
    build: (craft) => craft.withToken({ claims: change(craft) ?? {} }),
    ...more,
  });
}

function missing(name: ClaimName): Recipe<JwtCraft> {
  return claim(name, "missing", `a token without ${name}`, () => ({ [name]: undefined }), { section: "7" });
}

/** Members as raw JSON, for values that JSON.stringify cannot write. */
async function withRawExp(craft: JwtCraft, exp: string) {
  const [, claims = ""] = (await craft.token({ claims: { exp: "RAW" } })).split(".");
  const json = new TextDecoder().decode(decodeBase64url(claims));
  return craft.withToken({ claims: json.replace('"RAW"', exp) });
}

function bodyHash(craft: JwtCraft): string {
  return sha256Base64url(bodyBytes(partsOf(craft).body));
}

/** Probes about the claims that bind a token to one request. */
export const CLAIM_PROBES: readonly Recipe<JwtCraft>[] = [
  accepts<JwtCraft>({
    id: "exp-600-s-ahead",
    title: "a token that expires in exactly 600 s",
    section: "5.2",
    boundary: true,
    means: "Tokens of the longest life that is allowed are refused.",
    fix: CLAIMS.exp.fix,
    build: (craft) => craft.withToken({ claims: { exp: craft.nowSeconds + 600 } }),
  }),
  missing("sub"),
  missing("aud"),
  missing("exp"),
  missing("jti"),
  missing("htm"),
  missing("htb_s256"),
  claim("sub", "other-tenant", "a token whose sub is another tenant", () => ({
    sub: "https://other.example.com",
  })),
  claim("sub", "trailing-slash", "a token whose sub ends in a slash", ({ baseUrl }) => ({
    sub: `${baseUrl}/`,
  })),
  claim("aud", "other-listener", "a token whose aud is another listener", ({ baseUrl }) => ({
    aud: listenerUrl(baseUrl, "lst_other"),
  })),
  claim("aud", "base-url", "a token whose aud is the base URL", ({ baseUrl }) => ({ aud: baseUrl })),
  claim("aud", "other-host", "a token whose aud is the same path on another host", ({ url }) => ({
    aud: `https://other.example.com${new URL(url).pathname}`,
  })),
  claim("aud", "prefix", "a token whose aud begins with the listener's URL", ({ url }) => ({
    aud: `${url}/more`,
  })),
  claim(
    "aud",
    "array",
    "a token whose aud is an array with the listener's URL",
    ({ url }) => ({ aud: [url] }),
    {
      leftOpen: "refusal",
      decision: "T4",
      means: "RFC 7519 allows an array; the service takes one text, so that a token is for one listener.",
    },
  ),
  claim(
    "exp",
    "an-hour-ago",
    "a token that expired an hour ago",
    ({ nowSeconds }) => ({ exp: nowSeconds - 3600 }),
    {
      section: "7",
      means: "Expired tokens are accepted.",
    },
  ),
  claim("exp", "now", "a token that expires now", ({ nowSeconds }) => ({ exp: nowSeconds }), {
    means: "A token is accepted on or after its expiry (RFC 7519 section 4.1.4).",
    boundary: true,
  }),
  claim(
    "exp",
    "601-s-ahead",
    "a token that expires in 601 s",
    ({ nowSeconds }) => ({ exp: nowSeconds + 601 }),
    {
      boundary: true,
    },
  ),
  claim("exp", "an-hour-ahead", "a token that expires in an hour", ({ nowSeconds }) => ({
    exp: nowSeconds + 3600,
  })),
  claim(
    "exp",
    "a-text",
    "a token whose exp is a text",
    ({ nowSeconds }) => ({ exp: String(nowSeconds + 300) }),
    {
      means: "A claim of another type is accepted, or breaks the comparison.",
    },
  ),
  refuses<JwtCraft>(401, {
    id: "exp-infinite",
    title: "a token whose exp is 1e999",
    section: "5.2",
    means: "A number without end is never past.",
    fix: CLAIMS.exp.fix,
    build: (craft) => withRawExp(craft, "1e999"),
  }),
  claim("exp", "null", "a token whose exp is null", () => ({ exp: null })),
  refuses<JwtCraft>(401, {
    id: "nbf-in-an-hour",
    title: "a token with nbf in an hour",
    section: "5.2",
    leftOpen: "refusal",
    decision: "T4",
    means: "A token is accepted before it is valid (RFC 7519 section 4.1.5).",
    fix: "Where nbf is present, take it only if it is a number that is not in the future.",
    build: (craft) => craft.withToken({ claims: { nbf: craft.nowSeconds + 3600 } }),
  }),
  claim("jti", "other", "a token whose jti is another id", () => ({ jti: newEventId() })),
  claim("jti", "an-array", "a token whose jti is an array with the event id", ({ eventId }) => ({
    jti: [eventId],
  })),
  claim("htm", "get", "a token whose htm is GET", () => ({ htm: "GET" })),
  claim("htm", "lower-case", "a token whose htm is post", () => ({ htm: "post" }), {
    means: "Methods have a case (RFC 9110 section 9.1).",
  }),
  claim("htb_s256", "other-body", "a token with the hash of another body", () => ({
    htb_s256: sha256Base64url(utf8("{}")),
  })),
  claim("htb_s256", "padded", "a token whose htb_s256 is padded", (craft) => ({
    htb_s256: padded(bodyHash(craft)),
  })),
  claim("htb_s256", "hex", "a token whose htb_s256 is in hexadecimal", (craft) => ({
    htb_s256: hexOf(bodyHash(craft)),
  })),
  claim("htb_s256", "empty", "a token whose htb_s256 is empty", () => ({ htb_s256: "" })),
  refuses<JwtCraft>(401, {
    id: "claims-duplicate-member",
    title: "a token in whose claims exp stands twice, the right one last",
    section: "5.2",
    leftOpen: "refusal",
    decision: "T1",
    means: "Two parsers read two values.",
    fix: "Refuse claims in which a member stands twice.",
    build: (craft) => withRawExp(craft, `1,"exp":${craft.nowSeconds + 300}`),
  }),
  refuses<JwtCraft>(401, {
    id: "claims-not-an-object",
    title: "a token whose claims are an array",
    section: "7",
    means: "Claims are not checked, or break the check.",
    fix: "Take claims that are a JSON object; answer 401 to any other.",
    build: (craft) => craft.withToken({ claims: "[]" }),
  }),
  refuses<JwtCraft>(401, {
    id: "claims-not-json",
    title: "a token whose claims are not JSON",
    section: "7",
    means: "Claims are not checked, or break the check.",
    fix: "Take claims that are a JSON object; answer 401 to any other.",
    build: (craft) => craft.withToken({ claims: "{sub" }),
  }),
];
