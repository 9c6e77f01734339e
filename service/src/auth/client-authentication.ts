// Authenticates a client at the token endpoint.
import { createPrivateKey, createPublicKey, type JsonWebKey, timingSafeEqual } from "node:crypto";
import type { Clock } from "hookproof";
import { decodeJwt, errors, importJWK, type JWK, jwtVerify } from "jose";
import type { Schemas } from "../api/validation.js";
import type { Client, Clients } from "../storage/clients.js";
import type { Audience } from "./audience.js";
import { isClientSecret } from "./client-secret.js";

type TokenRequest = Schemas["TokenRequest"];

/** The one kind of assertion there is (RFC 7523). */
export const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

const MAX_ASSERTION_SECONDS = 300;

/** As long as `client_id` may be. */
const MAX_ID_LENGTH = 256;

/** The client a token request says it comes from; empty, which is no client, if it does not say. */
export function claimedClientId({ client_id, client_assertion }: TokenRequest): string {
  if (client_id !== undefined || client_assertion === undefined) return client_id ?? "";
  try {
    const sub: unknown = decodeJwt(client_assertion).sub;
    return typeof sub === "string" && sub.length <= MAX_ID_LENGTH ? sub : "";
  } catch {
    return "";
  }
}

/** Why a key cannot be a client's public one; undefined if nothing is wrong with it, or there is none. */
export function publicJwkProblem(jwk: object | undefined): string | undefined {
  // It would be kept, and no assertion could be checked with it.
  return jwk && Object.hasOwn(jwk, "d") ? "is a private key, which belongs to the client alone" : undefined;
}

/** What came of a token request: the client, or why there is none, as far as the caller may know. */
type Authentication = { readonly client: Client } | Refusal;

/** Why a client is refused. */
interface Refusal {
  readonly refused: string;
  /** What was wrong: the proof as a whole, or one claim of a signed assertion. */
  readonly wrong: string;
}

/** The answer to a wrong secret, a wrong signature and an unknown client alike. */
const REFUSED: Refusal = { refused: "The client is not known, or its proof is wrong.", wrong: "proof" };

/** The client behind a token request, if its secret or its assertion is right. */
export async function authenticate(
  request: TokenRequest,
  clientId: string,
  { clients, audience, clock }: { clients: Clients; audience: Audience; clock: Clock },
): Promise<Authentication> {
  const client = clients.get(clientId);
  if (request.client_assertion === undefined) {
    const secret = request.client_secret ?? "";
    const isRight = isKeyOf(secret, client?.publicJwk) || (await isClientSecret(secret, client?.secretHash));
    return isRight && client ? { client } : REFUSED;
  }
  if (client?.publicJwk === undefined) return REFUSED;
  const refused = await assertionRefused(
    request.client_assertion,
    client.clientId,
    client.publicJwk,
    audience,
    clock.now(),
  );
  return refused ?? { client };
}

/** The form in which published clients have their private key. */
const KEY_SECRET = /^secret-token:[^:]{1,253}:v1:([A-Za-z0-9+/_-]{1,1024}={0,2})$/;

/** Whether a secret is the private key of a client, which some published clients post as it is. */
function isKeyOf(secret: string, publicJwk: string | undefined): boolean {
  const encoded = KEY_SECRET.exec(secret)?.[1];
  if (encoded === undefined || publicJwk === undefined) return false;
  try {
    const key = JSON.parse(Buffer.from(encoded, "base64").toString()) as JsonWebKey;
    if (key.kty !== "OKP" || key.crv !== "Ed25519" || key.d === undefined) return false;
    // The public half is made again: the one next to it is anybody's to write.
    const { x } = createPublicKey(createPrivateKey({ key, format: "jwk" })).export({ format: "jwk" });
    const [given, known] = [x, (JSON.parse(publicJwk) as JsonWebKey).x].map((text = "") => Buffer.from(text));
    if (given === undefined || known === undefined || given.length !== known.length) return false;
    return timingSafeEqual(given, known);
  } catch {
    return false;
  }
}

/** Why an assertion is refused. Its signature is checked first: only who has the key learns what is wrong with a claim. */
async function assertionRefused(
  assertion: string,
  clientId: string,
  publicJwk: string,
  audience: Audience,
  now: number,
): Promise<Refusal | undefined> {
  try {
    const { payload } = await jwtVerify(assertion, await importJWK(JSON.parse(publicJwk) as JWK, "EdDSA"), {
      // Two names of one algorithm (RFC 8037, RFC 9864).
      algorithms: ["EdDSA", "Ed25519"],
      issuer: clientId,
      subject: clientId,
      requiredClaims: ["exp"],
      currentDate: new Date(now),
    });
    if ((payload.exp as number) * 1000 > now + MAX_ASSERTION_SECONDS * 1000)
      return claimRefused("exp", `must be at most ${MAX_ASSERTION_SECONDS} s ahead`);
    const wrongAudience = audience.refused(payload.aud);
    return wrongAudience === undefined ? undefined : claimRefused("aud", wrongAudience);
  } catch (error) {
    if (error instanceof errors.JWTExpired) return claimRefused("exp", "is in the past");
    if (!(error instanceof errors.JWTClaimValidationFailed)) return REFUSED;
    const isClient = error.claim === "iss" || error.claim === "sub";
    return claimRefused(error.claim, isClient ? "must be the client's id" : "is missing or wrong");
  }
}

function claimRefused(claim: string, what: string): Refusal {
  return { refused: `The assertion's ${claim} ${what}.`, wrong: claim };
}
