import type { HeaderPair } from "../protocol/headers.js";

/** Node's flat list of header names and values as pairs, in order and with nothing merged or dropped. */
export function headerPairs(rawHeaders: readonly string[]): HeaderPair[] {
  const pairs: HeaderPair[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2)
    pairs.push([rawHeaders[i] as string, rawHeaders[i + 1] as string]);
  return pairs;
}
