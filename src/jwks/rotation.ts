/**
 * The life of a key and its rotation as functions of times, for keys that are kept elsewhere than in a key store.
 *
 * @packageDocumentation
 */

import { checkOptions, type OptionNames } from "../core/options.js";
import { MAX_TOKEN_LIFETIME_SECONDS } from "../core/protocol.js";
import type { Algorithm } from "../jwt/algorithms.js";
import { type KeyLife, type PlannedStep, stateAt, stepsOf, WAIT_BEYOND_MAX_AGE_MS } from "./life-cycle.js";

export { nextStep, type PlannedStep, stateAt } from "./life-cycle.js";

const DEFAULT_PUBLISH_FOR_MS = 15 * 60_000;
const DEFAULT_RETIRE_AFTER_MS = 15 * 60_000;

/** The waits of a rotation. */
export interface RotationOptions {
  /**
   * How long the new key is published before it signs, in milliseconds; 15 minutes by default. At least the key
   * set's max-age and 5 minutes, so that every listener has fetched it by then.
   */
  publishForMs?: number | undefined;
  /**
   * How long the old key stays in the set after its last signature, in milliseconds; 15 minutes by default. At least
   * the 10 minutes that a token may live.
   */
  retireAfterMs?: number | undefined;
  /** The new key signs at once: for a key that has leaked. Listeners may answer 401 until they fetch the set again. */
  immediately?: boolean | undefined;
}

const WAITS: OptionNames<RotationOptions> = {
  publishForMs: "number",
  retireAfterMs: "number",
  immediately: "boolean",
};

/**
 * What a rotation does to each of its two keys, and when. While it waits for the proof that `publishKeySet` gives, it
 * has no step but `publish`.
 */
export interface RotationPlan {
  /** The algorithm whose key is rotated. */
  readonly alg: Algorithm;
  /** The id of the new key. */
  readonly kid: string;
  /** The steps of both keys in order of time, past ones included. */
  readonly steps: readonly PlannedStep[];
}

/**
 * The waits of a rotation in milliseconds, with the defaults filled in.
 *
 * @throws {RangeError} for a wait that is too short to be safe
 *
 * @example
 * ```ts
 * import { rotationWaits } from "hookproof/jwks/rotation";
 *
 * rotationWaits({}, 300); // { publishForMs: 900000, retireAfterMs: 900000 }
 * ```
 */
export function rotationWaits(
  options: RotationOptions,
  maxAgeSeconds: number,
): { publishForMs: number; retireAfterMs: number } {
  checkOptions("rotationWaits", options, WAITS);
  const { publishForMs, retireAfterMs, immediately = false } = options;
  const shortest = maxAgeSeconds * 1000 + WAIT_BEYOND_MAX_AGE_MS;
  const publish = immediately ? 0 : (publishForMs ?? Math.max(DEFAULT_PUBLISH_FOR_MS, shortest));
  const retire = retireAfterMs ?? DEFAULT_RETIRE_AFTER_MS;
  if (!immediately && !(Number.isFinite(publish) && publish >= shortest)) {
    throw new RangeError(
      `publishForMs must be at least ${shortest}: the key set's max-age of ${maxAgeSeconds} s and 5 minutes`,
    );
  }
  if (!(Number.isFinite(retire) && retire >= MAX_TOKEN_LIFETIME_SECONDS * 1000)) {
    throw new RangeError(
      `retireAfterMs must be at least ${MAX_TOKEN_LIFETIME_SECONDS * 1000}: a token may live that long`,
    );
  }
  return { publishForMs: publish, retireAfterMs: retire };
}

/**
 * Plans a rotation for one algorithm: returns the keys with their new times.
 *
 * The successor is the oldest key in the state `next`. It signs as soon as it has been published for `publishForMs`;
 * the active key retires at the same moment and leaves the set `retireAfterMs` later. If a rotation is already
 * planned, the keys come back unchanged; `immediately` brings it forward. `undefined`: no key can be the successor.
 *
 * @param options.now milliseconds since the epoch
 * @param options.maxAgeSeconds how long the host lets listeners keep the set
 * @param options.publishedAt when the host was seen to show the set with the new key, in milliseconds since the epoch;
 * without it, the new key counts as published since it was made
 * @throws {RangeError} for waits that are too short
 *
 * @example
 * ```ts
 * import { planRotation } from "hookproof/jwks/rotation";
 *
 * const keys = [
 *   { kid: "old", alg: "ES256" as const, createdAt: 0, signsAt: 0 },
 *   { kid: "new", alg: "ES256" as const, createdAt: 0 },
 * ];
 * planRotation(keys, "ES256", { now: 60_000, maxAgeSeconds: 300 })?.[1]?.signsAt; // 900000
 * ```
 */
