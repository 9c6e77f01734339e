// Small listeners of the JWT method: correct ones, and with one bug each.
import {
  createHash,
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  verify,
} from "node:crypto";
import type { Bug } from "./listeners.js";
import { NOW, PATH, type Received } from "./listeners.js";

const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });

export { publicKey };

const PEM = publicKey.export({ type: "spki", format: "pem" }).toString();

/** The key of the sender. */
export const SIGNING_KEY = { key: privateKey.export({ format: "jwk" }), kid: "k1", alg: "ES256" } as const;

type Members = Readonly<Record<string, unknown>>;

/** A token as it was taken apart. */
interface Token {
  readonly header: Members;
  readonly claims: Members;
  readonly input: string;
  readonly signature: Buffer;
}

type Holds = (value: unknown, received: Received) => boolean;

/** The parts of a correct check of tokens; a bug replaces one. */
interface TokenSteps {
  authorization(received: Received): string | undefined;
  tokenOf(authorization: string): string | undefined;
  headerIsFine(header: Members): boolean;
  isSigned(token: Token): boolean;
  readonly claims: Readonly<Record<string, Holds>>;
  readonly mismatch: number;
  readonly refusal: number;
}

const baseUrl = ({ headers }: Received) => `http://${headers.host}`;
export const sha256 = (data: string | Buffer) => createHash("sha256").update(data).digest("base64url");
const now = NOW / 1000;

function signedBy(key: KeyObject, { input, signature }: Token): boolean {
  return verify("sha256", Buffer.from(input), { key, dsaEncoding: "ieee-p1363" }, signature);
}

export const RIGHT: TokenSteps = {
  authorization: ({ headers }) => headers.authorization,
  tokenOf: (authorization) => /^bearer ([^ ,]+)$/i.exec(authorization)?.[1],
  headerIsFine: (header) =>
    header.alg === "ES256" &&
    header.kid === SIGNING_KEY.kid &&
    ["crit", "b64", "jwk", "jku", "x5u", "x5c"].every((name) => !(name in header)),
  isSigned: (token) => signedBy(publicKey, token),
  claims: {
    sub: (sub, received) => sub === baseUrl(received),
    aud: (aud, received) => aud === baseUrl(received) + PATH,
    exp: (exp) => Number.isSafeInteger(exp) && (exp as number) > now && (exp as number) <= now + 600,
    nbf: (nbf) => nbf === undefined || (typeof nbf === "number" && nbf <= now),
    jti: (jti, { eventId }) => typeof jti === "string" && jti.toLowerCase() === eventId.toLowerCase(),
    htm: (htm) => htm === "POST",
    htb_s256: (hash, { body }) => hash === sha256(body),
  },
  mismatch: 401,
  refusal: 401,
};

function read(text: string): Token | undefined {
  const parts = text.split(".");
  const isPlain = (part: string) => Buffer.from(part, "base64url").toString("base64url") === part;
  if (parts.length !== 3 || text.length > 8_192 || !parts.every(isPlain)) return undefined;
  try {
    const [header, claims] = parts
      .slice(0, 2)
      .map((part) => JSON.parse(Buffer.from(part, "base64url").toString()) as unknown);
    const isObject = (value: unknown): value is Members =>
      typeof value === "object" && value !== null && !Array.isArray(value);
    if (!isObject(header) || !isObject(claims)) return undefined;
    const signature = Buffer.from(parts[2] ?? "", "base64url");
    return { header, claims, input: `${parts[0]}.${parts[1]}`, signature };
  } catch {
    return undefined;
  }
}

/** A listener whose proof is a token, with these parts of the check. */
export function tokens(change: Partial<TokenSteps>, more: ReturnType<Bug> = {}): Bug {
  const steps = { ...RIGHT, ...change };
  return () => ({
    present: (received) => {
      if (!received.timestamp || !received.eventId) return 400;
      const names = received.raw.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
      const isTwice = (name: string) => names.filter((one) => one === name).length > 1;
      if (isTwice("webhook-timestamp") || isTwice("webhook-event-id")) return 400;
      return isTwice("authorization") ? 401 : 0;
    },
    verify: (received) => {
      const text = steps.tokenOf(steps.authorization(received) ?? "");
      const token = text === undefined ? undefined : read(text);
      if (token === undefined || !steps.headerIsFine(token.header)) return steps.refusal;
      if (!steps.isSigned(token)) return steps.mismatch;
      const isFine = Object.entries(steps.claims).every(([name, holds]) =>
        holds(token.claims[name], received),
      );
      return isFine ? 0 : steps.refusal;
    },
    ...more,
  });
}

export const claims = (over: Readonly<Record<string, Holds>>): Bug =>
  tokens({ claims: { ...RIGHT.claims, ...over } });
const ignoring = (name: string): Bug => claims({ [name]: () => true });
const whereThere = (name: string): Bug =>
  claims({
    [name]: (value, received) => value === undefined || (RIGHT.claims[name]?.(value, received) ?? true),
  });

