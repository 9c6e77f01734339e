import { isAlgorithm } from "../jwt/key.js";
import type { KeyResolver } from "../jwt/key-resolver.js";
import { bearerToken, parseMembers } from "../jwt/token.js";
import { isBase64url } from "../primitives/base64url.js";
import { MAX_TOKEN_LENGTH } from "../protocol/limits.js";
import { type ExpectedClaims, explainClaims } from "./explain-claims.js";
import { explainTokenKey } from "./explain-token-key.js";
import type { Finding } from "./mistake.js";
import { decodeAnyBase64 } from "./text-encodings.js";
import { TOKEN_MISTAKES as MISTAKES } from "./token-mistakes.js";

/** Where the keys are that a token may be signed with, as far as the caller knows. */
export interface KnownKeys {
  /** A key set's document, as served. */
  readonly jwks: unknown;
  readonly resolver: KeyResolver | undefined;
}

/** A token taken apart. */
export interface TokenParts {
  readonly header: Readonly<Record<string, unknown>>;
  /** The text that is signed. */
  readonly signingInput: string;
  readonly signature: Uint8Array;
}

/** What is wrong about a token: the header line, its form, key and signature, and every claim. */
export async function explainToken(
  authorization: string,
  expected: ExpectedClaims,
  keys: KnownKeys,
): Promise<Finding[]> {
  const { token, findings } = takeToken(authorization);
  const segments = token.split(".");
  if (segments.length !== 3 || token.length > MAX_TOKEN_LENGTH)
    return [...findings, { mistake: MISTAKES.malformed, detail: formOf(token, segments.length) }];
  const [header, claims, signature] = segments.map(decodeAnyBase64);
  const isStrict = segments.every(isBase64url);
  const members = header && parseMembers(header);
  if (members === undefined || typeof members === "string" || !claims || !signature)
    return [...findings, { mistake: MISTAKES.malformed }];
  if (!isStrict) findings.push({ mistake: MISTAKES.padded });

  const [headerText = "", claimsText = ""] = segments;
  const parts = { header: members, signingInput: `${headerText}.${claimsText}`, signature };
  const claimMembers = parseMembers(claims);
  return [
    ...findings,
    ...explainTokenHeader(members),
    ...(await explainTokenKey(parts, keys)),
    ...(typeof claimMembers === "string"
      ? [{ mistake: MISTAKES.claimsMalformed, detail: `There is ${claimMembers}.` }]
      : explainClaims(claimMembers, expected)),
  ];
}

function formOf(token: string, segments: number): string {
  if (token.length > MAX_TOKEN_LENGTH)
    return `It has ${token.length} characters; ${MAX_TOKEN_LENGTH} are the most.`;
  return `It has ${segments} part${segments === 1 ? "" : "s"}${segments === 5 ? ", as encrypted tokens have" : ""}.`;
}

function takeToken(authorization: string): { token: string; findings: Finding[] } {
  const token = bearerToken(authorization);
  if (token !== undefined) return { token, findings: [] };
  const words = authorization.trim().split(/\s+/);
  const last = (words.at(-1) ?? "").replace(/^["']|["']$/g, "");
  const mistake = words.length === 1 ? MISTAKES.bearerMissing : MISTAKES.otherScheme;
  return { token: last, findings: [{ mistake }] };
}

const REFUSED_MEMBERS = ["crit", "b64", "jwk", "jku", "x5u", "x5c"];

function explainTokenHeader(header: Readonly<Record<string, unknown>>): Finding[] {
  const findings: Finding[] = [];
  const { alg, kid } = header;
  if (typeof alg === "string" && /^HS[0-9]+$/i.test(alg)) findings.push({ mistake: MISTAKES.algHmac });
  else if (typeof alg === "string" && alg.toLowerCase() === "none")
    findings.push({ mistake: MISTAKES.algNone });
  else if (!isAlgorithm(alg)) findings.push({ mistake: MISTAKES.alg });
  if (typeof kid !== "string" || kid === "") findings.push({ mistake: MISTAKES.kidMissing });
  if (REFUSED_MEMBERS.some((name) => Object.hasOwn(header, name)))
    findings.push({ mistake: MISTAKES.headerMember });
  return findings;
}
