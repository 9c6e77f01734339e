// Publishes a key set, and rotates a key in only after its host showed it.
import { MAX_TIMER_MS, sleep, within } from "../core/clock.js";
import { HookproofError } from "../core/errors.js";
import { checkOptions, checkWholeNumber, type OptionNames } from "../core/options.js";
import { exportKeySet } from "../jwks/host.js";
import { createKeySet, type Jwks } from "../jwks/key-set.js";
import { DEFAULT_MAX_AGE_SECONDS } from "../jwks/life-cycle.js";
import { differenceOf, publishedSetFetcher } from "../jwks/published-set.js";
import { REMOTE_KEYS_OPTIONS, type RemoteKeysOptions } from "../jwks/remote-keys.js";
import { type RotationOptions, type RotationPlan, rotationWaits } from "../jwks/rotation.js";
import type { KeyStore } from "./key-store.js";
import type { KeySetUpload } from "./uploads.js";

/** Options of `publishKeySet`. */
export interface PublishKeySetOptions
  extends Pick<RotationOptions, "publishForMs" | "retireAfterMs">,
    Omit<RemoteKeysOptions, "lenient"> {
  /** The URL that listeners fetch the key set from. */
  url: string;
  /** Brings the document to its host: `fileUpload`, `commandUpload`, or a function of your own. */
  upload: KeySetUpload;
  /** How long the host lets listeners keep the set, in seconds; 300 by default. What the host itself says counts too. */
  maxAgeSeconds?: number | undefined;
  /** How long to wait for the host to show what was uploaded, in milliseconds; 30 seconds by default. */
  settleForMs?: number | undefined;
  /** Ends the upload and the wait. */
  signal?: AbortSignal | undefined;
}

/** What `publishKeySet` found and did. */
export interface KeySetPublication {
  /** Whether the host shows exactly the keys of the store. */
  readonly ok: boolean;
  /** The ids of the keys that should be shown. */
  readonly kids: readonly string[];
  /** Whether the document was uploaded. */
  readonly uploaded: boolean;
  /** Why the set is not proved; absent if it is. */
  readonly problem?: {
    /** Whether the upload failed, or the host shows another set than the one that was uploaded. */
    readonly code: "KEY_SET_UPLOAD_FAILED" | "KEY_SET_NOT_PUBLISHED";
    /** What was found, in words. */
    readonly detail: string;
  };
  /** The rotations that this proof has planned: their new keys sign after the wait. */
  readonly planned: readonly RotationPlan[];
  /** The ids of keys that were going to sign, and now wait for a proof again. */
  readonly takenBack: readonly string[];
}

const OVERTAKEN = {
  code: "KEY_SET_NOT_PUBLISHED",
  detail: "Another process has planned a key since, which the set at the host may lack: publish again.",
} as const;

const SETTLE_FOR_MS = 30_000;
const LOOK_AGAIN_MS = 1_000;
const UPLOAD_TIMEOUT_MS = 60_000;
/** How long an upload may take to end once it is told to; longer than a command is given. */
const HEED_MS = 2_000;

/**
 * Brings a store's key set to a static host, and rotates a key in only after the host was seen to show it.
 *
 * One call fetches the set as listeners do, uploads it if it is another one, and fetches it back. Only then a rotation
 * that `store.rotate` has asked for is planned: the new key signs after the set's `max-age` (the store's or the
 * host's, whichever is longer) and 5 minutes, 15 minutes at least. Until then every call proves the set again; one
 * that cannot takes the plan back, and the old key keeps signing. Call it every minute: all of its state is in the store, so
 * a process that is killed is followed by the next call. One process is enough; two undo nothing but each other's
 * plans, which the next call makes again.
 *
 * The first call binds the store to the URL: from then on `rotate`, also in other processes, waits for the proof,
 * unless it is told `immediately`.
 *
 * @throws {HookproofError} KEY_SET_URL_REFUSED, CIDR_INVALID, KEY_STORE_PUBLISHED, and what the store rejects with. An
 * upload that fails is no throw but a `problem`.
 * @throws {RangeError} for waits that are too short, or no numbers
 *
 * @example
 * ```ts
 * import { fileUpload, openKeyStore, publishKeySet } from "hookproof/node";
 *
 * const { ok, problem } = await publishKeySet(openKeyStore("./keys"), {
 *   url: "https://keys.example.com/.well-known/jwks.json",
 *   upload: fileUpload("/srv/www/.well-known/jwks.json"),
 * });
 * if (!ok) console.error(problem?.detail);
 * ```
 */