/** Each bug with words of the sentence that names it. */
export const TOKEN_BUGS: Readonly<Record<string, readonly [words: string, Bug]>> = {
  "nothing is verified": [
    "does not verify the tokens' signatures",
    tokens({ isSigned: () => true, headerIsFine: () => true }),
  ],
  "alg none": [
    "tokens that are not signed",
    tokens({
      headerIsFine: (header) => header.alg === "none" || RIGHT.headerIsFine(header),
      isSigned: (token) => token.header.alg === "none" || RIGHT.isSigned(token),
    }),
  ],
  "HS256 with the public key": [
    "takes the public key for an HMAC secret",
    tokens({
      headerIsFine: (header) => header.alg === "HS256" || RIGHT.headerIsFine(header),
      isSigned: (token) =>
        token.header.alg === "HS256"
          ? createHmac("sha256", PEM).update(token.input).digest().equals(token.signature)
          : RIGHT.isSigned(token),
    }),
  ],
  "the key of the token": [
    "the key that the token brings",
    tokens({
      headerIsFine: ({ jwk: _, ...header }) => RIGHT.headerIsFine(header),
      isSigned: (token) => {
        const { jwk } = token.header;
        const own = typeof jwk === "object" && jwk !== null;
        return signedBy(own ? createPublicKey({ key: jwk as JsonWebKey, format: "jwk" }) : publicKey, token);
      },
    }),
  ],
  "any kid": [
    "verifies with some key where kid names none",
    tokens({ headerIsFine: (header) => RIGHT.headerIsFine({ ...header, kid: SIGNING_KEY.kid }) }),
  ],
  "crit is ignored": [
    "ignores crit",
    tokens({ headerIsFine: ({ crit: _, b64: __, ...header }) => RIGHT.headerIsFine(header) }),
  ],
  "no sub": ["does not compare sub", ignoring("sub")],
  "no aud": ["does not compare aud", ignoring("aud")],
  "no jti": ["does not compare jti", ignoring("jti")],
  "no htm": ["does not compare htm", ignoring("htm")],
  "no htb_s256": ["does not compare the body with the proof", ignoring("htb_s256")],
  "no exp": ["does not compare exp with its clock", ignoring("exp")],
  "a token lives for ever": [
    "live longer than 10 minutes",
    claims({ exp: (exp) => typeof exp === "number" && exp > now }),
  ],
  "the beginning of aud": [
    "only the beginning of aud",
    claims({ aud: (aud, got) => typeof aud === "string" && aud.startsWith(baseUrl(got) + PATH) }),
  ],
  "sub where it is there": ["sub only where it is there", whereThere("sub")],
  "htb_s256 where it is there": ["htb_s256 only where it is there", whereThere("htb_s256")],
  "htm in any case": [
    "a token whose htm is post",
    claims({ htm: (htm) => String(htm).toUpperCase() === "POST" }),
  ],
  "403 for a wrong token alone": ["It answers 403 and not 401 to a token", tokens({ mismatch: 403 })],
  "403 for every refusal": ["refuses wrong proofs with 403", tokens({ mismatch: 403, refusal: 403 })],
  "sub with a slash": ["slash", claims({ sub: (sub, got) => sub === `${baseUrl(got)}/` })],
  "aud is the base URL": ["aud", claims({ aud: (aud, got) => aud === baseUrl(got) })],
  "htb_s256 in hex": [
    "hex",
    claims({ htb_s256: (hash, { body }) => hash === createHash("sha256").update(body).digest("hex") }),
  ],
  "exp in milliseconds": [
    "millisecond",
    claims({ exp: (exp) => Number(exp) > NOW && Number(exp) <= NOW + 600_000 }),
  ],
  "the hash of the body written again": [
    "serialises it again",
    claims({
      htb_s256: (hash, { body }) => {
        try {
          return hash === sha256(JSON.stringify(JSON.parse(body.toString())));
        } catch {
          return hash === sha256(body);
        }
      },
    }),
  ],
  "no Bearer": ["Bearer", tokens({ tokenOf: (text) => (/^eyJ[^ ,]+$/.test(text) ? text : undefined) })],
  "the typ of access tokens": [
    "accepts tokens with another typ than JWT",
    tokens({ headerIsFine: (header) => header.typ === "at+jwt" && RIGHT.headerIsFine(header) }),
  ],
  "another header": [
    "it reads X-Authorization",
    tokens({ authorization: ({ headers }) => headers["x-authorization"]?.toString() }),
  ],
  "no time": [
    "does not compare the timestamp with its clock",
    tokens({}, { time: ({ timestamp }) => (/^(?:0|[1-9]\d{0,11})$/.test(timestamp) ? 0 : 400) }),
  ],
  "copies run": ["a processed event id as a new one", tokens({}, { copy: () => 0 })],
  "another key": [
    "no known mistake explains it",
    tokens({
      isSigned: (token) => signedBy(generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey, token),
    }),
  ],
};

/** Other styles that are as right. */
export const CORRECT_TOKENS: Readonly<Record<string, Bug>> = {
  "as it is written": tokens({}),
  "nbf is not looked at": ignoring("nbf"),
  "nbf is not allowed": claims({ nbf: (nbf) => nbf === undefined }),
  "404 for another method": tokens({}, { method: ({ method }) => (method === "POST" ? 0 : 404) }),
  "bearer in any case": tokens({ tokenOf: (text) => /^bearer +(\S+)$/i.exec(text)?.[1] }),
};
