import { MAX_BODY_BYTES } from "../protocol/limits.js";

/** How far a search goes. Counted in work and not in time, so that the answer is the same on every machine. */
export interface Effort {
  /** Told before bytes are hashed, or as good as hashed. */
  spend(bytes: number): void;
  /** From here on, work counts as spent when this share of the whole is used up. */
  allow(share: number): void;
  readonly isSpent: boolean;
}

/** What a hash costs beside its bytes, in bytes (bench/diagnose.bench.mjs). */
const BYTES_PER_HASH = 3_500;

/** About 1,200 hashes of 1 KB, and of 64 KB every single mistake with the likeliest pairs. */
const BYTES_AT_LEAST = 5_000_000;
const BYTES_PER_BODY_BYTE = 600;

/** A fresh allowance for one search over a body of this length. */
export function effort(bodyBytes: number): Effort {
  const most = BYTES_AT_LEAST + BYTES_PER_BODY_BYTE * Math.min(bodyBytes, MAX_BODY_BYTES);
  let spent = 0;
  let allowed = most;
  return {
    spend(bytes) {
      spent += bytes + BYTES_PER_HASH;
    },
    allow(share) {
      allowed = most * share;
    },
    get isSpent() {
      return spent >= allowed;
    },
  };
}
