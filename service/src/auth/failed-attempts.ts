import { createHash } from "node:crypto";
import type { Clock } from "hookproof";

/** How many failures within how long a client may have, from one address. */
export interface AttemptLimits {
  /** 10 by default. */
  failures?: number | undefined;
  /** From the first of them on; 60,000 ms by default. */
  windowMs?: number | undefined;
}

/** Counts failed attempts of a client to prove itself. */
export interface FailedAttempts {
  /** Seconds until the next attempt is looked at; 0 if it is now. */
  waitSeconds(address: string | undefined, clientId: string): number;
  failed(address: string | undefined, clientId: string): void;
}

/** Whoever is counted has proved nothing yet, so neither how many there are nor how long their names are is theirs to say. */
const MOST_COUNTED = 10_000;

/** Counts in memory, by a hash: a restart forgets them, and of more than 10,000 clients the ones that failed first. */
export function failedAttempts(
  { failures = 10, windowMs = 60_000 }: AttemptLimits = {},
  clock: Clock,
): FailedAttempts {
  const counts = new Map<string, { failures: number; since: number }>();
  const keyOf = (address: string | undefined, clientId: string) =>
    createHash("sha256")
      .update(JSON.stringify([address, clientId]))
      .digest("base64");
  const current = (key: string) => {
    const count = counts.get(key);
    if (!count) return undefined;
    const age = clock.now() - count.since;
    // A clock that was put back must not keep anybody out for longer.
    if (age >= 0 && age < windowMs) return count;
    counts.delete(key);
    return undefined;
  };
  return {
    waitSeconds(address, clientId) {
      const count = current(keyOf(address, clientId));
      if (!count || count.failures < failures) return 0;
      return Math.max(1, Math.ceil((count.since + windowMs - clock.now()) / 1000));
    },
    failed(address, clientId) {
      const key = keyOf(address, clientId);
      const count = current(key);
      if (count) {
        count.failures += 1;
        return;
      }
      const [oldest] = counts.keys();
      if (counts.size >= MOST_COUNTED && oldest !== undefined) counts.delete(oldest);
      counts.set(key, { failures: 1, since: clock.now() });
    },
  };
}
