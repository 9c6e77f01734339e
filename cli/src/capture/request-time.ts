// Says when a captured request was made, by what it says itself.

/** Before September 2001 nobody sent webhooks: a smaller number is a time in another unit, such as days. */
const EARLIEST_SECONDS = 1_000_000_000;

/** How far a sender's clock may be ahead without being wrong. */
const AHEAD_SECONDS = 300;

/**
 * The time to judge a recorded request by where its age is left out of account, in milliseconds: the first of its own
 * `times` that lies in the past. A time in another unit or form is read as what it was meant to be, so that it is then
 * refused for its form alone; where none can have been meant, the time is now.
 */
export function ownTime(times: readonly (string | undefined)[], now = Date.now()): number {
  for (const text of times) {
    const seconds = text === undefined ? undefined : meantSeconds(text.slice(0, 64), now / 1000);
    if (seconds !== undefined) return Math.floor(seconds) * 1000;
  }
  return now;
}

function meantSeconds(text: string, nowSeconds: number): number | undefined {
  const number = /^[0-9]{1,20}(?:\.[0-9]{0,20})?$/.test(text) ? Number(text) : undefined;
  const readings =
    number === undefined ? [Date.parse(text) / 1000] : [1, 1e3, 1e6, 1e9].map((unit) => number / unit);
  return readings.find((seconds) => seconds >= EARLIEST_SECONDS && seconds <= nowSeconds + AHEAD_SECONDS);
}

/** The times that the claims of a token give, the likeliest first; the last moment before it expires is one. */
export function timesOfToken(token: string): string[] {
  const claims = claimsOf(token);
  const texts = [claims.iat, claims.nbf].flatMap((value) =>
    typeof value === "number" || typeof value === "string" ? [String(value)] : [],
  );
  return typeof claims.exp === "number" ? [...texts, String(claims.exp - 1)] : texts;
}

function claimsOf(token: string): Readonly<Record<string, unknown>> {
  try {
    const value = JSON.parse(Buffer.from(token.split(".", 2)[1] ?? "", "base64url").toString("utf8"));
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
