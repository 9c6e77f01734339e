import type { Clock } from "hookproof";
import { decodeJwt, importJWK, type JWK, jwtVerify } from "jose";
import type { Schemas } from "../api/validation.js";
import type { Client, Clients } from "../storage/clients.js";
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

/** The client behind a token request, if its secret or its assertion is right. */
export async function authenticClient(
  request: TokenRequest,
  clientId: string,
  { clients, host, clock }: { clients: Clients; host: string; clock: Clock },
): Promise<Client | undefined> {
  const client = clients.get(clientId);
  const isRight =
    request.client_assertion === undefined
      ? await isClientSecret(request.client_secret ?? "", client?.secretHash)
      : client?.publicJwk !== undefined &&
        (await isAssertion(request.client_assertion, client.clientId, client.publicJwk, host, clock.now()));
  return isRight ? client : undefined;
}

async function isAssertion(
  assertion: string,
  clientId: string,
  publicJwk: string,
  host: string,
  now: number,
): Promise<boolean> {
  try {
    const { payload } = await jwtVerify(assertion, await importJWK(JSON.parse(publicJwk) as JWK, "EdDSA"), {
      // Two names of one algorithm (RFC 8037, RFC 9864).
      algorithms: ["EdDSA", "Ed25519"],
      issuer: clientId,
      subject: clientId,
      audience: host,
      requiredClaims: ["exp"],
      currentDate: new Date(now),
    });
    const isOneAudience = !Array.isArray(payload.aud) || payload.aud.length === 1;
    return isOneAudience && (payload.exp as number) * 1000 <= now + MAX_ASSERTION_SECONDS * 1000;
  } catch {
    return false;
  }
}
