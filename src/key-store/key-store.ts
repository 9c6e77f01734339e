// Keys on this machine's disk: made, rotated, retired.
import { type Clock, systemClock } from "../core/clock.js";
import { HookproofError } from "../core/errors.js";
import { checkOptions, type OptionNames } from "../core/options.js";
import { checkMaxAge } from "../jwks/host.js";
import {
  generateKey,
  importKey,
  type KeyOptions,
  type KeyRecord,
  type KeyRecordSource,
} from "../jwks/key-set.js";
import {
  type KeyLife,
  type KeyState,
  keyNamed,
  nextStep,
  type PlannedStep,
  removeKey,
  retireKey,
  stateAt,
  stepsOf,
} from "../jwks/life-cycle.js";
import {
  currentRotation,
  dueRotations,
  planRotation,
  type RotationOptions,
  type RotationPlan,
  rotationWaits,
} from "../jwks/rotation.js";
import type { Algorithm } from "../jwt/algorithms.js";
import type { JWK } from "../jwt/key.js";
import { type KeyStoreFile, keyStoreFile, withPath } from "./file.js";
import { withFolderLock } from "./lock.js";
import {
  checkedAlgorithmOf,
  checkStorableKid,
  type KeyMaterial,
  privateJwkOf,
  privatePem,
  publicPem,
} from "./material.js";
import {
  askedRotation,
  askedStore,
  confirmedStore,
  type KeyPublication,
  publishedStore,
  releasedStore,
  withoutPlans,
} from "./publication.js";
import {
  checkPassphrase,
  createSealing,
  isToErase,
  recordOf,
  type Sealing,
  type StoredKey,
  type StoredKeys,
  storedKey,
  withoutRemoved,
} from "./stored-key.js";

/** Options of `openKeyStore`. */
export interface KeyStoreOptions {
  /**
   * Encrypts the private keys (scrypt, AES-256-GCM). The public set can be served without it. The first use of a
   * private key takes about a third of a second and 128 MiB of memory, to derive the encryption key.
   */
  passphrase?: string | undefined;
  /** The clock that decides the states of the keys; the system's by default. */
  clock?: Clock | undefined;
}

/** A key as `list` shows it. A removed key has only its id, its algorithm and its times. */
export interface KeyStatus extends KeyLife {
  /** The state at this moment. */
  readonly state: KeyState;
  /** What happens to the key next, and when; absent if nothing is planned. */
  readonly nextStep?: PlannedStep;
  /** When it was asked to sign as soon as `publishKeySet` has seen it at its host; absent otherwise. */
  readonly askedAt?: number;
  /** What the key set publishes of the key. */
  readonly publicJwk?: JWK;
}

/** Keys on this machine's disk: one file, readable by its owner only, shared by any number of processes. */
export interface KeyStore extends KeyRecordSource {
  /** The next, active and retired keys. With a passphrase, reading `privateJwk` decrypts it. */
  load(): Promise<readonly KeyRecord[]>;
  /** All keys, also removed ones, with their states and next steps; no private members. */
  list(): Promise<readonly KeyStatus[]>;
  /** Generates a key and stores it. The first key of its algorithm is active at once, a later one is `next`. */
  generate(options: Pick<KeyOptions, "alg" | "kid">): Promise<KeyRecord>;
  /**
   * Stores a key that was generated elsewhere. `alg` follows from the kind of the key; a JWK keeps its own kid.
   * `passphrase` is the one of an encrypted PEM.
   */
  importKey(
    material: KeyMaterial,
    options?: { alg?: Algorithm; kid?: string; passphrase?: string },
  ): Promise<KeyRecord>;
  /** One half of a key as text: a JWK, or PEM (SPKI; PKCS#8, encrypted if you give a passphrase). */
  exportKey(
    kid: string,
    options: { half: "public" | "private"; format: "jwk" | "pem"; passphrase?: string },
  ): Promise<string>;
  /**
   * Plans a rotation: the waiting key, or a new one, signs as soon as it has been published long enough. The whole
   * plan is stored at once and takes effect without a running process. While a rotation is planned, another call
   * returns the same plan. In a store that `publishKeySet` publishes, the plan waits for its proof.
   */
  rotate(alg: Algorithm, options?: RotationOptions): Promise<RotationPlan>;
  /**
   * Rotates every algorithm whose key has signed for `everyMs`, and erases removed keys. Call it from time to time,
   * for instance every hour.
   */
  rotateDue(everyMs: number, options?: RotationOptions): Promise<readonly RotationPlan[]>;
  /** Retires a key now. The active key needs `force`, as no key signs after it. */
  retire(kid: string, options?: { retireAfterMs?: number; force?: boolean }): Promise<void>;
  /** Removes a key from the set and erases it. An active or retired key needs `force`: its tokens are refused then. */
  remove(kid: string, options?: { force?: boolean }): Promise<void>;
  /** Stores how long the host lets listeners keep the set, in seconds; rotations in every process wait for it. */
  setMaxAge(maxAgeSeconds: number): Promise<void>;
  /** What `publishKeySet` keeps in the store. */
  readonly publication: KeyPublication;
}

