// What a call costs in time of the processor, beside a known work, so that no machine is too slow for a test.
/**
 * What a call costs in milliseconds of the processor: the least of several, as another thread of this process, or its
 * garbage, may cost something meanwhile. What is cheap enough at once is not asked again.
 */
export async function costOf(call: () => unknown, enough: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 6 && least > enough; tries++) {
    const before = process.cpuUsage();
    await call();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

/** A work that takes a millisecond of a processor as of 2026; it looks at texts and makes values of them, as what is measured does. */
const NUMBERS = JSON.stringify(Array.from({ length: 6_000 }, (_, n) => n));
const standardWork = () => JSON.parse(NUMBERS.replace(/[0-4]/g, "1"));

/**
 * Whether something cost more than it may: where this processor is slow, or shared at the moment, as much more as a known
 * work takes longer on it just now.
 */
export async function isTooMuch(cost: number, most: number): Promise<boolean> {
  return cost > most && cost > most * (await costOf(standardWork, 1));
}
