// Reads what is no file: a named pipe, whose writer is waited for, but not for ever; a device, up to a limit.
import { closeSync, constants, createReadStream, openSync, readSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** How long nobody may have opened the pipe to write. */
const NOBODY_MS = 5_000;

/** How often it is looked at. */
const LOOK_MS = 20;

/** More than a terminal gives; /dev/zero and its like never end, and a whole file's worth of them would be read first. */
const MAX_OF_DEVICE = 1024 * 1024;

/** The bytes of what is no file: a named pipe, or a device such as a terminal. */
export function readOther(path: string): AsyncGenerator<Buffer> {
  return statSync(path).isFIFO() ? readPipe(path) : readDevice(path);
}

/** @throws {Error} with the reason in words, where a device gives more than a terminal would */
async function* readDevice(path: string): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const chunk of createReadStream(path)) {
    const bytes = Buffer.from(chunk as Uint8Array);
    length += bytes.length;
    if (length > MAX_OF_DEVICE) throw new Error("it is a device that gives more than 1 MiB");
    yield bytes;
  }
}

/**
 * The bytes of a named pipe, until all who write to it have closed it. To open one the usual way stops a thread until
 * somebody writes, and with it the end of the process.
 *
 * @throws {Error} with the reason in words, after five seconds in which nobody opened it to write
 */
async function* readPipe(path: string): AsyncGenerator<Buffer> {
  const { O_RDONLY, O_NONBLOCK = 0 } = constants;
  const handle = openSync(path, O_RDONLY | O_NONBLOCK);
  const chunk = Buffer.alloc(65_536);
  let hasWriter = false;
  try {
    for (let waited = 0; ; ) {
      const length = readNow(handle, chunk);
      if (length > 0) yield Buffer.from(chunk.subarray(0, length));
      if (length === 0 && hasWriter) return;
      hasWriter ||= length !== 0;
      if (length > 0) continue;
      if (!hasWriter && waited >= NOBODY_MS) throw new Error("it is a pipe, and nobody writes to it");
      await sleep(LOOK_MS);
      waited += LOOK_MS;
    }
  } finally {
    closeSync(handle);
  }
}

/** How many bytes there are now: 0 if nobody writes, -1 if somebody may. */
function readNow(handle: number, chunk: Buffer): number {
  try {
    return readSync(handle, chunk);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EAGAIN") return -1;
    throw error;
  }
}
