import { HookproofError } from "../errors.js";
import { checkMaxAge } from "../jwks/answer.js";
import { generateKey, type KeyOptions, keyRecord } from "../jwks/generate.js";
import type { JWK, KeyLife, KeyRecord, KeyState } from "../jwks/key-record.js";
import type { KeyRecordSource } from "../jwks/key-set.js";
import { nextStepOf, type PlannedStep, stateAt, stepsOf } from "../jwks/life-cycle.js";
import {
  keyNamed,
  planRotation,
  type RotationOptions,
  type RotationPlan,
  removeKey,
  retireKey,
  rotationPlan,
  rotationsDue,
  rotationWaits,
} from "../jwks/rotation.js";
import type { Algorithm } from "../jwt/key.js";
import { type Clock, systemClock } from "../primitives/clock.js";
import { shownAs } from "../primitives/redact.js";
import { algorithmOf, type KeyMaterial, privateJwkOf, privatePem, publicPem } from "./key-material.js";
import { keyStoreFile, naming, type StoredKey, type StoredKeys } from "./key-store-file.js";
import { withFolderLock } from "./key-store-lock.js";
import { type SealedKey, type Sealing, sealing } from "./sealed-key.js";
import { checkStorableKid } from "./storable-kid.js";

/** Options of `openKeyStore`. */
export interface KeyStoreOptions {
  /**
   * Private keys are kept under this passphrase (scrypt, AES-256-GCM); serving the public set works without it. The
   * first use of a private key stretches it, which takes a third of a second and 128 MiB for a moment.
   */
  passphrase?: string | undefined;
  clock?: Clock | undefined;
}

/** A key as a list shows it; of a removed key only its names and times are left. */
export interface KeyStatus extends KeyLife {
  readonly state: KeyState;
  /** What happens to it next, and when; absent if nothing is planned. */
  readonly nextStep?: PlannedStep;
  readonly publicJwk?: JWK;
}

/** Keys on this machine's disk: one file, readable by its owner only, shared by any number of processes. */
export interface KeyStore extends KeyRecordSource {
  /** The next, active and retired keys. With a passphrase, reading `privateJwk` decrypts. */
  load(): Promise<readonly KeyRecord[]>;
  /** Every key there ever was, with its state and what happens next; no private members. */
  list(): Promise<readonly KeyStatus[]>;
  /** Generates a key and stores it. The first key of its algorithm is active at once, a later one is `next`. */
  generate(options: Pick<KeyOptions, "alg" | "kid">): Promise<KeyRecord>;
  /** Stores a key that was made elsewhere; `alg` is found from its kind, and a JWK's own kid is kept. */
  importKey(
    material: KeyMaterial,
    options?: { alg?: Algorithm; kid?: string; passphrase?: string },
  ): Promise<KeyRecord>;
  /** A key's half as text: a JWK, or PEM (SPKI; PKCS#8, encrypted if a passphrase is given). */
  exportKey(
    kid: string,
    options: { half: "public" | "private"; format: "jwk" | "pem"; passphrase?: string },
  ): Promise<string>;
  /**
   * Plans a rotation: the waiting key, or a new one, signs once it has been published long enough. The plan is
   * stored whole, and comes true by itself; asking again while it is under way gives the same plan.
   */
  rotate(alg: Algorithm, options?: RotationOptions): Promise<RotationPlan>;
  /** Rotates every algorithm whose key has signed for `everyMs`, and erases what was removed. For a host to call now and then. */
  rotateDue(everyMs: number, options?: RotationOptions): Promise<readonly RotationPlan[]>;
  /** Retires a key now. The active one only with `force`: nothing signs in its place then. */
  retire(kid: string, options?: { retireAfterMs?: number; force?: boolean }): Promise<void>;
  /** Takes a key out of the set and erases it. An active or retired one only with `force`: its tokens are refused then. */
  remove(kid: string, options?: { force?: boolean }): Promise<void>;
  /** How long the host lets receivers keep the set; rotations in every process wait for it. */
  setMaxAge(maxAgeSeconds: number): Promise<void>;
}

/**
 * Opens, or with the first key creates, a key store in a folder (0700) with one file (0600).
 *
 * States follow from times in the file and the clock, so a process that is killed leaves nothing half done, and
 * a rotation goes on with no process running. Processes that write take turns by a lock that outlives none of them.
 *
 * @throws {HookproofError} from its methods: KEY_STORE_EXPOSED, KEY_STORE_INVALID, KEY_STORE_NEWER,
 * KEY_STORE_UNREADABLE, KEY_STORE_BUSY, KEY_STORE_PASSPHRASE, with nothing overwritten; KEY_NOT_FOUND,
 * KEY_ID_REUSED, KEY_IN_USE, KEY_UNFIT for the keys themselves
 *
 * @example
 * ```ts
 * import { createKeySet } from "hookproof/jwks";
 * import { openKeyStore } from "hookproof/node";
 *
 * const store = openKeyStore("./keys");
 * const keySet = createKeySet(store);
 * ```
 */