export async function publishKeySet(
  store: KeyStore,
  options: PublishKeySetOptions,
): Promise<KeySetPublication> {
  const { lenient: _lenient, clock: _clock, ...fetching } = REMOTE_KEYS_OPTIONS;
  checkOptions("publishKeySet", options, { ...fetching, ...NAMES });
  const { url, maxAgeSeconds = DEFAULT_MAX_AGE_SECONDS, publishForMs, retireAfterMs } = options;
  checkWholeNumber("settleForMs", options.settleForMs ?? SETTLE_FOR_MS, 0);
  rotationWaits({ publishForMs, retireAfterMs }, maxAgeSeconds);
  const look = publishedSetFetcher(url, options);
  await store.publication.begin(url, maxAgeSeconds);
  const { document } = await exportKeySet(createKeySet(store), { maxAgeSeconds });
  const kids = (JSON.parse(document) as Jwks).keys.map(({ kid }) => String(kid));
  const seen = await proved(look, document, options);
  const { uploaded, keptForSeconds, problem = OVERTAKEN } = seen;
  const waits = { publishForMs, retireAfterMs, keptForSeconds };
  const planned = seen.problem ? undefined : await store.publication.confirm(kids, waits);
  if (planned) return { ok: true, kids, uploaded, planned, takenBack: [] };
  const takenBack = await store.publication.takeBack();
  return { ok: false, kids, uploaded, problem, planned: [], takenBack };
}

interface Proof {
  readonly uploaded: boolean;
  /** The longest that anything this call has fetched may be kept. */
  readonly keptForSeconds: number;
  readonly problem?: NonNullable<KeySetPublication["problem"]>;
}

/** Uploads the document unless the host shows it already, and looks until it does. */
async function proved(
  look: ReturnType<typeof publishedSetFetcher>,
  document: string,
  { upload, settleForMs = SETTLE_FOR_MS, signal }: PublishKeySetOptions,
): Promise<Proof> {
  const wanted = JSON.parse(document) as Jwks;
  let keptForSeconds = 0;
  const fault = async (): Promise<string | undefined> => {
    const published = await look();
    if (!published.ok) return published.detail;
    keptForSeconds = Math.max(keptForSeconds, published.keptForSeconds);
    const difference = differenceOf(published.keys, wanted);
    return difference && `The set at the host ${difference}.`;
  };
  if ((await fault()) === undefined) return { uploaded: false, keptForSeconds };
  const failure = await uploadFailure(upload, document, signal);
  if (failure !== undefined)
    return {
      uploaded: false,
      keptForSeconds,
      problem: { code: "KEY_SET_UPLOAD_FAILED", detail: failure },
    };
  const until = performance.now() + settleForMs;
  for (;;) {
    const detail = await fault();
    if (detail === undefined) return { uploaded: true, keptForSeconds };
    if (signal?.aborted || performance.now() + LOOK_AGAIN_MS > until)
      return { uploaded: true, keptForSeconds, problem: { code: "KEY_SET_NOT_PUBLISHED", detail } };
    await sleep(LOOK_AGAIN_MS, signal);
  }
}

async function uploadFailure(
  upload: KeySetUpload,
  document: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const limit = AbortSignal.timeout(UPLOAD_TIMEOUT_MS);
  try {
    const ends = signal ? AbortSignal.any([signal, limit]) : limit;
    await awaitUpload(Promise.resolve(upload(document, ends)), ends);
    return undefined;
  } catch (error) {
    if (error instanceof HookproofError) return error.message;
    return `The upload failed: ${error instanceof Error ? error.message : "no reason was given"}.`;
  }
}

/** Awaits an upload, and a while past its signal: one that heeds it says more of what was done. */
async function awaitUpload(upload: Promise<void>, signal: AbortSignal): Promise<void> {
  const told = new Error("told to end");
  try {
    await within(upload, MAX_TIMER_MS, () => told, signal);
  } catch (error) {
    if (error !== told) throw error;
    await within(upload, HEED_MS, () => new Error("it was told to end, and did not"));
  }
}

const NAMES: OptionNames<Omit<PublishKeySetOptions, keyof RemoteKeysOptions>> = {
  url: 1,
  upload: "function",
  maxAgeSeconds: "number",
  settleForMs: "number",
  signal: ".addEventListener",
  publishForMs: "number",
  retireAfterMs: "number",
};
