// @ts-check
/**
 * The seed of everything that tests draw at random. It is the same in every run, so that what fails was broken by
 * the change at hand; the long form (HOOKPROOF_LONG) draws a new one. vitest.config.ts prints it and hands it on:
 * `HOOKPROOF_SEED=<number> npm test` draws the same again.
 */
export const seed = chosen();

function chosen() {
  const { HOOKPROOF_SEED: given, HOOKPROOF_LONG: isLong } = process.env;
  if (!given) return isLong ? Math.floor(Math.random() * 2 ** 31) : 20_261_121;
  const number = Number(given);
  if (!Number.isInteger(number) || number < 0 || number >= 2 ** 31)
    throw new RangeError("HOOKPROOF_SEED must be a whole number from 0 to 2147483647");
  return number;
}

/**
 * Numbers from 0 to 1, always the same ones for a seed and a name (splitmix32).
 *
 * @param {string | number} name keeps what is drawn in one place apart from what is drawn elsewhere
 * @returns {() => number}
 */
export function seededRandom(name) {
  let state = seed;
  for (const character of String(name)) state = (Math.imul(state, 31) + character.charCodeAt(0)) | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}
