// Probes about the claims of tokens.
import { sha256Base64url } from "#hash";
import { bodyBytes, decodeBase64url, utf8 } from "../../../core/bytes.js";
import { newEventId } from "../../../core/event.js";
import { listenerUrl } from "../../../schemes/access-governance/listener-url.js";
import { accepts, type ProbeDefinition, refuses } from "../probe.js";
import { hexOf, padded, partsOf, type TokenChanges, type TokenKit } from "../requests.js";

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
    means: "Tokens are valid for longer than 10 minutes, or for ever.",
    fix: "Accept exp only if it is a whole number with now < exp <= now + 600.",
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
  change: (kit: TokenKit) => TokenChanges["claims"],
  more: Partial<ProbeDefinition<TokenKit>> = {},
): ProbeDefinition<TokenKit> {
  return refuses<TokenKit>(401, {
    id: `${name.replace("_", "-")}-${what}`,
    title,
    section: "5.2",
    ...CLAIMS[name],
    build: (kit) => kit.withToken({ claims: change(kit) ?? {} }),
    ...more,
  });
}

function missing(name: ClaimName): ProbeDefinition<TokenKit> {
  return claim(name, "missing", `a token without ${name}`, () => ({ [name]: undefined }), { section: "7" });
}

/** Members as raw JSON, for values that JSON.stringify cannot write. */
async function withRawExp(kit: TokenKit, exp: string) {
  const [, claims = ""] = (await kit.token({ claims: { exp: "RAW" } })).split(".");
  const json = new TextDecoder().decode(decodeBase64url(claims));
  return kit.withToken({ claims: json.replace('"RAW"', exp) });
}

function bodyHash(kit: TokenKit): string {
  return sha256Base64url(bodyBytes(partsOf(kit).body));
}

/** Probes about the claims that bind a token to one request. */
export const CLAIM_PROBES: readonly ProbeDefinition<TokenKit>[] = [
  accepts<TokenKit>({
    id: "exp-600-s-ahead",
    title: "a token that expires in exactly 600 s",
    section: "5.2",
    boundary: true,
    means: "Tokens with the longest lifetime that is allowed are refused.",
    fix: CLAIMS.exp.fix,
    build: (kit) => kit.withToken({ claims: { exp: kit.nowSeconds + 600 } }),
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
      listenerChoice: "refusal",
      decision: "T4",
      means:
        "RFC 7519 allows an array; the service accepts one text only, so that a token is for one listener.",
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
      means: "A claim of another type is accepted, or the comparison fails with an error.",
    },
  ),
  refuses<TokenKit>(401, {
    id: "exp-infinite",
    title: "a token whose exp is 1e999",
    section: "5.2",
    means: "An infinite number is never in the past.",
    fix: CLAIMS.exp.fix,
    build: (kit) => withRawExp(kit, "1e999"),
  }),
  claim("exp", "null", "a token whose exp is null", () => ({ exp: null })),
  refuses<TokenKit>(401, {
    id: "nbf-in-an-hour",
    title: "a token with nbf in an hour",
    section: "5.2",
    listenerChoice: "refusal",
    decision: "T4",
    means: "A token is accepted before it is valid (RFC 7519 section 4.1.5).",
    fix: "If there is an nbf, accept it only if it is a number that is not in the future.",
    build: (kit) => kit.withToken({ claims: { nbf: kit.nowSeconds + 3600 } }),
  }),
  claim("jti", "other", "a token whose jti is another id", () => ({ jti: newEventId() })),
  claim("jti", "an-array", "a token whose jti is an array with the event id", ({ eventId }) => ({
    jti: [eventId],
  })),
  claim("htm", "get", "a token whose htm is GET", () => ({ htm: "GET" })),
  claim("htm", "lower-case", "a token whose htm is post", () => ({ htm: "post" }), {
    means: "Methods are case-sensitive (RFC 9110 section 9.1).",
  }),
  claim("htb_s256", "other-body", "a token with the hash of another body", () => ({
    htb_s256: sha256Base64url(utf8("{}")),
  })),
  claim("htb_s256", "padded", "a token whose htb_s256 is padded", (kit) => ({
    htb_s256: padded(bodyHash(kit)),
  })),
  claim("htb_s256", "hex", "a token whose htb_s256 is in hexadecimal", (kit) => ({
    htb_s256: hexOf(bodyHash(kit)),
  })),
  claim("htb_s256", "empty", "a token whose htb_s256 is empty", () => ({ htb_s256: "" })),
  refuses<TokenKit>(401, {
    id: "claims-duplicate-member",
    title: "a token with exp twice in its claims, the right one last",
    section: "5.2",
    listenerChoice: "refusal",
    decision: "T1",
    means: "Two parsers read two values.",
    fix: "Refuse claims that have a member twice.",
    build: (kit) => withRawExp(kit, `1,"exp":${kit.nowSeconds + 300}`),
  }),
  refuses<TokenKit>(401, {
    id: "claims-not-an-object",
    title: "a token whose claims are an array",
    section: "7",
    means: "Claims are not checked, or the check fails with an error.",
    fix: "Accept claims only if they are a JSON object; answer 401 to any other.",
    build: (kit) => kit.withToken({ claims: "[]" }),
  }),
  refuses<TokenKit>(401, {
    id: "claims-not-json",
    title: "a token whose claims are not JSON",
    section: "7",
    means: "Claims are not checked, or the check fails with an error.",
    fix: "Accept claims only if they are a JSON object; answer 401 to any other.",
    build: (kit) => kit.withToken({ claims: "{sub" }),
  }),
];
