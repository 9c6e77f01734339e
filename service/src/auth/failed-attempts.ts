// Counts failed attempts of a client to prove itself.
import { createHash } from "node:crypto";
import type { Clock } from "hookproof";

/** How many failures within how long a client may have, from one address. */
export interface AttemptLimits {
  /** 10 by default. */
  failures?: number | undefined;
  /** From the first of them on; 60,000 ms by default. */
  windowMs?: number | undefined;
}

/** Who tries: the id is the caller's word, and `isKnown` says whether there is such a client. */
export interface Attempt {
  readonly address: string | undefined;
  readonly clientId: string;
  readonly isKnown: boolean;
}

/** Counts failed attempts of a client to prove itself by a secret. */
interface FailedAttempts {
  /** Seconds until the next attempt is looked at; 0 if it is now. */
  waitSeconds(attempt: Attempt): number;
  failed(attempt: Attempt): void;
}

/** Anyone who is counted has proved nothing yet, so neither how many there are nor how long their names are is theirs to say. */
const MAX_COUNTED = 10_000;

/**
 * Counts in memory, by a hash: a restart forgets them, and of more than 10,000 counts the ones that began first. Ids
 * that are no client's are counted by themselves, so that making them up pushes out nobody who is one.
 */
export function failedAttempts(
  { failures = 10, windowMs = 60_000 }: AttemptLimits = {},
  clock: Clock,
): FailedAttempts {
  type Counts = Map<string, { failures: number; since: number }>;
  const [known, unknown]: Counts[] = [new Map(), new Map()];
  const countsOf = ({ isKnown }: Attempt) => (isKnown ? known : unknown) as Counts;
  const keyOf = ({ address, clientId }: Attempt) =>
    createHash("sha256")
      .update(JSON.stringify([address, clientId]))
      .digest("base64");
  const current = (counts: Counts, key: string) => {
    const count = counts.get(key);
    if (!count) return undefined;
    const age = clock.now() - count.since;
    // A clock that was put back must not keep anybody out for longer.
    if (age >= 0 && age < windowMs) return count;
    counts.delete(key);
    return undefined;
  };
  return {
    waitSeconds(attempt) {
      const count = current(countsOf(attempt), keyOf(attempt));
      if (!count || count.failures < failures) return 0;
      return Math.max(1, Math.ceil((count.since + windowMs - clock.now()) / 1000));
    },
    failed(attempt) {
      const counts = countsOf(attempt);
      const key = keyOf(attempt);
      const count = current(counts, key);
      if (count) {
        count.failures += 1;
        return;
      }
      const [oldest] = counts.keys();
      if (counts.size >= MAX_COUNTED && oldest !== undefined) counts.delete(oldest);
      counts.set(key, { failures: 1, since: clock.now() });
    },
  };
}
