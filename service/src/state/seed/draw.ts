// Draws what chance gives each entry of a seed.
import { createHash } from "node:crypto";

/** What chance gives one entry of a seed: its id and its choices. */
export interface Draw {
  /** 27 letters and digits. */
  readonly id: string;
  /** A whole number from 0 to below `limit`, which is at most 65,536. Up to 18 can be asked for. */
  below(limit: number): number;
  pick<T>(list: readonly T[]): T;
}

const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ID_LENGTH = 27;

/**
 * The draw of the n-th entry of a kind. It depends on nothing drawn before, so that an entry is the same in a seed
 * of any size, and its id can be named without making it.
 */
export function draw(seed: number, kind: string, n: number): Draw {
  const digest = createHash("sha512").update(`${seed}/${kind}/${n}`).digest();
  let id = "";
  for (const byte of digest.subarray(0, ID_LENGTH)) id += LETTERS[byte % LETTERS.length];
  let at = ID_LENGTH;
  const below = (limit: number) => {
    if (at + 2 > digest.length) throw new RangeError("an entry has no more choices");
    const value = digest.readUInt16BE(at);
    at += 2;
    return Math.floor((value * limit) / 65_536);
  };
  return { id, below, pick: (list) => list[below(list.length)] as (typeof list)[number] };
}

/** The ids of a seed: that of the n-th entry of a kind. */
export function idsOf(seed: number): (kind: string, n?: number) => string {
  return (kind, n = 0) => draw(seed, kind, n).id;
}
