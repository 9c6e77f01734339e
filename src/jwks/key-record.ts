import type { JWK } from "jose";
import type { Algorithm } from "../jwt/key.js";

export type { JWK };

/**
 * Where a key stands in its life: `next` is published and does not sign yet, `active` signs, `retired` is still
 * published because its last tokens may be under way, `removed` is gone from the set; its kid is never reused.
 */
export type KeyState = "next" | "active" | "retired" | "removed";

/**
 * The turning points of a key's life, in milliseconds since the epoch. A time ahead is a plan, and comes true
 * by itself: the state of a key is what these times say at the moment it is asked for.
 */
export interface KeyTimes {
  readonly createdAt: number;
  /** It signs from here on; without it the key waits to be rotated in. */
  readonly signsAt?: number | undefined;
  /** It signs no more from here on. */
  readonly retiresAt?: number | undefined;
  /** It is in the key set no more from here on. */
  readonly removesAt?: number | undefined;
}

/** A key by name, and its times: all that its life cycle turns on. */
export interface KeyLife extends KeyTimes {
  /** Date and part of the RFC 7638 thumbprint, such as `2026-01-01-kPrK_qmx`. */
  readonly kid: string;
  readonly alg: Algorithm;
}

/** A key of a key set, with its private half. `console.log` does not show the private members. */
export interface KeyRecord extends KeyLife {
  /** The state when the record was made or loaded. */
  readonly state: KeyState;
  /** What the key set shows: `kty`, `use`, `kid`, `alg` and the public members. */
  readonly publicJwk: JWK;
  readonly privateJwk: JWK;
}
