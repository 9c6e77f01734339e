import { HookproofError } from "../errors.js";
import type { Algorithm } from "../jwt/key.js";
import { MAX_TOKEN_LIFETIME_SECONDS } from "../protocol/limits.js";
import type { KeyLife } from "./key-record.js";
import { type PlannedStep, stateAt, stepsOf } from "./life-cycle.js";

/** How long receivers may keep a key set unless its host says otherwise, in seconds. */
export const DEFAULT_MAX_AGE_SECONDS = 300;

/** What a rotation waits beyond the key set's max-age before it signs: clocks, and caches that answer late. */
const WAIT_BEYOND_MAX_AGE_MS = 5 * 60_000;
const DEFAULT_PUBLISH_FOR_MS = 15 * 60_000;
const DEFAULT_RETIRE_AFTER_MS = 15 * 60_000;

/** How a rotation is timed. */
export interface RotationOptions {
  /**
   * How long a key is published before it signs, in milliseconds; 15 minutes by default, and never shorter than
   * the key set's max-age and 5 minutes, so that every receiver has fetched it by then.
   */
  publishForMs?: number | undefined;
  /**
   * How long the old key stays in the set after its last signature, in milliseconds; 15 minutes by default, and
   * never shorter than the 10 minutes a token may live.
   */
  retireAfterMs?: number | undefined;
  /** Sign with the new key at once and wait for nothing: for a key that has leaked. Receivers may answer 401 for a while. */
  immediately?: boolean | undefined;
}

/** What a rotation does to which key, and when. */
export interface RotationPlan {
  readonly alg: Algorithm;
  /** The key that signs after it. */
  readonly kid: string;
  /** In order of time, past ones included. */
  readonly steps: readonly PlannedStep[];
}

/** The waits of a rotation in milliseconds, held against what is safe. */
export function rotationWaits(
  { publishForMs, retireAfterMs, immediately = false }: RotationOptions,
  maxAgeSeconds: number,
): { publishForMs: number; retireAfterMs: number } {
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
 * The keys with a rotation planned into their times: the successor is the oldest key that waits, it signs once it
 * has been published long enough, and the old key retires at that very moment. A rotation under way is not
 * planned again; `immediately` brings it forward. `undefined`: there is no key that could sign next.
 *
 * @throws {RangeError} for waits that are too short
 *
 * @example
 * ```ts
 * import { planRotation } from "hookproof/jwks";
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
  options: RotationOptions & { now: number; maxAgeSeconds: number },
): Key[] | undefined {
  const { now, immediately = false } = options;
  const waits = rotationWaits(options, options.maxAgeSeconds);
  const own = keys.filter((key) => key.alg === alg);
  const waiting = own.filter((key) => stateAt(key, now) === "next");
  const planned = waiting.find(({ signsAt }) => signsAt !== undefined);
  if (planned && !immediately) return [...keys];
  const successor = planned ?? waiting[0];
  if (!successor) return undefined;
  const active = own.find((key) => stateAt(key, now) === "active");
  // Where nothing signs there is nothing to wait for: no other key could sign in the meantime.
  const signsAt = immediately || !active ? now : Math.max(now, successor.createdAt + waits.publishForMs);
  return keys.map((key) => {
    if (key === successor) return { ...key, signsAt };
    return key === active ? { ...key, retiresAt: signsAt, removesAt: signsAt + waits.retireAfterMs } : key;
  });
}

/**
 * The plan that stands in the keys' times for an algorithm: of the last rotation, past or under way.
 *
 * @example
 * ```ts
 * import { rotationPlan } from "hookproof/jwks";
 *
 * const keys = [
 *   { kid: "old", alg: "ES256" as const, createdAt: 0, signsAt: 0, retiresAt: 900_000, removesAt: 1_800_000 },
 *   { kid: "new", alg: "ES256" as const, createdAt: 0, signsAt: 900_000 },
 * ];
 * rotationPlan(keys, "ES256", 60_000)?.kid; // "new"
 * ```
 */
export function rotationPlan(
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

/** The algorithms whose active key has signed for longer than this, with no rotation under way. */
export function rotationsDue(keys: readonly KeyLife[], everyMs: number, now: number): Algorithm[] {
  return keys
    .filter(
      (key) =>
        stateAt(key, now) === "active" &&
        key.retiresAt === undefined &&
        (key.signsAt ?? now) + everyMs <= now,
    )
    .map(({ alg }) => alg);
}

/** The keys with one of them retired now: it signs no more, and leaves the set once its last tokens are over. */
export function retireKey<Key extends KeyLife>(
  keys: readonly Key[],
  kid: string,
  { now, retireAfterMs, force = false }: { now: number; retireAfterMs?: number | undefined; force?: boolean },
): Key[] {
  const key = keyNamed(keys, kid, now);
  const state = stateAt(key, now);
  if (state === "retired") return [...keys];
  if (state === "active" && !force) {
    throw new HookproofError(
      "KEY_IN_USE",
      `The key ${shownKid(kid)} signs for ${key.alg}; rotate, so that another one takes over.`,
    );
  }
  const { retireAfterMs: after } = rotationWaits({ retireAfterMs, immediately: true }, 0);
  const retired = {
    signsAt: state === "active" ? key.signsAt : undefined,
    retiresAt: now,
    removesAt: now + after,
  };
  return withoutRotationTo(key, keys, now).map((one) => (one.kid === kid ? { ...one, ...retired } : one));
}

/** The keys with one of them removed now: gone from the set, its kid kept so that it is never used again. */
export function removeKey<Key extends KeyLife>(
  keys: readonly Key[],
  kid: string,
  { now, force = false }: { now: number; force?: boolean },
): Key[] {
  const key = keyNamed(keys, kid, now);
  const state = stateAt(key, now);
  if (!force && state === "active")
    throw new HookproofError(
      "KEY_IN_USE",
      `The key ${shownKid(kid)} signs for ${key.alg}; rotate, so that another one takes over.`,
    );
  if (!force && state === "retired") {
    const until = new Date(key.removesAt ?? now).toISOString();
    throw new HookproofError(
      "KEY_IN_USE",
      `Tokens of the key ${shownKid(kid)} may be under way; it leaves the set at ${until} by itself.`,
    );
  }
  return withoutRotationTo(key, keys, now).map((one) => (one.kid === kid ? { ...one, removesAt: now } : one));
}

/** Takes back the plan by which a key would sign next, or the active one would retire with nobody to follow. */
function withoutRotationTo<Key extends KeyLife>(key: Key, keys: readonly Key[], now: number): Key[] {
  if (key.signsAt === undefined || key.signsAt <= now) return [...keys];
  return keys.map((one) => {
    if (one === key) return { ...one, signsAt: undefined };
    const handsOver = one.alg === key.alg && one.retiresAt === key.signsAt;
    return handsOver ? { ...one, retiresAt: undefined, removesAt: undefined } : one;
  });
}

/** The key with an id, if it is not removed. */
export function keyNamed<Key extends KeyLife>(keys: readonly Key[], kid: string, now: number): Key {
  const key = keys.find((one) => one.kid === kid && stateAt(one, now) !== "removed");
  if (!key) throw new HookproofError("KEY_NOT_FOUND", `There is no key with the kid ${shownKid(kid)}.`);
  return key;
}

function shownKid(kid: string): string {
  return JSON.stringify(kid.slice(0, 80));
}
