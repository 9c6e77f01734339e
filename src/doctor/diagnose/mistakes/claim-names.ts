// Finds a claim that is there under another name.
import type { ClaimName } from "./claim.js";

/** Names that people give a claim: compared without case, hyphens and underscores. */
const OTHER_NAMES: Readonly<Record<ClaimName, RegExp>> = {
  sub: /^(?:subject|baseurl|tenanturl|tenant)$/,
  aud: /^(?:audience|htu|url|targeturi)$/,
  exp: /^(?:exp|expat|expires|expiresat|expiresin|expiry|expiration|expirationtime|validuntil)$/,
  jti: /^(?:jwtid|eventid|webhookeventid|id|nonce|jti)$/,
  htm: /^(?:htm|method|httpmethod|requestmethod|verb)$/,
  htb_s256:
    /^(?:htb|htb?(?:s|sha)?256|htbsha256|htbs256|htbhash|(?:request)?(?:body|payload|content)(?:hash|sha256|digest|s256)|bodysha256hash|sha256|hash|digest)$/,
};

/**
 * The name of the claim that holds what another should hold: one with the same value, or, where the value is not known,
 * one with such a name and a value of the kind.
 */
export function claimUnderOtherName(
  claims: Readonly<Record<string, unknown>>,
  claim: ClaimName,
  wanted: string | undefined,
  nowSeconds: number | undefined,
): string | undefined {
  const names = Object.keys(claims).filter((name) => name !== claim);
  if (wanted !== undefined) return names.find((name) => claims[name] === wanted);
  return names.find((name) => {
    if (!OTHER_NAMES[claim].test(name.toLowerCase().replace(/[_-]/g, ""))) return false;
    const value = claims[name];
    if (claim !== "exp") return typeof value === "string" && /^[\w+/=-]{43,64}$/.test(value);
    const seconds = typeof value === "number" ? value : Number.NaN;
    const isTime =
      Math.abs(seconds - (nowSeconds ?? 0)) < 86_400 || Math.abs(seconds / 1000 - (nowSeconds ?? 0)) < 86_400;
    return isTime || (/in$/i.test(name) && value !== undefined);
  });
}