/**
 * Opens the key store in a folder (0700, with one file, 0600). The first key creates them.
 *
 * The states of the keys follow from the times in the file and the clock: a killed process leaves no half-finished
 * work, and a planned rotation takes effect without a running process. Processes that write wait for each other; the
 * lock of a crashed process is released by itself.
 *
 * @throws {TypeError} for an empty passphrase
 * @throws {HookproofError} The methods reject with KEY_STORE_EXPOSED, KEY_STORE_INVALID, KEY_STORE_NEWER,
 * KEY_STORE_UNREADABLE, KEY_STORE_BUSY or KEY_STORE_PASSPHRASE, and nothing is overwritten; with KEY_NOT_FOUND,
 * KEY_ID_REUSED, KEY_IN_USE or KEY_UNFIT because of a key
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
export function openKeyStore(dir: string, options: KeyStoreOptions = {}): KeyStore {
  checkOptions("openKeyStore", options, {
    passphrase: "string",
    clock: ".now",
  } satisfies OptionNames<KeyStoreOptions>);
  if (typeof dir !== "string" || dir === "") throw new TypeError("dir must be the name of a folder");
  return new FolderKeyStore(dir, options);
}

class FolderKeyStore implements KeyStore {
  readonly #dir: string;
  readonly #clock: Clock;
  readonly #file: KeyStoreFile;
  readonly #seals: Sealing | undefined;
  #loaded: { signature: string; from: number; until: number; records: readonly KeyRecord[] } | undefined;

  constructor(dir: string, { passphrase, clock = systemClock }: KeyStoreOptions) {
    if (passphrase === "") throw new TypeError("passphrase must not be empty");
    this.#dir = dir;
    this.#clock = clock;
    this.#file = keyStoreFile(dir);
    this.#seals = passphrase === undefined ? undefined : createSealing(passphrase);
  }

  async load(): Promise<readonly KeyRecord[]> {
    const [signature, now] = [this.#file.signature(), this.#clock.now()];
    const last = this.#loaded;
    if (last?.signature === signature && last.from <= now && now < last.until) return last.records;
    const { keys } = this.#read(now);
    const changes = keys.flatMap(stepsOf).map(({ at }) => at);
    const records = keys
      .map((key) => ({ key, state: stateAt(key, now) }))
      .filter(({ state }) => state !== "removed")
      .map(({ key, state }) => recordOf(key, state, this.#seals));
    Object.freeze(records);
    this.#loaded = { signature, from: now, until: Math.min(...changes.filter((at) => at > now)), records };
    return records;
  }

  async list(): Promise<readonly KeyStatus[]> {
    const now = this.#clock.now();
    return this.#read(now).keys.map((key) => statusOf(key, now));
  }

  async generate(options: Pick<KeyOptions, "alg" | "kid">): Promise<KeyRecord> {
    checkOptions("generate", options, { alg: 1, kid: 1 });
    const { alg, kid } = options;
    checkStorableKid(kid);
    return this.#add(await generateKey({ alg, kid, state: "next", clock: this.#clock }));
  }

  async importKey(
    material: KeyMaterial,
    options: { alg?: Algorithm; kid?: string; passphrase?: string } = {},
  ): Promise<KeyRecord> {
    checkOptions("importKey", options, { alg: 1, kid: 1, passphrase: "string" });
    const { alg, kid, passphrase } = options;
    const jwk = privateJwkOf(material, passphrase);
    const named = { alg: alg ?? checkedAlgorithmOf(jwk), kid: kid ?? jwk.kid };
    checkStorableKid(named.kid);
    return this.#add(await importKey(jwk, { ...named, state: "next", clock: this.#clock }));
  }

  async exportKey(
    kid: string,
    options: { half: "public" | "private"; format: "jwk" | "pem"; passphrase?: string },
  ): Promise<string> {
    checkOptions("exportKey", options, { half: 1, format: 1, passphrase: "string" });
    const record = keyNamed(await this.load(), kid, this.#clock.now());
    const isPem = options.format === "pem";
    if (options.half === "public") return isPem ? publicPem(record.publicJwk) : jsonText(record.publicJwk);
    return isPem ? privatePem(record.privateJwk, options.passphrase) : jsonText(record.privateJwk);
  }

  async rotate(alg: Algorithm, options: RotationOptions = {}): Promise<RotationPlan> {
    const { maxAgeSeconds, keys } = this.#read(this.#clock.now());
    rotationWaits(options, maxAgeSeconds);
    const isWaiting = keys.some((key) => key.alg === alg && stateAt(key, this.#clock.now()) === "next");
    // Generated before the lock is taken, as RSA takes long. If another process adds a key first, this one is dropped.
    const fresh = isWaiting ? undefined : await generateKey({ alg, state: "next", clock: this.#clock });
    const stored = await this.#change((before, now) => {
      checkPassphrase(before.keys, this.#seals);
      const planned = (keys: readonly StoredKey[]) => rotatedStore({ ...before, keys }, alg, options, now);
      return (
        planned(before.keys) ??
        (fresh && planned([...before.keys, storedKey(fresh, before.keys, this.#seals)]))
      );
    });
    const now = this.#clock.now();
    // If another process has removed the waiting key meanwhile, start again with a new key.
    return (
      askedRotation(stored.keys, alg, now) ??
      currentRotation(stored.keys, alg, now) ??
      this.rotate(alg, options)
    );
  }

  async rotateDue(everyMs: number, options: RotationOptions = {}): Promise<readonly RotationPlan[]> {
    const { keys, maxAgeSeconds } = this.#read(this.#clock.now());
    const { publishForMs } = rotationWaits(options, maxAgeSeconds);
    if (!(everyMs > publishForMs))
      throw new RangeError(
        `everyMs must be more than the ${publishForMs} ms a key is published before it signs`,
      );
    const plans: RotationPlan[] = [];
    for (const alg of dueRotations(keys, everyMs - publishForMs, this.#clock.now()))
      plans.push(await this.rotate(alg, options));
    if (plans.length === 0 && keys.some((key) => isToErase(key, this.#clock.now())))
      await this.#change(() => undefined);
    return plans;
  }

  async retire(kid: string, options: { retireAfterMs?: number; force?: boolean } = {}): Promise<void> {
    checkOptions("retire", options, { retireAfterMs: "number", force: "boolean" });
    const { retireAfterMs, force = false } = options;
    await this.#change((stored, now) => {
      const waits = rotationWaits({ retireAfterMs }, stored.maxAgeSeconds);
      const how = { now, retireAfterMs: waits.retireAfterMs, force };
      return { ...stored, keys: retireKey(stored.keys, kid, how) };
    });
  }

  async remove(kid: string, options: { force?: boolean } = {}): Promise<void> {
    checkOptions("remove", options, { force: "boolean" });
    const { force = false } = options;
    await this.#change((stored, now) => ({ ...stored, keys: removeKey(stored.keys, kid, { now, force }) }));
  }

  async setMaxAge(maxAgeSeconds: number): Promise<void> {
    checkMaxAge(maxAgeSeconds);
    await this.#change((stored) => ({ ...stored, maxAgeSeconds }));
  }

  readonly publication: KeyPublication = {
    begin: async (url, maxAgeSeconds) => {
      checkMaxAge(maxAgeSeconds);
      await this.#change((stored, now) => publishedStore(stored, url, maxAgeSeconds, now));
    },
    confirm: async (kids, options) => {
      let planned: readonly Algorithm[] | undefined;
      const { keys } = await this.#change((stored, now) => {
        const confirmed = confirmedStore(stored, kids, options, now);
        planned = confirmed?.planned;
        return confirmed?.stored;
      });
      return planned?.flatMap((alg) => currentRotation(keys, alg, this.#clock.now()) ?? []);
    },
    takeBack: async () => {
      let kids: readonly string[] = [];
      await this.#change((stored, now) => {
        const changed = withoutPlans(stored, now);
        kids = stored.keys
          .filter((key, at) => key.signsAt !== changed.keys[at]?.signsAt)
          .map(({ kid }) => kid);
        return changed;
      });
      return kids;
    },
    end: async () => {
      await this.#change((stored) => releasedStore(stored));
    },
  };

  async #add(record: KeyRecord): Promise<KeyRecord> {
    const stored = await this.#change(({ keys, ...rest }, now) => {
      checkPassphrase(keys, this.#seals);
      if (keys.some(({ kid }) => kid === record.kid)) throw reused(record.kid);
      const key = storedKey(record, keys, this.#seals);
      const isFirst = !keys.some(
        (one) =>
          one.alg === key.alg &&
          (one.signsAt ?? one.askedAt) !== undefined &&
          (one.retiresAt ?? one.removesAt) === undefined,
      );
      const first = rest.publishedTo === undefined ? { signsAt: now } : { askedAt: now };
      return { ...rest, keys: [...keys, isFirst ? { ...key, ...first } : key] };
    });
    const added = stored.keys.find(({ kid }) => kid === record.kid) as StoredKey;
    return recordOf(added, stateAt(added, this.#clock.now()), this.#seals);
  }

  /** The content of the file. A key without material counts as removed, even if this process's clock is slow. */
  #read(now: number): StoredKeys {
    const { keys, ...rest } = this.#file.read();
    const isAhead = (key: StoredKey) => key.publicJwk === undefined && (key.removesAt ?? 0) > now;
    return { ...rest, keys: keys.map((key) => (isAhead(key) ? { ...key, removesAt: now } : key)) };
  }

  /** Reads, changes and writes under the lock, and erases the keys that are removed by now. */
  async #change(work: (stored: StoredKeys, now: number) => StoredKeys | undefined): Promise<StoredKeys> {
    await this.#file.makeFolder();
    return withPath(this.#dir, () =>
      withFolderLock(this.#dir, async (isHeld) => {
        const now = this.#clock.now();
        const stored = this.#read(now);
        const changed = withoutRemoved(work(stored, now) ?? stored, now);
        if (JSON.stringify(changed) !== JSON.stringify(stored)) await this.#file.write(changed, isHeld);
        return changed;
      }),
    );
  }
}

