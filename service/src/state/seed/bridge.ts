// The bridge of a seed.
import type { Fixture } from "../fixture.js";
import { idsOf } from "./draw.js";

type Bridge = NonNullable<Fixture["bridges"]>[number];

/** More than one page of them. */
const CREDENTIALS = 30;
const DAY_MS = 86_400_000;

/** The one bridge of a seed: of five credentials one is revoked and one expired, the others are active. */
export function bridge(seed: number, start: number): Bridge {
  const idOf = idsOf(seed);
  const at = (days: number) => new Date(start + days * DAY_MS).toISOString();
  const stateOf = (n: number) => {
    if (n % 5 === 3)
      return {
        credentialStatus: "TUNNEL_CREDENTIAL_STATUS_REVOKED",
        revokedAt: at(n + 1),
        updatedAt: at(n + 1),
      };
    if (n % 5 === 4)
      return {
        credentialStatus: "TUNNEL_CREDENTIAL_STATUS_EXPIRED",
        expiresTime: at(n + 1),
        updatedAt: at(n),
      };
    return { credentialStatus: "TUNNEL_CREDENTIAL_STATUS_ACTIVE", lastUsedAt: at(n + 1), updatedAt: at(n) };
  };
  return {
    id: idOf("bridge"),
    displayName: "Data centre",
    createdAt: at(0),
    credentials: Array.from({ length: CREDENTIALS }, (_, n) => ({
      id: idOf("credential", n),
      clientId: idOf("credential client", n),
      createdAt: at(n),
      ...stateOf(n),
    })),
  };
}
