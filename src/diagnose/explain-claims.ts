import { shown } from "../protocol/check.js";
import { MAX_TOKEN_LIFETIME_SECONDS } from "../protocol/limits.js";
import { CLAIM_MISTAKES, type ClaimName, claimMistake, ofClaim } from "./claim-mistakes.js";
import { explainBodyHash } from "./explain-body-hash.js";
import type { Finding } from "./mistake.js";
import { type ExpectedUrls, URL_DIFFERENCES, URL_TRIALS } from "./url-claim-mistakes.js";

/** What a token's claims should be, as far as the caller knows. */
export interface ExpectedClaims {
  readonly baseUrl: string | undefined;
  readonly url: string | undefined;
  readonly eventId: string;
  /** The text of Webhook-Timestamp. */
  readonly timestamp: string;
  readonly body: Uint8Array;
  readonly nowSeconds: number;
}

type Claims = Readonly<Record<string, unknown>>;

/** What is wrong about every single claim, not only the first. */
export function explainClaims(claims: Claims, expected: ExpectedClaims): Finding[] {
  const { baseUrl, url, eventId } = expected;
  return [
    ...text(claims, "sub", baseUrl, (seen) =>
      urlMistake("sub", seen, { url: baseUrl ?? "", counterpart: url ?? "" }),
    ),
    ...audience(claims, expected),
    ...text(claims, "jti", eventId, (seen) => eventIdMistake(seen, eventId)),
    ...text(claims, "htm", "POST", (seen) => ({
      mistake: seen.toUpperCase() === "POST" ? CLAIM_MISTAKES.htmCase : claimMistake("htm", "other"),
    })),
    ...text(claims, "htb_s256", undefined, (seen) => explainBodyHash(seen, expected)),
    ...expiry(claims, expected),
    ...notBefore(claims, expected),
  ];
}

/** A claim that must be one text; where the wanted text is not known, `explain` decides. */
function text(
  claims: Claims,
  claim: ClaimName,
  wanted: string | undefined,
  explain: (seen: string) => Finding | readonly Finding[],
): readonly Finding[] {
  const seen = claims[claim];
  if (seen === undefined || seen === null) return [missing(claims, claim, wanted)];
  if (typeof seen !== "string")
    return [{ mistake: claimMistake(claim, "otherType"), detail: `It is ${shown(seen)}.` }];
  if (claim === "htb_s256") return [explain(seen)].flat();
  return wanted === undefined || seen === wanted ? [] : [explain(seen)].flat();
}

function missing(claims: Claims, claim: ClaimName, wanted: string | undefined): Finding {
  const other =
    wanted === undefined ? undefined : Object.keys(claims).find((name) => claims[name] === wanted);
  return other === undefined
    ? { mistake: claimMistake(claim, "missing") }
    : { mistake: claimMistake(claim, "misnamed"), detail: `The claim ${shown(other)} holds it.` };
}

function audience(claims: Claims, { url, baseUrl }: ExpectedClaims): readonly Finding[] {
  const { aud } = claims;
  const explain = (seen: string) => urlMistake("aud", seen, { url: url ?? "", counterpart: baseUrl ?? "" });
  if (!Array.isArray(aud)) return text(claims, "aud", url, explain);
  const inside =
    aud.length === 1 && typeof aud[0] === "string" ? text({ aud: aud[0] }, "aud", url, explain) : [];
  return [{ mistake: CLAIM_MISTAKES.audList }, ...inside];
}

function urlMistake(claim: "sub" | "aud", seen: string, wanted: ExpectedUrls): Finding {
  const detail = `It is ${shown(seen)}, and must be ${shown(wanted.url, 200)}.`;
  for (const trial of URL_TRIALS) {
    if (trial.ways.some(([, rewrite]) => rewrite(wanted) === seen))
      return { mistake: ofClaim(claim, trial), detail };
  }
  const difference = URL_DIFFERENCES.find(({ differs }) => differs(seen, wanted.url));
  return { mistake: difference ? ofClaim(claim, difference) : claimMistake(claim, "other"), detail };
}

function eventIdMistake(seen: string, eventId: string): readonly Finding[] {
  // The service compares ids without case (docs/decisions.md, R10).
  const [left, right] = [seen.toLowerCase(), eventId.toLowerCase()];
  if (left === right || eventId === "") return [];
  const digits = (id: string) => id.replace(/^urn:uuid:/, "").replace(/[^0-9a-f]/g, "");
  return [{ mistake: digits(left) === digits(right) ? CLAIM_MISTAKES.jtiSpelling : CLAIM_MISTAKES.jtiOther }];
}

/** A time this far ahead, read as seconds, is a time in milliseconds. */
const YEAR_5138_SECONDS = 100_000_000_000;

function expiry(claims: Claims, { nowSeconds, timestamp }: ExpectedClaims): Finding[] {
  const { exp } = claims;
  if (exp === undefined || exp === null) return [{ mistake: claimMistake("exp", "missing") }];
  if (typeof exp === "string") return [{ mistake: CLAIM_MISTAKES.expText }];
  if (typeof exp !== "number") return [{ mistake: claimMistake("exp", "otherType") }];
  if (exp > YEAR_5138_SECONDS) return [{ mistake: CLAIM_MISTAKES.expMilliseconds }];
  if (!Number.isSafeInteger(exp)) return [{ mistake: CLAIM_MISTAKES.expFraction }];

  const livedSeconds = /^[0-9]{1,11}$/.test(timestamp) ? exp - Number(timestamp) : Number.NaN;
  const wasGood = livedSeconds > 0 && livedSeconds <= MAX_TOKEN_LIFETIME_SECONDS;
  const away = `The request's own timestamp is ${Math.abs(nowSeconds - Number(timestamp))} s from this clock.`;
  if (exp <= nowSeconds) {
    const detail = `It expired ${nowSeconds - exp} s ago.`;
    return wasGood
      ? [{ mistake: CLAIM_MISTAKES.expClockBehind, detail: `${detail} ${away}` }]
      : [{ mistake: CLAIM_MISTAKES.expPast, detail }];
  }
  const tooFar = exp - nowSeconds - MAX_TOKEN_LIFETIME_SECONDS;
  if (tooFar <= 0) return [];
  return wasGood
    ? [{ mistake: CLAIM_MISTAKES.expClockAhead, detail: away }]
    : [{ mistake: CLAIM_MISTAKES.expTooFar, detail: `It is ${tooFar} s too far.` }];
}

function notBefore({ nbf }: Claims, { nowSeconds }: ExpectedClaims): Finding[] {
  if (nbf === undefined || (typeof nbf === "number" && nbf <= nowSeconds)) return [];
  const detail = typeof nbf === "number" ? `It is ${Math.ceil(nbf - nowSeconds)} s ahead.` : undefined;
  return [{ mistake: CLAIM_MISTAKES.nbf, detail }];
}
