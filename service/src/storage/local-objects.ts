// An object store in a folder or in memory, with signed URLs.
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "hookproof";
import {
  boundedContent,
  type Content,
  DOWNLOAD_VALID_SECONDS,
  isObjectKey,
  OBJECT_KEY_WORDS,
  type ObjectStore,
  wholeContent,
} from "./object-store.js";

/** Options of `createLocalObjects`. */
interface LocalObjectsOptions {
  /** Where objects are kept, for their owner only; without it they are kept in memory. */
  folder?: string | undefined;
  /** What a download URL is made of: the address of the download route, without a trailing slash. */
  downloadsAt: () => string;
  clock: Clock;
}

/** What a download URL led to. */
interface Download extends StoredObject {
  readonly key: string;
  /** Who the URL was made for. */
  readonly reader: string;
}

/** An object store on this machine, and the check of the URLs it hands out. */
export interface LocalObjects extends ObjectStore {
  /** The object a URL leads to, given the rest of its path and its query; undefined for any URL that is not good now. */
  open(
    key: string,
    query: { reader?: unknown; expires?: unknown; signature?: unknown },
  ): Promise<Download | undefined>;
}

/** Keeps objects in a folder or in memory. Its URLs are signed under a key of this process: a restart ends them. */
export function createLocalObjects({ folder, downloadsAt, clock }: LocalObjectsOptions): LocalObjects {
  const signingKey = randomBytes(32);
  const shelf = folder === undefined ? inMemory() : inFolder(folder);
  const signed = (key: string, reader: string, expires: string) =>
    createHmac("sha256", signingKey)
      .update(JSON.stringify([key, reader, expires]))
      .digest("base64url");

  return {
    async put(key, content) {
      if (!isObjectKey(key)) throw new RangeError(`an object's key is ${OBJECT_KEY_WORDS}`);
      await shelf.put(key, content);
    },
    async read(key, max) {
      const object = isObjectKey(key) ? await shelf.get(key) : undefined;
      return object && (object.bytes > max ? "too large" : boundedContent(object.content, max));
    },
    async downloadUrl(key, reader) {
      const expires = String(Math.floor(clock.now() / 1000) + DOWNLOAD_VALID_SECONDS);
      const query = new URLSearchParams({ reader, expires, signature: signed(key, reader, expires) });
      return `${downloadsAt()}/${key}?${query}`;
    },
    async open(key, { reader, expires, signature }) {
      if (typeof reader !== "string" || typeof expires !== "string" || typeof signature !== "string") return;
      if (!isObjectKey(key) || !sameText(signature, signed(key, reader, expires))) return;
      if (clock.now() >= Number(expires) * 1000) return;
      const object = await shelf.get(key);
      return object && { key, reader, ...object };
    },
  };
}

function sameText(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

interface StoredObject {
  readonly bytes: number;
  readonly content: AsyncIterable<Uint8Array>;
}

interface Shelf {
  put(key: string, content: Content): Promise<void>;
  get(key: string): Promise<StoredObject | undefined>;
}

function inMemory(): Shelf {
  const objects = new Map<string, Uint8Array>();
  return {
    async put(key, content) {
      objects.set(key, await wholeContent(content));
    },
    async get(key) {
      const object = objects.get(key);
      return object && { bytes: object.length, content: bytesOf(object) };
    },
  };
}

function inFolder(folder: string): Shelf {
  return {
    async put(key, content) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const path = join(folder, key);
      // Anyone who reads meanwhile sees the old object or the new one, and a crash leaves no half of one.
      const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
      try {
        await writeFile(temporary, content, { mode: 0o600 });
        await rename(temporary, path);
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
    },
    async get(key) {
      const path = join(folder, key);
      const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined;
        throw error;
      });
      // A link in a folder of somebody else's would give out another file of this machine.
      return found?.isFile() ? { bytes: found.size, content: fileBytes(path) } : undefined;
    },
  };
}

async function* bytesOf(object: Uint8Array): AsyncGenerator<Uint8Array> {
  yield object;
}

/** The file is opened when the first bytes are asked for: nobody has to close what is never read. */
async function* fileBytes(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path);
}
