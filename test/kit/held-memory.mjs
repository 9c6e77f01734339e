// @ts-check
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc");

/**
 * Bytes that the heap and the buffers of this process hold without garbage. Another thread gives buffers back after they
 * were collected, on a busy machine much later: collected and asked again until three times no less is held.
 *
 * @returns {Promise<{ heap: number, buffers: number }>}
 */
export async function heldMemory() {
  let least = { heap: Number.POSITIVE_INFINITY, buffers: Number.POSITIVE_INFINITY };
  for (let same = 0; same < 3; same++) {
    collectGarbage();
    const { heapUsed: heap, arrayBuffers: buffers } = process.memoryUsage();
    if (buffers < least.buffers) same = 0;
    least = { heap: Math.min(heap, least.heap), buffers: Math.min(buffers, least.buffers) };
    await sleep(1);
  }
  return least;
}
