import { ApiError } from "../api/errors.js";
import type { Storage } from "../storage/storage.js";
import type { AccessTokens } from "./access-tokens.js";
import type { Principal } from "./principal.js";

/**
 * The caller behind an Authorization header (specification 5.1).
 *
 * @throws {ApiError} 401 if the token is missing, malformed, altered, expired, of another tenant, or its client is gone
 */
export async function callerOf(
  header: string | undefined,
  { tokens, storage }: { tokens: AccessTokens; storage: Storage },
): Promise<Principal> {
  if (header === undefined) throw new ApiError("unauthenticated", "The header Authorization is missing.");
  const [, token] = /^Bearer ([A-Za-z0-9._-]{1,8192})$/i.exec(header) ?? [];
  if (token === undefined) {
    throw new ApiError("unauthenticated", "Authorization must be `Bearer` and one access token.");
  }
  const clientId = await tokens.clientOf(token);
  const client = clientId === undefined ? undefined : storage.clients.get(clientId);
  if (!client) throw new ApiError("unauthenticated", "The access token is not valid here, or has expired.");
  return client;
}
