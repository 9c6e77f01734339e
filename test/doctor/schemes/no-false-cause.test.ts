// Requests of every scheme that are right, or wrong at random, get no cause that is not theirs.
import { createPrivateKey, createPublicKey } from "node:crypto";
import { ALGORITHMS, type Algorithm, jwtSigner, type Signer, signRequest } from "hookproof";
import { diagnose } from "hookproof/diagnose";
import { httpSignatureSigner } from "hookproof/http-signature";
import { generateKey, type KeyRecord, localKeys } from "hookproof/jwks";
import { CAEP, securityEventSigner } from "hookproof/set";
import { standardWebhooksSigner } from "hookproof/standard-webhooks";
import { fixedClock } from "hookproof/testing";
import { describe, expect, it } from "vitest";
import { rewrittenJson } from "../../../src/core/json.js";
import { drawnIn, PARTS, printed, withOneBitChanged, withOneByteChanged } from "../../kit/drawn-bodies.js";
import fc from "../../kit/fast-check.js";

const NOW = 1_767_225_600;
const clock = fixedClock(NOW * 1000);
const BASE_URL = "https://tenant.example.com";
const URL_ = `${BASE_URL}/api/v1/webhooks/incoming/lst_1`;
const ISSUER = "https://idp.example.com/";

/** Two keys under each name: the one that is published, and another. */
const [PUBLISHED, UNKNOWN] = [await keysOfAll(), await keysOfAll()];
const jwks = { keys: ALGORITHMS.map((alg) => PUBLISHED[alg].publicJwk) };
const keys = localKeys(jwks);

async function keysOfAll(): Promise<Record<Algorithm, KeyRecord>> {
  const made = ALGORITHMS.map(async (alg) => [alg, await generateKey({ alg, kid: alg })] as const);
  return Object.fromEntries(await Promise.all(made)) as Record<Algorithm, KeyRecord>;
}

const drawn = fc.record({
  body: printed.map((text): Uint8Array => Buffer.from(text)),
  secret: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  keys: fc.constant(PUBLISHED),
  alg: fc.constantFrom(...ALGORITHMS),
  headerNames: fc.constantFrom("webhook", "svix", "x-webhook"),
  secretForm: fc.constantFrom("prefixed", "base64", "raw"),
  id: fc.uuid({ version: 4 }),
  otherId: fc.uuid({ version: 4 }),
  seconds: fc.integer({ min: NOW - 250, max: NOW }),
  at: fc.nat(),
});
type Drawn = typeof drawn extends fc.Arbitrary<infer Value> ? Value : never;

