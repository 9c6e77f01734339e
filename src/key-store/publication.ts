// What a key store remembers of the host of its key set.
import { HookproofError } from "../core/errors.js";
import {
  type KeyLife,
  stateAt,
  stepsOf,
  WAIT_BEYOND_MAX_AGE_MS,
  withoutRotationTo,
} from "../jwks/life-cycle.js";
import { planRotation, type RotationOptions, type RotationPlan } from "../jwks/rotation.js";
import type { Algorithm } from "../jwt/algorithms.js";
import type { StoredKey, StoredKeys } from "./stored-key.js";

/** The waits of a rotation whose new key was seen at its host. */
interface ConfirmOptions extends Pick<RotationOptions, "publishForMs" | "retireAfterMs"> {
  /** How long others may keep an older set, in seconds. */
  keptForSeconds: number;
}

/** What `publishKeySet` keeps in a key store: where the set is proved, and which rotations wait for that. */
export interface KeyPublication {
  /**
   * From now on no key of the store is rotated in before it is proved at this URL; rotations that are planned without
   * a proof are taken back. Rejects with KEY_STORE_PUBLISHED if the store is published at another URL.
   */
  begin(url: string, maxAgeSeconds: number): Promise<void>;
  /**
   * The set was seen at its URL with these keys: plans the rotations that waited for it, and gives the new plans.
   * `undefined`, and nothing is changed, if a key that is going to sign is not among them: another process has planned
   * it since, and the set of this one may have replaced the set with that key.
   */
  confirm(kids: readonly string[], options: ConfirmOptions): Promise<readonly RotationPlan[] | undefined>;
  /** The set was not seen: takes back the rotations that have not taken effect yet. The kids that wait again. */
  takeBack(): Promise<readonly string[]>;
  /** Rotations are planned without a proof again. What is planned stays planned. */
  end(): Promise<void>;
}

/** The content of a store whose set is proved at a URL from now on. */
export function publishedStore(
  stored: StoredKeys,
  url: string,
  maxAgeSeconds: number,
  now: number,
): StoredKeys {
  const { publishedTo } = stored;
  if (publishedTo !== undefined && publishedTo !== url)
    throw new HookproofError("KEY_STORE_PUBLISHED", `The store's key set is published at ${publishedTo}.`);
  const begun = publishedTo === undefined ? withoutPlans(stored, now) : stored;
  return { ...begun, publishedTo: url, maxAgeSeconds };
}

/** The content of a store that asks for no proof any more. */
export function releasedStore({ publishedTo: _, ...stored }: StoredKeys): StoredKeys {
  return { ...stored, keys: stored.keys.map(({ askedAt: _, ...key }) => key) };
}

/** The content after a rotation was asked for; `undefined` if there is no key to rotate in. */
export function askedStore(stored: StoredKeys, alg: Algorithm, now: number): StoredKeys | undefined {
  const waiting = stored.keys.filter((key) => key.alg === alg && stateAt(key, now) === "next");
  if (waiting.some(({ askedAt }) => askedAt !== undefined)) return stored;
  const [successor] = waiting;
  return (
    successor && {
      ...stored,
      keys: stored.keys.map((key) => (key === successor ? { ...key, askedAt: now } : key)),
    }
  );
}

/** The rotation of an algorithm that waits for its proof. */
export function askedRotation(
  keys: readonly (KeyLife & { askedAt?: number })[],
  alg: Algorithm,
  now: number,
): RotationPlan | undefined {
  const asked = keys.find((key) => key.alg === alg && isAsked(key, now));
  return asked && { alg, kid: asked.kid, steps: stepsOf(asked) };
}

/**
 * The content after the set was seen with these keys: what waited for it is planned, with waits that begin now.
 * `undefined` if they lack one that is going to sign.
 */
export function confirmedStore(
  stored: StoredKeys,
  kids: readonly string[],
  { keptForSeconds, publishForMs, retireAfterMs }: ConfirmOptions,
  now: number,
): { stored: StoredKeys; planned: readonly Algorithm[] } | undefined {
  if (stored.keys.some((key) => isPlanned(key, now) && !kids.includes(key.kid))) return undefined;
  const maxAgeSeconds = Math.max(stored.maxAgeSeconds, keptForSeconds);
  const shortest = maxAgeSeconds * 1000 + WAIT_BEYOND_MAX_AGE_MS;
  const waits = {
    publishForMs: publishForMs === undefined ? undefined : Math.max(publishForMs, shortest),
    retireAfterMs,
  };
  const planned: Algorithm[] = [];
  let keys: readonly StoredKey[] = stored.keys;
  for (const { kid, alg } of stored.keys.filter((key) => isAsked(key, now))) {
    const own = keys.filter((key) => key.alg === alg);
    if (own.some((key) => key.signsAt !== undefined && stateAt(key, now) === "next")) continue; // one after the other
    const signing = own.filter((key) => stateAt(key, now) === "active").map((key) => key.kid);
    // What signs now has to be in the set that was seen too, as its tokens are under way.
    if (![kid, ...signing].every((one) => kids.includes(one))) continue;
    const concerned = own.filter((key) => key.kid === kid || stateAt(key, now) !== "next");
    const timing = { ...waits, now, maxAgeSeconds, publishedAt: now };
    const changed = new Map(planRotation(concerned, alg, timing)?.map((key) => [key.kid, key]));
    keys = keys.map((key) => changed.get(key.kid) ?? key);
    planned.push(alg);
  }
  return { stored: { ...stored, keys }, planned };
}

/** The content without the rotations that have not taken effect yet: they wait for a proof. */
export function withoutPlans(stored: StoredKeys, now: number): StoredKeys {
  const planned = stored.keys.filter((key) => isPlanned(key, now));
  let keys: readonly StoredKey[] = stored.keys;
  for (const { kid } of planned) {
    const key = keys.find((one) => one.kid === kid) as StoredKey;
    keys = withoutRotationTo(key, keys, now).map((one) =>
      one.kid === kid ? { ...one, askedAt: one.askedAt ?? now } : one,
    );
  }
  return { ...stored, keys };
}

function isPlanned(key: KeyLife, now: number): boolean {
  return key.signsAt !== undefined && stateAt(key, now) === "next" && key.retiresAt === undefined;
}

function isAsked(key: KeyLife & { askedAt?: number }, now: number): boolean {
  return key.askedAt !== undefined && key.signsAt === undefined && stateAt(key, now) === "next";
}