/** The content with a rotation: planned, or asked for where a proof comes first. `undefined`: no key to rotate in. */
function rotatedStore(
  stored: StoredKeys,
  alg: Algorithm,
  options: RotationOptions,
  now: number,
): StoredKeys | undefined {
  const { publishedTo, maxAgeSeconds } = stored;
  const isUnderWay = stored.keys.some(
    (key) => key.alg === alg && key.signsAt !== undefined && stateAt(key, now) === "next",
  );
  if (publishedTo !== undefined && !options.immediately)
    return isUnderWay ? stored : askedStore(stored, alg, now);
  const keys = planRotation(stored.keys, alg, { ...options, now, maxAgeSeconds });
  return keys && { ...stored, keys };
}

function statusOf(key: StoredKey, now: number): KeyStatus {
  const { kid, alg, createdAt, signsAt, retiresAt, removesAt, askedAt, publicJwk } = key;
  const [state, step] = [stateAt(key, now), nextStep(key, now)];
  return {
    kid,
    alg,
    state,
    createdAt,
    signsAt,
    retiresAt,
    removesAt,
    ...(step ? { nextStep: step } : {}),
    ...(askedAt === undefined ? {} : { askedAt }),
    ...(publicJwk && state !== "removed" ? { publicJwk } : {}),
  };
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
