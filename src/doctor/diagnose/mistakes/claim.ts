// Rows of claims that are nearly right.
import type { ListenerWords, MistakeRow } from "../../rows/mistake.js";
import { URL_DIFFERENCES, URL_MISTAKES } from "./claim-url.js";
import { EXPIRY_MISTAKES, NOT_BEFORE } from "./expiry.js";
import type { SignatureForm } from "./signature.js";

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
      "The claim jti is the event id in another spelling: without hyphens, in base64, or with something around it.",
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
  htbOfOther: {
    id: "claim-htb-of-other-text",
    title: "htb_s256 of something else",
    message: "The claim htb_s256 is the hash of something else than the body.",
    fix: HTB,
  },
  htbHmac: {
    id: "claim-htb-hmac",
    title: "htb_s256 is an HMAC",
    message: "The claim htb_s256 is an HMAC of the body. It must be the plain hash: it has no key.",
    fix: HTB,
  },
  htbIsBody: {
    id: "claim-htb-is-body",
    title: "htb_s256 is the body itself",
    message: "The claim htb_s256 holds the body, which was not hashed.",
    fix: HTB,
  },
  htbNotText: {
    id: "claim-htb-not-text",
    title: "htb_s256 is the text of no value",
    message: "The claim htb_s256 is the text of a value that is none: undefined, null, [object Promise].",
    fix: `${HTB} Await what hashes: crypto.subtle.digest gives a promise of bytes.`,
  },
  htbUnexplained: {
    id: "claim-htb-unexplained",
    title: "htb_s256 of another body",
    message:
      "The claim htb_s256 is not the hash of this body, nor of one that a known mistake makes of it: the body was changed after it was hashed, or by a mistake that is not known here.",
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
  base64OfHex: {
    listener: {
      family: "token",
      accepts: "tokens whose htb_s256 is the hash's hex in base64",
      bug: "it encodes the hex text once more",
    },
  },
  base64: {
    listener: {
      family: "token",
      accepts: "tokens with htb_s256 in standard base64",
      bug: "it compares standard base64",
    },
  },
  padded: {
    listener: {
      family: "token",
      accepts: "tokens with htb_s256 padded",
      bug: "it compares base64url with =",
    },
  },
  sha512: {
    listener: {
      family: "token",
      accepts: "tokens whose htb_s256 is by SHA-512",
      bug: "it hashes the body with SHA-512",
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

/** What was done to the right hash that cannot be undone, by the id of the same done to a signature. */
const LOSSY: readonly MistakeRow[] = [
  {
    id: "cut",
    title: "is cut",
    message: "is a part of the hash of this body: the rest was cut off.",
    fix: HTB,
  },
  {
    id: "read-as-text",
    title: "was read as text",
    message: "is the hash of this body, whose bytes were read as text before they were encoded.",
    fix: HTB,
  },
  {
    id: "zeros-lost",
    title: "has lost zeros",
    message: "is the hash of this body in hex without its zeros.",
    fix: HTB,
  },
  {
    id: "other-case",
    title: "is in one case",
    message: "is the hash of this body in small letters or in capitals alone.",
    fix: HTB,
  },
].map((row) => ofClaim("htb_s256", row));

/** The row for the body's hash of what was done to a digest (`lossyForm`). */
export function lossyBodyHash({ id }: MistakeRow): MistakeRow {
  return (
    LOSSY.find((row) => row.id === id.replace("signature-", "claim-htb-")) ?? CLAIM_MISTAKES.htbMalformed
  );
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
  ...LOSSY,
];
