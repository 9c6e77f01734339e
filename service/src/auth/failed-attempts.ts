import limiters from "rate-limiter-flexible";

/** How many failures within how long a client may have, from one address. */
export interface AttemptLimits {
  /** 10 by default. */
  failures?: number | undefined;
  /** 60,000 ms by default. */
  windowMs?: number | undefined;
}

/** Counts failed attempts of a client to prove itself. */
export interface FailedAttempts {
  /** Seconds until the next attempt is looked at; 0 if it is now. */
  waitSeconds(who: string): Promise<number>;
  failed(who: string): Promise<void>;
}

/** A count in memory: a restart forgets it. */
export function failedAttempts({ failures = 10, windowMs = 60_000 }: AttemptLimits = {}): FailedAttempts {
  const limiter = new limiters.RateLimiterMemory({ points: failures, duration: windowMs / 1000 });
  return {
    async waitSeconds(who) {
      const count = await limiter.get(who);
      return count && count.consumedPoints >= failures
        ? Math.max(1, Math.ceil(count.msBeforeNext / 1000))
        : 0;
    },
    async failed(who) {
      await limiter.penalty(who);
    },
  };
}
