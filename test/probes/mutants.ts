import {
  type Checks,
  CORRECT,
  correctHmac,
  headOf,
  hmacOf,
  PATH,
  type Received,
} from "./reference-listener.js";
import {
  CORRECT_TOKENS,
  decoded,
  isHs256,
  isSignedBy,
  publicKeyOf,
  type TokenChecks,
} from "./reference-tokens.js";

export const SECRET = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

const hmac = correctHmac(SECRET);

/** A listener with one thing wrong, and the probes that must say so. */
export interface Mutant<Flaw> {
  readonly name: string;
  readonly flaw: Flaw;
  /** Every probe that fails. */
  readonly fails: readonly string[];
  /** Every probe that is unclear because of it. */
  readonly unclear?: readonly string[];
}

const signatureOf = ({ headers }: Received) => headers["webhook-signature"] ?? "";
const wanted = ({ headers, body }: Received, key: string | Buffer = SECRET) =>
  hmacOf(key, headOf(headers), body);
const mangled = (body: Buffer) => Buffer.from(JSON.stringify(JSON.parse(body.toString())));

export const HMAC_MUTANTS: readonly Mutant<Partial<Checks>>[] = [
  {
    name: "has no time window",
    flaw: { inWindow: () => true },
    fails: [],
  },
  {
    name: "looks at the past only",
    flaw: { inWindow: (timestamp, now) => now - timestamp <= 300 },
    fails: [],
  },
  {
    name: "allows ten minutes",
    flaw: { inWindow: (timestamp, now) => Math.abs(now - timestamp) <= 600 },
    fails: [],
  },
  {
    name: "allows four minutes",
    flaw: { inWindow: (timestamp, now) => Math.abs(now - timestamp) <= 240 },
    fails: [],
  },
  {
    name: "parses timestamps loosely",
    flaw: { isTimestamp: () => true, inWindow: (timestamp, now) => !(Math.abs(now - timestamp) > 300) },
    fails: [],
  },
  {
    name: "decodes the secret as well",
    flaw: {
      authenticates: (received) =>
        [SECRET, Buffer.from(SECRET, "base64url")].some(
          (key) => wanted(received, key).toString("base64url") === signatureOf(received),
        ),
    },
    fails: [],
  },
  { name: "never answers 409", flaw: { order: ["authentication", "body"], reserve: () => true }, fails: [] },
  {
    name: "looks ids up before authentication",
    flaw: { order: ["replay", "authentication", "body"] },
    fails: [],
  },
  {
    name: "recognises an event by its id and body",
    flaw: { replayKey: (eventId, { body }) => `${eventId.toLowerCase()} ${body}` },
    fails: [],
  },
  {
    name: "looks an id up and stores it in two steps",
    flaw: {
      async reserve(ids, key) {
        await new Promise((later) => setTimeout(later, 20));
        ids.add(key);
        return true;
      },
    },
    fails: [],
  },
  {
    name: "uses up the ids of refused requests",
    flaw: (() => {
      const seen = new Set<string>();
      return {
        replayKey: (eventId: string) => eventId.toLowerCase(),
        authenticates: (received: Received) => {
          const id = received.headers["webhook-event-id"]?.toLowerCase() ?? "";
          const isNew = !seen.has(id);
          seen.add(id);
          return isNew && hmac(received);
        },
      };
    })(),
    fails: [],
  },
  {
    name: "decodes the signature before it compares",
    flaw: {
      authenticates: (received) => Buffer.from(signatureOf(received), "base64").equals(wanted(received)),
    },
    fails: [],
  },
  {
    name: "takes hexadecimal signatures as well",
    flaw: {
      authenticates: (received) =>
        ["base64url" as const, "hex" as const].some(
          (form) => wanted(received).toString(form) === signatureOf(received),
        ),
    },
    fails: [],
  },
  {
    name: "breaks on signatures of another length",
    flaw: {
      authenticates: (received) => {
        const given = Buffer.from(signatureOf(received), "latin1");
        const right = Buffer.from(wanted(received).toString("base64url"));
        if (given.length !== right.length)
          throw new RangeError("Input buffers must have the same byte length");
        return given.equals(right);
      },
    },
    fails: [],
  },
  {
    name: "verifies only where there is a signature",
    flaw: { authenticates: (received) => signatureOf(received) === "" || hmac(received) },
    fails: [],
  },
  { name: "has an empty secret", flaw: { authenticates: correctHmac("") }, fails: [] },
  {
    name: "verifies a body that was written anew",
    flaw: {
      authenticates: (received) => {
        try {
          return hmac({ ...received, body: mangled(received.body) });
        } catch {
          return hmac(received);
        }
      },
    },
    fails: [],
  },
  {
    name: "signs the body alone",
    flaw: {
      authenticates: (received) =>
        hmacOf(SECRET, "", received.body).toString("base64url") === signatureOf(received),
    },
    fails: [],
  },
  { name: "has no size limit", flaw: { maxBytes: Number.POSITIVE_INFINITY }, fails: [] },
  { name: "allows 32 KiB only", flaw: { maxBytes: 32_768 }, fails: [] },
  {
    name: "takes UUIDs of any version",
    flaw: { isEventId: (text) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text) },
    fails: [],
  },
  { name: "takes any event id", flaw: { isEventId: () => true }, fails: [] },
  { name: "takes bodies that are not JSON", flaw: { parse: (body) => body.toString() }, fails: [] },
  {
    name: "parses bodies loosely",
    flaw: { parse: (body) => JSON.parse(body.toString().trim().replace(/NaN/g, "0") || "null") },
    fails: [],
  },
  { name: "parses before authentication", flaw: { order: ["body", "authentication", "replay"] }, fails: [] },
  { name: "wants an object", flaw: { parse: (body) => Object.keys(JSON.parse(body.toString())) }, fails: [] },
  { name: "does without a Content-Type", flaw: { required: [], mediaTypes: /^/ }, fails: [] },
  { name: "takes PUT", flaw: { methods: ["POST", "PUT"] }, fails: [] },
  {
    name: "takes any listener id",
    flaw: { knowsListener: (path) => path.startsWith(PATH.slice(0, 20)) },
    fails: [],
  },
];