interface Request {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

type Input = Parameters<typeof diagnose>[0];

/** A kind of proof, and what may be said of a request of it that is wrong in some way. */
interface Kind {
  signer(given: Drawn): Signer;
  /** What the receiver knows. */
  known(given: Drawn): object;
  /** The header of the proof; none where it is the body. */
  proof?(given: Drawn): string;
  readonly says: Partial<Record<Way, string>>;
}

/** What is done to a request: its proof is that of another one, or something of it has changed on its way. */
const WAYS = {
  otherKey: (given, kind) =>
    withProof(given, kind, { secret: withOneByteChanged(given.secret, given.at), keys: UNKNOWN }),
  otherId: (given, kind) => withProof(given, kind, { id: given.otherId }),
  // One or two seconds off is a mistake that people make: the clock is read twice.
  otherTime: (given, kind) => withProof(given, kind, { seconds: given.seconds - 3 - (given.at % 40) }),
  otherBody: async (given, kind) => {
    // What makes {} or null of another short body is a mistake that people make.
    fc.pre(given.body.length > 8);
    const right = await signed(given, kind);
    const body = withOneByteChanged(right.body, given.at);
    fc.pre(!isWrittenOtherwise(right.body, body));
    return { ...right, body };
  },
  otherBit: (given, kind) => changed(given, kind, (proof) => withOneBitChanged(proof, given.at)),
  otherClaims: async (given, kind) => {
    const earlier = await signed({ ...given, seconds: given.seconds - 1 }, kind);
    const [, claims = ""] = proofOf(earlier, given, kind).split(".");
    return changed(given, kind, (proof) => proof.replace(/\.[^.]*\./, () => `.${claims}.`));
  },
} satisfies Record<string, (given: Drawn, kind: Kind) => Promise<Request>>;
type Way = "otherKey" | "otherId" | "otherTime" | "otherBody" | "otherBit" | "otherClaims";

async function signed(given: Drawn, kind: Kind): Promise<Request> {
  const event = { id: given.id, body: given.body };
  const timestamp = given.seconds;
  return signRequest({ url: URL_, signer: kind.signer(given), event, timestamp });
}

function proofOf({ headers, body }: Request, given: Drawn, { proof }: Kind): string {
  return proof ? (headers[proof(given)] ?? "") : Buffer.from(body).toString();
}

async function changed(given: Drawn, kind: Kind, change: (proof: string) => string): Promise<Request> {
  const right = await signed(given, kind);
  const made = change(proofOf(right, given, kind));
  const { proof } = kind;
  return proof
    ? { ...right, headers: { ...right.headers, [proof(given)]: made } }
    : { ...right, body: Buffer.from(made) };
}

async function withProof(given: Drawn, kind: Kind, other: Partial<Drawn>): Promise<Request> {
  const proof = proofOf(await signed({ ...given, ...other }, kind), given, kind);
  return changed(given, kind, () => proof);
}

function keyOf({ keys, alg }: Drawn) {
  const { privateJwk, kid } = keys[alg];
  return { key: privateJwk, kid, alg };
}

function secretTextOf({ secret, secretForm }: Drawn): string {
  const text = Buffer.from(secret).toString("base64");
  return secretForm === "prefixed" ? `whsec_${text}` : text;
}

const unexplained = "signature-unexplained";
const HTTP = {
  proof: () => "Signature",
  says: {
    otherKey: unexplained,
    otherId: unexplained,
    otherTime: unexplained,
    otherBody: "digest-of-other-body",
    otherBit: unexplained,
  },
} as const;

const KINDS: Readonly<Record<string, Kind>> = {
  "Standard Webhooks": {
    signer: (given) => standardWebhooksSigner({ ...agreed(given), secrets: secretTextOf(given) }),
    known: (given) => ({ scheme: "standard-webhooks", ...agreed(given), secrets: secretTextOf(given) }),
    proof: ({ headerNames }) => `${headerNames}-signature`,
    says: {
      otherKey: unexplained,
      otherId: unexplained,
      otherTime: unexplained,
      otherBody: unexplained,
      otherBit: unexplained,
    },
  },
  "Standard Webhooks by a key": {
    signer: ({ secret, headerNames }) =>
      standardWebhooksSigner({ headerNames, secrets: `whsk_${Buffer.from(secret).toString("base64")}` }),
    known: ({ secret, headerNames }) => ({
      scheme: "standard-webhooks",
      headerNames,
      secrets: publicHalfOf(secret),
    }),
    proof: ({ headerNames }) => `${headerNames}-signature`,
    says: {
      otherKey: unexplained,
      otherId: unexplained,
      otherTime: unexplained,
      otherBody: unexplained,
      otherBit: unexplained,
    },
  },
  "HTTP message signatures by a secret": {
    ...HTTP,
    signer: ({ secret }) => httpSignatureSigner({ secret, keyId: "k" }),
    known: ({ secret }) => ({ scheme: "http-signature", url: URL_, secrets: { k: secret } }),
  },
  "HTTP message signatures by a key": {
    ...HTTP,
    signer: (given) => httpSignatureSigner({ key: keyOf(given) }),
    known: () => ({ scheme: "http-signature", url: URL_, keys, jwks }),
  },
  tokens: {
    signer: (given) => jwtSigner(keyOf(given)),
    known: () => ({ listener: { id: "lst_1", baseUrl: BASE_URL }, jwks }),
    proof: () => "Authorization",
    says: {
      otherKey: "token-signature-unexplained",
      otherId: "claim-jti-other",
      otherBody: "claim-htb-unexplained",
      otherBit: "token-signature-unexplained",
      otherClaims: "token-signature-unexplained",
    },
  },
  "security event tokens": {
    signer: (given) => eventsSigner(keyOf(given)),
    known: () => ({ scheme: "security-event-token", issuer: ISSUER, audience: BASE_URL, keys, jwks }),
    says: {
      otherKey: "signature-of-other-key",
      otherBit: "signature-of-other-key",
      otherClaims: "signature-of-other-key",
    },
  },
};

function agreed({ headerNames, secretForm }: Drawn) {
  return { headerNames, secretForm } as const;
}

/** Whether two bodies are one value with a number written otherwise, 1E+25 for 1e+25: that is a mistake of people too. */
function isWrittenOtherwise(one: Uint8Array, other: Uint8Array): boolean {
  const [left = "", right = ""] = [one, other].map((bytes) => Buffer.from(bytes).toString());
  const isBlankChanged = left.replace(/\s/g, "") === right.replace(/\s/g, "");
  return !isBlankChanged && rewrittenJson(left) === rewrittenJson(right);
}

function publicHalfOf(seed: Uint8Array): string {
  const key = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]);
  const { x = "" } = createPublicKey(createPrivateKey({ key, format: "der", type: "pkcs8" })).export({
    format: "jwk",
  });
  return `whpk_${Buffer.from(x, "base64url").toString("base64")}`;
}

/** Any JSON becomes an event's payload here. */
function eventsSigner(key: ReturnType<typeof keyOf>): Signer {
  const signer = securityEventSigner({ issuer: ISSUER, audience: BASE_URL, key });
  return {
    ...signer,
    sign: ({ body, ...request }) => {
      const events = { [CAEP.sessionRevoked]: { said: JSON.parse(Buffer.from(body).toString()) } };
      return signer.sign({ ...request, body: Buffer.from(JSON.stringify({ events })) });
    },
  };
}

/** What is true of a body besides, where the byte that has changed made it something else than JSON. */
const SEEN_IN_BODY = new Set(["body-not-json", "body-in-other-encoding", "body-begins-with-bom"]);

describe.each(Object.entries(KINDS))("of %s no false cause", (_, kind) => {
  it.each(PARTS)(
    "is given for requests that are right, or wrong at random (%i)",
    async (part) => {
      const ways = fc.option(fc.constantFrom(...(Object.keys(kind.says) as Way[])));
      await fc.assert(
        fc.asyncProperty(drawn, ways, async (given, way) => {
          fc.pre(given.id !== given.otherId);
          const { headers, body } = await (way === null ? signed(given, kind) : WAYS[way](given, kind));
          const request = { method: "POST", url: URL_, headers, body };
          const { mistakes } = await diagnose({ ...kind.known(given), request, clock } as Input);
          const ids = mistakes.map(({ id }) => id).filter((id) => !SEEN_IN_BODY.has(id));
          expect(ids, String(way)).toEqual(way === null ? [] : [kind.says[way]]);
        }),
        drawnIn(part),
      );
    },
    3_600_000,
  );
});