export function openKeyStore(
  dir: string,
  { passphrase, clock = systemClock }: KeyStoreOptions = {},
): KeyStore {
  if (passphrase === "") throw new TypeError("passphrase must not be empty");
  const file = keyStoreFile(dir);
  const seals = passphrase === undefined ? undefined : sealing(passphrase);
  let loaded: { signature: string; from: number; until: number; records: readonly KeyRecord[] } | undefined;

  /** What the file says; a key without material is removed, even for a clock that is behind the one that erased it. */
  function read(now: number): StoredKeys {
    const { keys, ...rest } = file.read();
    const isAhead = (key: StoredKey) => key.publicJwk === undefined && (key.removesAt ?? 0) > now;
    return { ...rest, keys: keys.map((key) => (isAhead(key) ? { ...key, removesAt: now } : key)) };
  }

  function load(): readonly KeyRecord[] {
    const [signature, now] = [file.signature(), clock.now()];
    if (loaded?.signature === signature && loaded.from <= now && now < loaded.until) return loaded.records;
    const { keys } = read(now);
    const changes = keys.flatMap(stepsOf).map(({ at }) => at);
    const records = keys
      .map((key) => ({ key, state: stateAt(key, now) }))
      .filter(({ state }) => state !== "removed")
      .map(({ key, state }) => recordOf(key, state, seals));
    Object.freeze(records);
    loaded = { signature, from: now, until: Math.min(...changes.filter((at) => at > now)), records };
    return records;
  }

  /** Reads, changes and writes under the lock; what has been removed by now is erased on the way. */
  async function change(
    work: (stored: StoredKeys, now: number) => StoredKeys | undefined,
  ): Promise<StoredKeys> {
    await file.makeFolder();
    return naming(dir, () =>
      withFolderLock(dir, async (isHeld) => {
        const now = clock.now();
        const stored = read(now);
        const changed = withoutRemoved(work(stored, now) ?? stored, now);
        if (JSON.stringify(changed) !== JSON.stringify(stored)) await file.write(changed, isHeld);
        return changed;
      }),
    );
  }

  async function add(record: KeyRecord): Promise<KeyRecord> {
    const stored = await change(({ keys, ...rest }, now) => {
      checkPassphrase(keys, seals);
      if (keys.some(({ kid }) => kid === record.kid)) throw reused(record.kid);
      const key = storedKey(record, keys, seals);
      const isFirst = !keys.some(
        (one) =>
          one.alg === key.alg && one.signsAt !== undefined && (one.retiresAt ?? one.removesAt) === undefined,
      );
      return { ...rest, keys: [...keys, isFirst ? { ...key, signsAt: now } : key] };
    });
    const added = stored.keys.find(({ kid }) => kid === record.kid) as StoredKey;
    return recordOf(added, stateAt(added, clock.now()), seals);
  }

  async function rotate(alg: Algorithm, options: RotationOptions = {}): Promise<RotationPlan> {
    const { maxAgeSeconds, keys } = read(clock.now());
    rotationWaits(options, maxAgeSeconds);
    const waits = keys.some((key) => key.alg === alg && stateAt(key, clock.now()) === "next");
    // Made before the lock is taken, as RSA takes its time; if another process was quicker, it is not used.
    const fresh = waits ? undefined : await generateKey({ alg, state: "next", clock });
    const stored = await change(({ keys, maxAgeSeconds }, now) => {
      checkPassphrase(keys, seals);
      const timing = { ...options, now, maxAgeSeconds };
      const planned =
        planRotation(keys, alg, timing) ??
        (fresh && planRotation([...keys, storedKey(fresh, keys, seals)], alg, timing));
      return planned && { maxAgeSeconds, keys: planned };
    });
    // Another process may have taken the waiting key away in between: then there is a new one to be made.
    return rotationPlan(stored.keys, alg, clock.now()) ?? rotate(alg, options);
  }

  return {
    load: async () => load(),
    async list() {
      const now = clock.now();
      return read(now).keys.map((key) => statusOf(key, now));
    },
    generate: async ({ alg, kid }) => {
      checkStorableKid(kid);
      return add(await generateKey({ alg, kid, state: "next", clock }));
    },
    async importKey(material, { alg, kid, passphrase: opens } = {}) {
      const jwk = privateJwkOf(material, opens);
      const named = { alg: alg ?? algorithmOf(jwk), kid: kid ?? jwk.kid };
      checkStorableKid(named.kid);
      return add(await keyRecord(jwk, { ...named, state: "next", clock }));
    },
    async exportKey(kid, { half, format, passphrase: sealedBy }) {
      const { publicJwk, ...record } = keyNamedIn(load(), kid);
      if (half === "public") return format === "pem" ? publicPem(publicJwk) : jsonText(publicJwk);
      return format === "pem" ? privatePem(record.privateJwk, sealedBy) : jsonText(record.privateJwk);
    },
    rotate,
    async rotateDue(everyMs, options = {}) {
      const { keys, maxAgeSeconds } = read(clock.now());
      const { publishForMs } = rotationWaits(options, maxAgeSeconds);
      if (!(everyMs > publishForMs))
        throw new RangeError(
          `everyMs must be more than the ${publishForMs} ms a key is published before it signs`,
        );
      const plans: RotationPlan[] = [];
      for (const alg of rotationsDue(keys, everyMs - publishForMs, clock.now()))
        plans.push(await rotate(alg, options));
      if (plans.length === 0 && keys.some((key) => isToErase(key, clock.now())))
        await change(() => undefined);
      return plans;
    },
    async retire(kid, { retireAfterMs, force } = {}) {
      await change((stored, now) => ({
        ...stored,
        keys: retireKey(stored.keys, kid, { now, retireAfterMs, force: force ?? false }),
      }));
    },
    async remove(kid, { force = false } = {}) {
      await change((stored, now) => ({ ...stored, keys: removeKey(stored.keys, kid, { now, force }) }));
    },
    async setMaxAge(maxAgeSeconds) {
      checkMaxAge(maxAgeSeconds);
      await change((stored) => ({ ...stored, maxAgeSeconds }));
    },
  };

  function keyNamedIn(records: readonly KeyRecord[], kid: string): KeyRecord {
    return keyNamed(records, kid, clock.now());
  }
}

