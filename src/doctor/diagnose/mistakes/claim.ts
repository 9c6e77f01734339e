// Rows of claims that are nearly right.
import type { ListenerWords, MistakeRow, RepeatableMistake } from "../../rows/mistake.js";
import { EXPIRY_MISTAKES, NOT_BEFORE } from "./expiry.js";
import type { SignatureForm } from "./signature.js";

/** The wrong URL that a mistake makes of the right one. */
type RewriteUrl = (wanted: ExpectedUrls) => string | undefined;

/** The right values of the claims sub and aud. */
export interface ExpectedUrls {
  /** The right value of this claim. */
  readonly url: string;
  /** The right value of the other claim: the base URL for aud, the listener's URL for sub. */
  readonly counterpart: string;
}

const FROM_CONFIGURATION = "Copy it from the trigger's configuration, character by character.";

/** URLs that are nearly right. `ofClaim` puts the claim's name in front of each id. */
export const URL_MISTAKES: readonly RepeatableMistake<RewriteUrl>[] = [
  {
    id: "trailing-slash",
    title: "has a trailing slash",
    message: "ends with a slash that must not be there.",
    fix: "Remove it: url.replace(/\\/$/, '').",
    ways: [[1, ({ url }) => `${url}/`]],
  },
  {
    id: "swapped",
    title: "is the other URL",
    message: "is the other of the two URLs: sub is the base URL, aud the listener's URL.",
    fix: "Set { sub: baseUrl, aud: baseUrl + '/api/v1/webhooks/incoming/' + listenerId }.",
    ways: [
      [1, ({ counterpart }) => counterpart],
      [2, ({ counterpart }) => `${counterpart}/`],
    ],
  },
  {
    id: "scheme",
    title: "has another scheme",
    message: "has http where https belongs, or the other way round.",
    fix: `${FROM_CONFIGURATION} Behind a proxy that ends TLS, do not build it from the request.`,
    ways: [[1, ({ url }) => url.replace(/^http(s?):/, (_, s) => (s === "" ? "https:" : "http:"))]],
  },
  {
    id: "without-scheme",
    title: "has no scheme",
    message: "has no https:// in front.",
    fix: FROM_CONFIGURATION,
    ways: [
      [2, ({ url }) => url.replace(/^https?:\/\//, "")],
      [2, ({ url }) => hostOf(url)],
    ],
  },
  {
    id: "origin-only",
    title: "has lost its path",
    message: "is the origin alone, without its path.",
    fix: FROM_CONFIGURATION,
    ways: [[2, ({ url }) => originOf(url)]],
  },
  {
    id: "path-only",
    title: "is a path",
    message: "is the path alone, without scheme and host.",
    fix: `${FROM_CONFIGURATION} In a server request.url is the path only.`,
    ways: [[2, ({ url }) => url.slice(originOf(url)?.length)]],
  },
  {
    id: "port",
    title: "has a port",
    message: "names the default port, which the configured URL does not, or leaves out one that it has.",
    fix: FROM_CONFIGURATION,
    ways: [
      [
        1,
        ({ url }) =>
          url.replace(/^(https:\/\/[^/:]+)(?=\/|$)/, "$1:443").replace(/^(http:\/\/[^/:]+)(?=\/|$)/, "$1:80"),
      ],
      [2, ({ url }) => url.replace(/^(https?:\/\/[^/]+):[0-9]+/, "$1")],
    ],
  },
];

/** URLs in which one part differs; `differs` compares them. */
export const URL_DIFFERENCES: readonly (MistakeRow & {
  readonly differs: (seen: string, wanted: string) => boolean;
})[] = [
  {
    id: "case",
    title: "is in other case",
    message: "differs from the configured URL in upper and lower case only.",
    fix: FROM_CONFIGURATION,
    differs: (seen, wanted) => seen.toLowerCase() === wanted.toLowerCase(),
  },
  {
    id: "space",
    title: "has white space around it",
    message: "has white space around it.",
    fix: "Remove it: url.trim().",
    differs: (seen, wanted) => seen.trim() === wanted,
  },
  {
    id: "query",
    title: "has a query or fragment",
    message: "has a query or a fragment, which the configured URL does not.",
    fix: FROM_CONFIGURATION,
    differs: (seen, wanted) => seen.replace(/[?#].*$/s, "") === wanted,
  },
  {
    id: "host",
    title: "has another host",
    message:
      "has another host or port than the configured URL, such as the one of a tunnel, a proxy or another stage.",
    fix: `${FROM_CONFIGURATION} Do not build it from the address you connect to.`,
    differs: (seen, wanted) => originOf(seen) !== undefined && pathOf(seen) === pathOf(wanted),
  },
  {
    id: "listener-id",
    title: "has another listener id",
    message: "names another listener.",
    fix: FROM_CONFIGURATION,
    differs: (seen, wanted) => wanted.includes("/") && beforeLast(seen) === beforeLast(wanted),
  },
];

function originOf(url: string): string | undefined {
  return /^https?:\/\/[^/?#]+/i.exec(url)?.[0];
}

function hostOf(url: string): string | undefined {
  return originOf(url)?.replace(/^https?:\/\//i, "");
}

function pathOf(url: string): string {
  return url.slice(originOf(url)?.length);
}

function beforeLast(url: string): string {
  return url.slice(0, url.lastIndexOf("/"));
}

/** The claims a token must have (specification 5.2, required claims). */
const CLAIM_NAMES = ["sub", "aud", "exp", "jti", "htm", "htb_s256"] as const;
export type ClaimName = (typeof CLAIM_NAMES)[number];

/** Mistakes that every claim can have; the claim's name is put in front of title and message. */
const OF_ANY_CLAIM = {
  missing: {
    id: "missing",
    title: "is missing",
    message: "is missing from the token.",
    fix: "Sign all six: { sub, aud, exp, jti, htm, htb_s256 }. jwtSigner({ key, kid, alg }) makes them.",
  },
  misnamed: {
    id: "misnamed",
    title: "has another name",
    message: "is missing, and another claim holds its value.",
    fix: "Use the names sub, aud, exp, jti, htm and htb_s256.",
  },
  otherType: {
    id: "other-type",
    title: "is of another type",
    message: "must be one text (exp one number).",
    fix: "Sign { sub: string, aud: string, exp: number, jti: string, htm: 'POST', htb_s256: string }.",
  },
  other: {
    id: "other",
    title: "has another value",
    message: "is not what it must be.",
    fix: "sub is the base URL, aud the listener's URL, jti the text of Webhook-Event-Id, htm POST.",
  },
} satisfies Record<string, MistakeRow>;

/** Makes a general mistake one of this claim. */
export function ofClaim(claim: ClaimName, general: MistakeRow): MistakeRow {
  return {
    id: `claim-${claim.replace("_s256", "")}-${general.id}`,
    title: `${claim} ${general.title}`,
    message: `The claim ${claim} ${general.message}`,
    fix: general.fix,
    listener: general.listener ?? ofToken(`${claim} ${general.title}`, claim),
  };
}

/** The words for a listener that compares a claim with something else. */
function ofToken(title: string, claim: ClaimName): ListenerWords {
  const bug = `it compares ${claim.replace("_s256", "")} with another value`;
  return { family: "token", accepts: `tokens whose ${title}`, bug };
}

/** One of the mistakes that every claim can have. */
export function claimMistake(claim: ClaimName, kind: keyof typeof OF_ANY_CLAIM): MistakeRow {
  return ofClaim(claim, OF_ANY_CLAIM[kind]);
}

const HTB =
  "Set htb_s256: createHash('sha256').update(body).digest('base64url'), over the bytes that are sent.";

/** Mistakes that only one claim can have. */
export const CLAIM_MISTAKES = {
  audList: {
    id: "claim-aud-list",
    title: "aud is a list",
    message: "The claim aud is a list. It must be one text.",
    fix: "Set aud: url, not aud: [url]. Some libraries make a list of it by themselves.",
    listener: { family: "token", accepts: "tokens whose aud is a list", bug: "it expects a list in aud" },
  },
  jtiSpelling: {
    id: "claim-jti-spelling",
    title: "jti in another spelling",
    message:
      "The claim jti is the event id in another spelling: without hyphens, or with something around it.",
    fix: "Set jti to the text of Webhook-Event-Id.",
    listener: {
      family: "token",
      accepts: "tokens with jti in another spelling",
      bug: "it changes the event id",
    },
  },
  jtiOther: {
    id: "claim-jti-other",
    title: "jti is another id",
    message: "The claim jti is another id than Webhook-Event-Id.",
    fix: "Mint one id: const id = newEventId(), for jti and for the header. Do not let the JWT library make a jti.",
  },
  htmCase: {
    id: "claim-htm-case",
    title: "htm in other case",
    message: "The claim htm is not in capitals.",
    fix: "Set htm: 'POST'.",
    listener: {
      family: "token",
      accepts: "tokens with htm in lower case",
      bug: "it compares htm in lower case",
    },
  },
  htbOfSigningInput: {
    id: "claim-htb-of-signing-input",
    title: "htb_s256 of more than the body",
    message: "The claim htb_s256 is the hash of {timestamp}.{event_id}.{body}. It must be of the body alone.",
    fix: HTB,
    listener: {
      family: "token",
      accepts: "tokens with htb_s256 of more than the body",
      bug: "it hashes timestamp, event id and body",
    },
  },
  htbUnexplained: {
    id: "claim-htb-unexplained",
    title: "htb_s256 of another body",
    message:
      "The claim htb_s256 is not the hash of this body, nor of one that a known mistake makes of it: the body was changed after it was hashed.",
    fix: HTB,
  },
  htbMalformed: {
    id: "claim-htb-malformed",
    title: "htb_s256 is no hash",
    message: "The claim htb_s256 is not the SHA-256 of anything: that has 43 characters of base64url.",
    fix: HTB,
  },
} satisfies Record<string, MistakeRow>;

const SPELLINGS: Readonly<Record<SignatureForm, string>> = {
  quoted: "has quotes or white space around it.",
  prefixed: "has something before the hash, such as sha256=.",
  several: "holds more than one hash.",
  hex: "is written in hex. It must be base64url without padding.",
  base64OfHex: "is base64 of the hash in hex. It must be base64url of the hash's bytes.",
  base64: "is written in standard base64, with + and /. It must be base64url, with - and _.",
  padded: "ends with padding (=). It must be base64url without padding.",
  sha1: "has 20 bytes, as SHA-1 makes them. It must be SHA-256.",
  sha512: "has 64 bytes, as SHA-512 makes them. It must be SHA-256.",
  md5: "has 16 bytes, as MD5 makes them. It must be SHA-256.",
  sha384: "has 48 bytes, as SHA-384 makes them. It must be SHA-256.",
  base32: "is written in base32. It must be base64url.",
  encodedTwice: "was encoded twice. It must be base64url of the hash's bytes.",
  json: "stands in an object or a list of JSON.",
  openssl: "has what openssl prints in front of it.",
  pythonBytes: "is Python's text of bytes, b'…'.",
  percent: "is percent-encoded.",
  plusAsSpace: "has spaces where + stood.",
  byteList: "is a list of numbers. It must be base64url.",
};

const HTB_LISTENERS: Readonly<Partial<Record<SignatureForm, Pick<MistakeRow, "listener">>>> = {
  hex: {
    listener: {
      family: "token",
      accepts: "tokens with htb_s256 in hex",
      bug: "it compares hex with base64url",
    },
  },
  base64: {
    listener: {
      family: "token",
      accepts: "tokens with htb_s256 in standard base64",
      bug: "it compares standard base64",
    },
  },
};

/** The body hash is written in another way than base64url; its value may be right. */
export function bodyHashSpelling(form: SignatureForm): MistakeRow {
  const id = form.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);
  return ofClaim("htb_s256", {
    id,
    title: SPELLINGS[form].replace(/\..*$/s, ""),
    message: SPELLINGS[form],
    fix: HTB,
    ...HTB_LISTENERS[form],
  });
}

const { audList, ...otherMistakes } = CLAIM_MISTAKES;

/** Every mistake in claims, for the catalogue. */
export const ALL_CLAIM_MISTAKES: readonly MistakeRow[] = [
  ...CLAIM_NAMES.flatMap((claim) =>
    (["missing", "misnamed", "otherType"] as const).map((kind) => claimMistake(claim, kind)),
  ),
  ...(["sub", "aud", "htm"] as const).map((claim) => claimMistake(claim, "other")),
  ...(["sub", "aud"] as const).flatMap((claim) =>
    [...URL_MISTAKES, ...URL_DIFFERENCES].map((general) => ofClaim(claim, general)),
  ),
  audList,
  ...EXPIRY_MISTAKES,
  NOT_BEFORE,
  ...Object.values(otherMistakes),
  ...(Object.keys(SPELLINGS) as SignatureForm[]).map(bodyHashSpelling),
];
