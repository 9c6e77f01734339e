// What a call costs in time of the processor, beside a known work, so that no machine is too slow for a test.
import { createHmac } from "node:crypto";

/**
 * What a call costs in milliseconds of the processor: the least of several, as another thread of this process, or its
 * garbage, may cost something meanwhile. What is cheap enough at once is not asked again.
 */
export async function costOf(call: () => unknown, enough: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 3 && least > enough; tries++) {
    const before = process.cpuUsage();
    await call();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

const NAMES = JSON.stringify(Object.fromEntries(Array.from({ length: 4_700 }, (_, n) => [`k_${n}`, null])));

/**
 * A work that takes 2.5 ms of a quiet processor as of 2026: it reads and writes JSON, changes texts and hashes bytes, as
 * what is measured does, and over as much memory, for a processor that is shared slows down most where memory is.
 */
function standardWork(): string {
  const written = JSON.stringify(JSON.parse(NAMES)).replace(/[0-4]/g, (digit) => `\\u003${digit}`);
  return createHmac("sha256", "key").update(Buffer.from(written)).digest("hex");
}

/**
 * What a call costs in milliseconds, if that is more than it may: where this processor is slow, or shared at the moment,
 * as much more as a known work takes longer on it just now. What was dear in some rounds alone was not the call.
 */
export async function tooMuch(call: () => unknown, most: number): Promise<number | undefined> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 12; round++) {
    const cost = await costOf(call, most);
    if (cost <= most || cost <= (most * (await costOf(standardWork, 2.5))) / 2.5) return undefined;
    least = Math.min(least, cost);
    if (cost > 5 * most) break; // no neighbour does that
  }
  return Math.round(least);
}
