/** How often attempts may start. */
export interface Rate {
  readonly perSecond: number;
  /** How many may start at once after a pause; `perSecond`, and 1 at least, by default. */
  readonly burst?: number | undefined;
}

/** A rate with its burst. */
export interface FixedRate {
  readonly perSecond: number;
  readonly burst: number;
}

/** A token bucket: the tokens there were at a time. */
export interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

const ROUNDING = 1e-9;

export function rateOf({ perSecond, burst = Math.max(1, perSecond) }: Rate): FixedRate {
  if (!Number.isFinite(perSecond) || perSecond <= 0) throw new RangeError("rate.perSecond must be above 0");
  if (!Number.isFinite(burst) || burst < 1) throw new RangeError("rate.burst must be 1 or more");
  return { perSecond, burst };
}

/** The bucket at a time, filled up since; a clock that went back fills nothing. */
export function refilled(rate: FixedRate, { tokens, at }: Bucket, now: number): Bucket {
  const gained = (Math.max(0, now - at) * rate.perSecond) / 1000;
  return { tokens: Math.min(rate.burst, tokens + gained), at: now };
}

/** How many whole tokens there are. */
export function whole({ tokens }: Bucket): number {
  return Math.max(0, Math.floor(tokens + ROUNDING));
}

/** When the next whole token is there. */
export function nextToken(rate: FixedRate, bucket: Bucket): number {
  if (whole(bucket) > 0) return bucket.at;
  return bucket.at + Math.ceil(((1 - bucket.tokens) * 1000) / rate.perSecond);
}
