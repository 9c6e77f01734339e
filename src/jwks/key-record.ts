import type { JWK } from "jose";
import type { Algorithm } from "../jwt/key.js";

/**
 * Where a key stands in its life: `next` is published and does not sign yet, `active` signs, `retired` is still
 * published because its last tokens may be under way, `removed` is gone from the set; its kid is never reused.
 */
export type KeyState = "next" | "active" | "retired" | "removed";

/** A key of a key set, with its private half. `console.log` does not show the private members. */
export interface KeyRecord {
  /** Date and part of the RFC 7638 thumbprint, such as `2026-01-01-kPrK_qmx`. */
  readonly kid: string;
  readonly alg: Algorithm;
  readonly state: KeyState;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** What the key set shows: `kty`, `use`, `kid`, `alg` and the public members. */
  readonly publicJwk: JWK;
  readonly privateJwk: JWK;
}
