// The states of a key, all worked out from its times.
import { HookproofError } from "../core/errors.js";
import type { Algorithm } from "../jwt/algorithms.js";

/**
 * The state of a key:
 *
 * - `next`: published, does not sign yet
 * - `active`: published, signs
 * - `retired`: published because its last tokens may still be valid, does not sign any more
 * - `removed`: not in the key set any more; its kid is never used again
 */
export type KeyState = "next" | "active" | "retired" | "removed";

/**
 * The times of a key, in milliseconds since the epoch. Its state follows from them and the clock: a time in the
 * future is a plan, which takes effect without a running process.
 */
export interface KeyTimes {
  /** When the key was made; it is published from then on. */
  readonly createdAt: number;
  /** When it begins to sign; absent while no rotation to it is planned. */
  readonly signsAt?: number | undefined;
  /** When it stops signing. */
  readonly retiresAt?: number | undefined;
  /** When it leaves the key set. */
  readonly removesAt?: number | undefined;
}

/** The id, the algorithm and the times of a key: all that its life cycle needs. */
export interface KeyLife extends KeyTimes {
  /** The key's id; by default its date and a part of its RFC 7638 thumbprint, such as `2026-01-01-kPrK_qmx`. */
  readonly kid: string;
  /** The algorithm the key signs with. */
  readonly alg: Algorithm;
}

/** How long listeners may keep a key set unless its host says otherwise, in seconds. */
export const DEFAULT_MAX_AGE_SECONDS = 300;

/** Added to the key set's max-age before a new key signs: for clocks that differ, and caches that refresh late. */
export const WAIT_BEYOND_MAX_AGE_MS = 5 * 60_000;

/** A step in the life of a key, and when it happens. */
export interface PlannedStep {
  /** What happens to it: it is published, begins to sign, stops signing, leaves the key set. */
  readonly step: "publish" | "sign" | "retire" | "remove";
  /** The key's id. */
  readonly kid: string;
  /** When, in milliseconds since the epoch. */
  readonly at: number;
}

/**
 * The state of a key at a moment.
 *
 * @param now milliseconds since the epoch
 *
 * @example
 * ```ts
 * import { stateAt } from "hookproof/jwks/rotation";
 *
 * stateAt({ createdAt: 0, signsAt: 900_000 }, 60_000); // "next"
 * ```
 */
export function stateAt({ signsAt, retiresAt, removesAt }: KeyTimes, now: number): KeyState {
  if (removesAt !== undefined && removesAt <= now) return "removed";
  if (retiresAt !== undefined && retiresAt <= now) return "retired";
  return signsAt !== undefined && signsAt <= now ? "active" : "next";
}

/**
 * The next step in the life of a key; `undefined` if nothing is planned.
 *
 * @param now milliseconds since the epoch
 *
 * @example
 * ```ts
 * import { nextStep } from "hookproof/jwks/rotation";
 *
 * nextStep({ kid: "k1", alg: "ES256", createdAt: 0, signsAt: 900_000 }, 0); // { step: "sign", kid: "k1", at: 900000 }
 * ```
 */
export function nextStep(key: KeyLife, now: number): PlannedStep | undefined {
  return stepsOf(key).find(({ at }) => at > now);
}

/** Every step in the life of a key, past and planned, in order of time. */
export function stepsOf({ kid, createdAt, signsAt, retiresAt, removesAt }: KeyLife): PlannedStep[] {
  const steps: [PlannedStep["step"], number | undefined][] = [
    ["publish", createdAt],
    ["sign", signsAt],
    ["retire", retiresAt],
    ["remove", removesAt],
  ];
  return steps.flatMap(([step, at]) => (at === undefined ? [] : [{ step, kid, at }]));
}

/** The times of a new key that is in this state from the beginning. */
export function timesOf(state: KeyState, createdAt: number): KeyTimes {
  const reached = ["next", "active", "retired", "removed"].indexOf(state);
  return {
    createdAt,
    ...(reached >= 1 ? { signsAt: createdAt } : {}),
    ...(reached >= 2 ? { retiresAt: createdAt } : {}),
    ...(reached >= 3 ? { removesAt: createdAt } : {}),
  };
}