function statusOf(key: StoredKey, now: number): KeyStatus {
  const { kid, alg, createdAt, signsAt, retiresAt, removesAt, publicJwk } = key;
  const [state, nextStep] = [stateAt(key, now), nextStepOf(key, now)];
  return {
    ...{ kid, alg, state, createdAt, signsAt, retiresAt, removesAt },
    ...(nextStep ? { nextStep } : {}),
    ...(publicJwk && state !== "removed" ? { publicJwk } : {}),
  };
}

function storedKey(
  { state: _, ...record }: KeyRecord,
  keys: readonly StoredKey[],
  seals: Sealing | undefined,
): StoredKey {
  if (!seals) return record;
  const { privateJwk, ...rest } = record;
  const beside = keys.find(({ sealedPrivateKey }) => sealedPrivateKey !== undefined)?.sealedPrivateKey;
  return { ...rest, sealedPrivateKey: seals.seal(privateJwk, record.kid, beside) };
}

function recordOf(key: StoredKey, state: KeyState, seals: Sealing | undefined): KeyRecord {
  const { kid, alg, createdAt, signsAt, retiresAt, removesAt } = key;
  const publicJwk = key.publicJwk as JWK;
  const record = { kid, alg, state, createdAt, signsAt, retiresAt, removesAt, publicJwk };
  if (key.privateJwk) return { ...record, privateJwk: shownAs({ ...key.privateJwk }, "[redacted]") };
  let privateJwk: JWK | undefined;
  return {
    ...record,
    get privateJwk() {
      privateJwk ??= shownAs({ ...opened(key, seals), use: "sig", kid, alg }, "[redacted]");
      return privateJwk;
    },
  };
}

function opened({ kid, sealedPrivateKey }: StoredKey, seals: Sealing | undefined): JWK {
  if (!seals)
    throw new HookproofError(
      "KEY_STORE_PASSPHRASE",
      `The key ${JSON.stringify(kid)} is encrypted; the store's passphrase is needed.`,
    );
  try {
    return seals.open(sealedPrivateKey as SealedKey, kid);
  } catch {
    throw new HookproofError(
      "KEY_STORE_PASSPHRASE",
      `The key ${JSON.stringify(kid)} cannot be decrypted with this passphrase.`,
    );
  }
}

/** A store has one passphrase or none: a key under another one would be found out when it is to sign. */
function checkPassphrase(keys: readonly StoredKey[], seals: Sealing | undefined): void {
  const sealed = keys.find(({ sealedPrivateKey }) => sealedPrivateKey !== undefined);
  if (sealed) opened(sealed, seals);
  if (seals && keys.some(({ privateJwk }) => privateJwk !== undefined))
    throw new HookproofError(
      "KEY_STORE_PASSPHRASE",
      "The keys of this store are not encrypted; a passphrase is for a new store.",
    );
}

function isToErase(key: StoredKey, now: number): boolean {
  return key.publicJwk !== undefined && stateAt(key, now) === "removed";
}

function withoutRemoved(stored: StoredKeys, now: number): StoredKeys {
  const keys = stored.keys.map((key) => {
    if (!isToErase(key, now)) return key;
    const { publicJwk: _, privateJwk: __, sealedPrivateKey: ___, ...names } = key;
    return names;
  });
  return { maxAgeSeconds: stored.maxAgeSeconds, keys };
}

function reused(kid: string): HookproofError {
  return new HookproofError(
    "KEY_ID_REUSED",
    `The key id ${JSON.stringify(kid)} was used before; ids are never used twice.`,
  );
}

function jsonText(jwk: JWK): string {
  return `${JSON.stringify(jwk, null, 2)}\n`;
}
