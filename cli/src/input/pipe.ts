// Reads a named pipe, and waits for somebody who writes to it, but not for ever.
import { closeSync, constants, openSync, readSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** How long nobody may have opened the pipe to write. */
const NOBODY_MS = 5_000;

/** How often it is looked at. */
const LOOK_MS = 20;

/**
 * The bytes of a named pipe, until all who write to it have closed it. To open one the usual way stops a thread until
 * somebody writes, and with it the end of the process.
 *
 * @throws {Error} with the reason in words, after five seconds in which nobody opened it to write
 */
export async function* readPipe(path: string): AsyncGenerator<Buffer> {
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