/** Why keys cannot be one key set: a kid that occurs twice, or two keys that sign at the same time. */
export function lifeCycleFault(keys: readonly KeyLife[]): string | undefined {
  const kids = new Set<string>();
  for (const { kid } of keys) {
    if (kids.has(kid)) return `the kid ${JSON.stringify(kid)} twice`;
    kids.add(kid);
  }
  const clash = keys.find((key, index) => keys.slice(index + 1).some((other) => signTogether(key, other)));
  return clash && `two keys for ${clash.alg} that sign at the same time`;
}

function signTogether(a: KeyLife, b: KeyLife): boolean {
  if (a.alg !== b.alg) return false;
  const [[fromA, toA], [fromB, toB]] = [signingTime(a), signingTime(b)];
  return Math.max(fromA, fromB) < Math.min(toA, toB);
}

function signingTime({ signsAt, retiresAt, removesAt }: KeyTimes): [from: number, to: number] {
  const never = Number.POSITIVE_INFINITY;
  return [signsAt ?? never, Math.min(retiresAt ?? never, removesAt ?? never)];
}

/**
 * The keys after one of them was retired now: it stops signing, and leaves the set after `retireAfterMs`.
 *
 * @throws {HookproofError} KEY_NOT_FOUND; KEY_IN_USE for the active key without `force`
 */
export function retireKey<Key extends KeyLife>(
  keys: readonly Key[],
  kid: string,
  { now, retireAfterMs, force }: { now: number; retireAfterMs: number; force: boolean },
): Key[] {
  const key = keyNamed(keys, kid, now);
  const state = stateAt(key, now);
  if (state === "retired") return [...keys];
  if (state === "active" && !force) throw signing(key);
  const retired = {
    signsAt: state === "active" ? key.signsAt : undefined,
    retiresAt: now,
    removesAt: now + retireAfterMs,
  };
  return withoutRotationTo(key, keys, now).map((one) => (one.kid === kid ? { ...one, ...retired } : one));
}

/**
 * The keys after one of them was removed now: it leaves the set. Its kid stays, so that it is never used again.
 *
 * @throws {HookproofError} KEY_NOT_FOUND; KEY_IN_USE for an active or a retired key without `force`
 */
export function removeKey<Key extends KeyLife>(
  keys: readonly Key[],
  kid: string,
  { now, force }: { now: number; force: boolean },
): Key[] {
  const key = keyNamed(keys, kid, now);
  const state = stateAt(key, now);
  if (!force && state === "active") throw signing(key);
  if (!force && state === "retired") {
    const until = new Date(key.removesAt ?? now).toISOString();
    throw new HookproofError(
      "KEY_IN_USE",
      `Tokens of the key ${shownKid(kid)} may be under way; it leaves the set at ${until} by itself.`,
    );
  }
  return withoutRotationTo(key, keys, now).map((one) => (one.kid === kid ? { ...one, removesAt: now } : one));
}

function signing({ kid, alg }: KeyLife): HookproofError {
  return new HookproofError(
    "KEY_IN_USE",
    `The key ${shownKid(kid)} signs for ${alg}; rotate, so that another one takes over.`,
  );
}

/** Cancels a planned rotation to a key. Otherwise the active key would retire, and no key would sign after it. */
export function withoutRotationTo<Key extends KeyLife>(key: Key, keys: readonly Key[], now: number): Key[] {
  if (key.signsAt === undefined || key.signsAt <= now) return [...keys];
  return keys.map((one) => {
    if (one === key) return { ...one, signsAt: undefined };
    // One that was removed meanwhile stays so: its key is erased.
    const handsOver = one.alg === key.alg && one.retiresAt === key.signsAt && stateAt(one, now) !== "removed";
    return handsOver ? { ...one, retiresAt: undefined, removesAt: undefined } : one;
  });
}

/** The key with an id, unless it is removed. */
export function keyNamed<Key extends KeyLife>(keys: readonly Key[], kid: string, now: number): Key {
  const key = keys.find((one) => one.kid === kid && stateAt(one, now) !== "removed");
  if (!key) throw new HookproofError("KEY_NOT_FOUND", `There is no key with the kid ${shownKid(kid)}.`);
  return key;
}

function shownKid(kid: string): string {
  return JSON.stringify(kid.slice(0, 80));
}
