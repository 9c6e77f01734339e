import { chmod, mkdir, open, readFile, rename, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { HookproofError } from "../errors.js";
import { generateKey, type KeyOptions } from "../jwks/generate.js";
import type { KeyRecord } from "../jwks/key-record.js";
import type { KeyRecordSource } from "../jwks/key-set.js";
import { shownAs } from "../primitives/redact.js";

/** Keys on this machine's disk: one file, readable by its owner only. */
export interface KeyStore extends KeyRecordSource {
  /** Generates a key and stores it. The first key of its algorithm is active at once, a later one is `next`. */
  generate(options: Pick<KeyOptions, "alg" | "kid">): Promise<KeyRecord>;
}

const FILE = "keys.json";

/**
 * Opens, or with the first key creates, a key store in a folder (0700) with one file (0600).
 *
 * @throws {HookproofError} KEY_STORE_INVALID from its methods, when the file cannot be read or others can read it
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
export function openKeyStore(dir: string): KeyStore {
  const file = join(dir, FILE);
  return {
    load: () => readRecords(file),
    async generate({ alg, kid }) {
      const records = await readRecords(file);
      if (kid !== undefined && records.some((record) => record.kid === kid)) {
        throw new HookproofError(
          "KEY_STORE_INVALID",
          `The key id ${JSON.stringify(kid)} was used before; ids are never used twice.`,
        );
      }
      const state = records.some((record) => record.alg === alg && record.state === "active")
        ? "next"
        : "active";
      const record = await generateKey({ alg, kid, state });
      await writeRecords(file, [...records, record]);
      return record;
    },
  };
}

async function readRecords(file: string): Promise<KeyRecord[]> {
  let text: string;
  try {
    const { mode } = await stat(file);
    if ((mode & 0o077) !== 0) throw invalid(`${file} can be read by others; run: chmod 600 ${file}`);
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    if (error instanceof HookproofError) throw error;
    throw new HookproofError("KEY_STORE_INVALID", `${file} cannot be read.`, { cause: error });
  }
  return parseRecords(text, file);
}

function parseRecords(text: string, file: string): KeyRecord[] {
  let stored: { version?: unknown; keys?: unknown };
  try {
    stored = JSON.parse(text);
  } catch {
    throw invalid(`${file} is not JSON; nothing was changed`);
  }
  if (stored?.version !== 1 || !Array.isArray(stored.keys))
    throw invalid(`${file} is not a key store of version 1; nothing was changed`);
  return stored.keys.map((record: KeyRecord) => ({
    ...record,
    privateJwk: shownAs({ ...record.privateJwk }, "[redacted]"),
  }));
}

/** Written beside and renamed over, so that a crash leaves the old file or the new one. */
async function writeRecords(file: string, records: readonly KeyRecord[]): Promise<void> {
  const dir = dirname(file);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await chmod(dir, 0o700);
  const temporary = `${file}.${process.pid}.tmp`;
  const handle = await open(temporary, "w", 0o600);
  try {
    await handle.writeFile(`${JSON.stringify({ version: 1, keys: records }, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
}

function invalid(reason: string): HookproofError {
  return new HookproofError("KEY_STORE_INVALID", `The key store ${reason}.`);
}
