import { createHmac, createPublicKey, type JsonWebKey, type KeyObject, verify } from "node:crypto";
import { PATH, type Received, sha256 } from "./reference-listener.js";

type Members = Readonly<Record<string, unknown>>;

/** A token taken apart. */
export interface TokenParts {
  readonly header: Members;
  readonly claims: Members;
  readonly input: string;
  readonly signature: Buffer;
}

/** The checks of the JWT method, each one replaceable by a wrong one. */
export interface TokenChecks {
  tokenOf(authorization: string): string | undefined;
  partsOf(token: string): TokenParts | undefined;
  /** The key and algorithm to verify with. */
  isSigned(parts: TokenParts, own: OwnKey): boolean | Promise<boolean>;
  readonly refusedMembers: readonly string[];
  /** Whether each claim is as it should be. */
  readonly claims: Readonly<Record<string, (value: unknown, expected: Expected) => boolean>>;
}

/** The listener's one key, ES256. */
export interface OwnKey {
  readonly kid: string;
  readonly publicKey: KeyObject;
}

interface Expected extends Received {
  readonly baseUrl: string;
}

const SEGMENT = /^[A-Za-z0-9_-]*$/;

/** What a correct listener checks, written without the library. */
export const CORRECT_TOKENS: TokenChecks = {
  tokenOf: (authorization) => /^bearer ([^ ]+)$/i.exec(authorization)?.[1],
  partsOf(token) {
    if (token.length > 8192) return undefined;
    const segments = token.split(".");
    const canonical = (text: string) => Buffer.from(text, "base64url").toString("base64url") === text;
    if (segments.length !== 3 || !segments.every((one) => SEGMENT.test(one) && canonical(one)))
      return undefined;
    return decoded(segments);
  },
  isSigned: ({ header, input, signature }, { kid, publicKey }) =>
    header.alg === "ES256" && header.kid === kid && isSignedBy(publicKey, input, signature),
  refusedMembers: ["crit", "b64", "jwk", "jku", "x5u", "x5c"],
  claims: {
    exp: (exp, { now }) => Number.isSafeInteger(exp) && (exp as number) > now && (exp as number) <= now + 600,
    nbf: (nbf, { now }) => nbf === undefined || (typeof nbf === "number" && nbf <= now),
    sub: (sub, { baseUrl }) => sub === baseUrl,
    aud: (aud, { baseUrl }) => aud === baseUrl + PATH,
    jti: (jti, { headers }) =>
      typeof jti === "string" && jti.toLowerCase() === headers["webhook-event-id"]?.toLowerCase(),
    htm: (htm) => htm === "POST",
    htb_s256: (hash, { body }) => hash === sha256(body),
  },
};

/** Whether ES256 by this key holds. */
export function isSignedBy(key: KeyObject, input: string, signature: Buffer): boolean {
  return verify("sha256", Buffer.from(input), { key, dsaEncoding: "ieee-p1363" }, signature);
}

/** A public key from its JWK. */
export function publicKeyOf(jwk: object): KeyObject {
  return createPublicKey({ key: jwk as JsonWebKey, format: "jwk" });
}

/** Whether HS256 by this secret holds. */
export function isHs256(secret: string, { input, signature }: TokenParts): boolean {
  return createHmac("sha256", secret).update(input).digest().equals(signature);
}

/** The segments as they are, whatever their spelling; a header or claims that are not JSON throw. */
export function decoded([header = "", claims = "", signature = ""]: readonly string[]):
  | TokenParts
  | undefined {
  const json = [header, claims].map((one) => JSON.parse(Buffer.from(one, "base64url").toString()) as unknown);
  const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
  const twice = [header, claims].some((one) => hasMemberTwice(Buffer.from(one, "base64url").toString()));
  if (!json.every(isObject) || twice) return undefined;
  const [head, body] = json as [Members, Members];
  return {
    header: head,
    claims: body,
    input: `${header}.${claims}`,
    signature: Buffer.from(signature, "base64url"),
  };
}

/** The JWT method of a listener with these checks. */
export function tokenAuthentication(own: OwnKey, baseUrl: () => string, checks: TokenChecks) {
  return async (received: Received): Promise<boolean> => {
    const token = checks.tokenOf(received.headers.authorization ?? "");
    const parts = token === undefined ? undefined : readable(() => checks.partsOf(token));
    if (parts === undefined || checks.refusedMembers.some((name) => name in parts.header)) return false;
    if (!(await checks.isSigned(parts, own))) return false;
    const expected = { ...received, baseUrl: baseUrl() };
    return Object.entries(checks.claims).every(([name, holds]) => holds(parts.claims[name], expected));
  };
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Flat objects only, which is what the probes send. */
function hasMemberTwice(json: string): boolean {
  const names = [...json.matchAll(/"([^"]*)":/g)].map(([, name]) => name);
  return new Set(names).size < names.length;
}