type Claims = TokenChecks["claims"];

/** Correct claims, one of them replaced. */
const claims = (over: Claims) => ({ claims: { ...CORRECT_TOKENS.claims, ...over } });
const ignoring = (name: string) => claims({ [name]: () => true });

export const JWT_MUTANTS: readonly Mutant<Partial<TokenChecks>>[] = [
  {
    name: "takes alg none",
    flaw: {
      isSigned: (parts, own) => parts.header.alg === "none" || CORRECT_TOKENS.isSigned(parts, own),
    },
    fails: [],
  },
  {
    name: "takes HS256 with the public key",
    flaw: {
      isSigned: (parts, own) =>
        parts.header.alg === "HS256"
          ? isHs256(own.publicKey.export({ type: "spki", format: "pem" }).toString(), parts)
          : CORRECT_TOKENS.isSigned(parts, own),
    },
    fails: [],
  },
  { name: "does not verify signatures", flaw: { isSigned: () => true }, fails: [] },
  {
    name: "does not look at the kid",
    flaw: {
      isSigned: ({ header, input, signature }, { publicKey }) =>
        header.alg === "ES256" && isSignedBy(publicKey, input, signature),
    },
    fails: [],
  },
  {
    name: "does not look at the alg",
    flaw: {
      isSigned: ({ header, input, signature }, { kid, publicKey }) =>
        header.kid === kid && isSignedBy(publicKey, input, signature),
    },
    fails: [],
  },
  {
    name: "trusts the key in jwk",
    flaw: {
      refusedMembers: ["crit", "b64", "jku", "x5u", "x5c"],
      isSigned: (parts, own) =>
        parts.header.jwk
          ? isSignedBy(publicKeyOf(parts.header.jwk), parts.input, parts.signature)
          : CORRECT_TOKENS.isSigned(parts, own),
    },
    fails: [],
  },
  {
    name: "follows jku",
    flaw: {
      refusedMembers: ["crit", "b64", "jwk", "x5u", "x5c"],
      async isSigned(parts, own) {
        const { jku, kid } = parts.header;
        if (typeof jku !== "string") return CORRECT_TOKENS.isSigned(parts, own);
        const { keys } = (await (await fetch(jku)).json()) as { keys: { kid: string }[] };
        const key = keys.find((one) => one.kid === kid);
        return key !== undefined && isSignedBy(publicKeyOf(key), parts.input, parts.signature);
      },
    },
    fails: [],
  },
  { name: "ignores crit", flaw: { refusedMembers: ["b64", "jwk", "jku", "x5u", "x5c"] }, fails: [] },
  { name: "ignores sub", flaw: ignoring("sub"), fails: [] },
  { name: "ignores aud", flaw: ignoring("aud"), fails: [] },
  { name: "ignores exp", flaw: ignoring("exp"), fails: [] },
  {
    name: "allows any life",
    flaw: claims({ exp: (exp, { now }) => Number.isSafeInteger(exp) && (exp as number) > now }),
    fails: [],
  },
  { name: "ignores jti", flaw: ignoring("jti"), fails: [] },
  { name: "ignores htm", flaw: ignoring("htm"), fails: [] },
  {
    name: "compares htm without case",
    flaw: claims({ htm: (htm) => typeof htm === "string" && htm.toUpperCase() === "POST" }),
    fails: [],
  },
  { name: "ignores htb_s256", flaw: ignoring("htb_s256"), fails: [] },
  {
    name: "checks htb_s256 where it is there",
    flaw: claims({
      htb_s256: (hash, expected) =>
        hash === undefined || CORRECT_TOKENS.claims.htb_s256?.(hash, expected) === true,
    }),
    fails: [],
  },
  {
    name: "takes any scheme",
    flaw: { tokenOf: (authorization) => authorization.split(" ").pop() },
    fails: [],
  },
  {
    name: "takes any base64",
    flaw: { partsOf: (token) => (token.split(".").length === 3 ? decoded(token.split(".")) : undefined) },
    fails: [],
  },
  {
    name: "breaks on headers that are not JSON",
    flaw: {
      partsOf(token) {
        try {
          return CORRECT_TOKENS.partsOf(token);
        } catch {
          throw new TypeError("a header that is not JSON");
        }
      },
    },
    fails: [],
  },
];