export function planRotation<Key extends KeyLife>(
  keys: readonly Key[],
  alg: Algorithm,
  options: RotationOptions & {
    /** The time, in milliseconds since the epoch. */
    now: number;
    /** How long the host lets listeners keep the set, in seconds. */
    maxAgeSeconds: number;
    /** When the host was seen to show the new key, in milliseconds since the epoch; since it was made by default. */
    publishedAt?: number | undefined;
  },
): Key[] | undefined {
  checkOptions("planRotation", options, {
    ...WAITS,
    now: "number",
    maxAgeSeconds: "number",
    publishedAt: "number",
  });
  const { now, immediately = false, publishedAt } = options;
  const { publishForMs, retireAfterMs } = options;
  const waits = rotationWaits({ publishForMs, retireAfterMs, immediately }, options.maxAgeSeconds);
  const own = keys.filter((key) => key.alg === alg);
  const waiting = own.filter((key) => stateAt(key, now) === "next");
  const planned = waiting.find(({ signsAt }) => signsAt !== undefined);
  if (planned && !immediately) return [...keys];
  const successor = planned ?? waiting[0];
  if (!successor) return undefined;
  const active = own.find((key) => stateAt(key, now) === "active");
  // Without an active key nothing signs in the meantime, so waiting would only prolong the gap. Where a proof is asked
  // for, a signature before it would be refused.
  const isAtOnce = immediately || (!active && publishedAt === undefined);
  const signsAt = isAtOnce ? now : Math.max(now, (publishedAt ?? successor.createdAt) + waits.publishForMs);
  return keys.map((key) => {
    if (key === successor) return { ...key, signsAt };
    return key === active ? { ...key, retiresAt: signsAt, removesAt: signsAt + waits.retireAfterMs } : key;
  });
}

/**
 * The last rotation of an algorithm, planned, under way or past, as the times of the keys tell it; `undefined` if no
 * key signs or will sign.
 *
 * @param now milliseconds since the epoch
 *
 * @example
 * ```ts
 * import { currentRotation } from "hookproof/jwks/rotation";
 *
 * const keys = [
 *   { kid: "old", alg: "ES256" as const, createdAt: 0, signsAt: 0, retiresAt: 900_000, removesAt: 1_800_000 },
 *   { kid: "new", alg: "ES256" as const, createdAt: 0, signsAt: 900_000 },
 * ];
 * currentRotation(keys, "ES256", 60_000)?.kid; // "new"
 * ```
 */
export function currentRotation(
  keys: readonly KeyLife[],
  alg: Algorithm,
  now: number,
): RotationPlan | undefined {
  const own = keys.filter((key) => key.alg === alg);
  const signing = own.filter(
    (key) => key.signsAt !== undefined && ["next", "active"].includes(stateAt(key, now)),
  );
  const successor = signing.sort((a, b) => (a.signsAt as number) - (b.signsAt as number)).at(-1);
  if (!successor) return undefined;
  const handingOver = own.filter((key) => key !== successor && key.retiresAt === successor.signsAt);
  const steps = [
    ...stepsOf(successor),
    ...handingOver.flatMap(stepsOf).filter(({ step }) => step === "retire" || step === "remove"),
  ];
  return { alg, kid: successor.kid, steps: steps.sort((a, b) => a.at - b.at) };
}

/**
 * The algorithms whose active key has signed for `everyMs`, and for which no rotation is planned.
 *
 * @param now milliseconds since the epoch
 *
 * @example
 * ```ts
 * import { dueRotations } from "hookproof/jwks/rotation";
 *
 * dueRotations([{ kid: "k1", alg: "ES256", createdAt: 0, signsAt: 0 }], 60_000, 60_000); // ["ES256"]
 * ```
 */
export function dueRotations(keys: readonly KeyLife[], everyMs: number, now: number): Algorithm[] {
  return keys
    .filter(
      (key) =>
        stateAt(key, now) === "active" &&
        key.retiresAt === undefined &&
        (key.signsAt ?? now) + everyMs <= now,
    )
    .map(({ alg }) => alg);
}
