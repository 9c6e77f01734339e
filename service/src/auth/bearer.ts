// Finds the caller behind an Authorization header.
import { createHash, timingSafeEqual } from "node:crypto";
import { ApiError } from "../api/errors.js";
import type { Storage } from "../storage/storage.js";
import type { AccessTokens } from "./access-tokens.js";
import type { Principal } from "./principal.js";

/** Who brings the control token: it works whatever the clock, the state and the token endpoint do. */
const CONTROL: Principal = { clientId: "control", role: "super-admin", userId: "" };

function isSame(token: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(token), digest(expected));
}

/**
 * The caller behind an Authorization header (specification 5.1).
 *
 * @throws {ApiError} 401 if the token is missing, malformed, altered, expired, of another tenant, or its client is gone
 */
export async function callerOf(
  header: string | undefined,
  { tokens, storage, controlToken }: { tokens: AccessTokens; storage: Storage; controlToken: string },
  { isLocal = false }: { isLocal?: boolean } = {},
): Promise<Principal> {
  if (header === undefined) throw new ApiError("unauthenticated", "The header Authorization is missing.");
  const [, token] = /^Bearer ([A-Za-z0-9._-]{1,8192})$/i.exec(header) ?? [];
  if (token === undefined) {
    throw new ApiError("unauthenticated", "Authorization must be `Bearer` and one access token.", [], {
      // RFC 6750 section 3.1: a caller who brought no token is not given an error code.
      challenge: /^Bearer /i.test(header) ? "invalid_token" : undefined,
    });
  }
  if (isLocal && isSame(token, controlToken)) return CONTROL;
  const clientId = await tokens.clientOf(token);
  const client = clientId === undefined ? undefined : storage.clients.get(clientId);
  if (!client) {
    const message = "The access token is not valid here, or has expired.";
    throw new ApiError("unauthenticated", message, [], { challenge: "invalid_token" });
  }
  return client;
}
