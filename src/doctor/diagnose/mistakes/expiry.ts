// When a token's time begins and ends.
import { MAX_TOKEN_LIFETIME_SECONDS } from "../../../core/protocol.js";
import type { FoundMistake } from "../../rows/mistake.js";

/** The claim exp, which is there, and the clock. */
interface Expiry {
  readonly exp: unknown;
  /** How many seconds ago it was; NaN where exp is no time in whole seconds. */
  readonly past: number;
  /** Whether it was right by the request's own timestamp. */
  readonly wasValid: boolean;
  /** How far that timestamp is from the clock, in a sentence. */
  readonly away: string;
  /** The hours by which exp differs from a usual one, where it is exactly that of another time zone. */
  readonly zone: number | undefined;
}

/** A time after this year, read as seconds, is a time in milliseconds. */
const YEAR_5138_SECONDS = 100_000_000_000;

const EXP = "Set exp: Math.floor(Date.now() / 1000) + 300.";

/** What is known of exp. `timestamp` is the text of Webhook-Timestamp. */
export function expiryOf(
  { exp, iat }: Readonly<Record<string, unknown>>,
  timestamp: string,
  nowSeconds: number,
): Expiry {
  const seconds =
    typeof exp === "number" && exp <= YEAR_5138_SECONDS && Number.isSafeInteger(exp) ? exp : Number.NaN;
  const lifetime = /^[0-9]{1,11}$/.test(timestamp) ? seconds - Number(timestamp) : Number.NaN;
  return {
    exp,
    past: nowSeconds - seconds,
    wasValid: lifetime > 0 && lifetime <= MAX_TOKEN_LIFETIME_SECONDS,
    zone: zoneOf(lifetime, typeof iat === "number" ? iat - Number(timestamp) : undefined),
    away: `The request's own timestamp is ${Math.abs(nowSeconds - Number(timestamp))} s from this clock.`,
  };
}

/** The hours of a time zone that was taken into a time which has none. */
function zoneOf(lifetime: number, issued: number | undefined): number | undefined {
  // Without iat it may be any token that is too old.
  if (issued === undefined) return undefined;
  for (let half = -24; half <= 28; half++) {
    const off = half * 1_800;
    if (half === 0 || Math.abs(issued - off) > 1) continue;
    const rest = lifetime - off;
    if (rest > 0 && rest <= MAX_TOKEN_LIFETIME_SECONDS) return half / 2;
  }
  return undefined;
}

/** A time before this one, which is in 1973, is a number of seconds to live. */
const LONGEST_DURATION = 100_000_000;

/** Every recorded request comes to these two after some time. */
export const EXPIRED: readonly FoundMistake<Expiry>[] = [
  {
    id: "claim-exp-past",
    title: "Token expired",
    message: "The token has expired.",
    fix: `Sign a new token for each attempt. ${EXP}`,
    find({ past, wasValid, exp, zone }) {
      const isNamedOtherwise =
        zone !== undefined || (typeof exp === "number" && exp > 0 && exp < LONGEST_DURATION);
      return past >= 0 && !wasValid && !isNamedOtherwise && `${this.message} It expired ${past} s ago.`;
    },
  },
  {
    id: "claim-exp-clock-behind",
    title: "Token expired on the way, or the clock is behind",
    message:
      "The token has expired, but by the request's own timestamp it had not: the sender's clock is behind, or the request was held back.",
    fix: "Set the sender's clock: date +%s prints it. Sign a new token for each attempt, with 300 s to live.",
    find({ past, wasValid, away }) {
      return past >= 0 && wasValid && `${this.message} It expired ${past} s ago. ${away}`;
    },
  },
];

/** What goes wrong with exp. */
export const EXPIRY_MISTAKES: readonly FoundMistake<Expiry>[] = [
  {
    id: "claim-exp-milliseconds",
    title: "exp in milliseconds",
    message: "The claim exp is in milliseconds. It must be in seconds.",
    fix: EXP,
    listener: {
      family: "token",
      accepts: "tokens with exp in milliseconds",
      bug: "it takes exp for milliseconds",
    },
    find: ({ exp }) => typeof exp === "number" && exp > YEAR_5138_SECONDS,
  },
  {
    id: "claim-exp-fraction",
    title: "exp with decimals",
    message: "The claim exp has decimals. It must be in whole seconds.",
    fix: `${EXP} In Python int(time.time()) + 300.`,
    find: ({ exp }) => typeof exp === "number" && exp <= YEAR_5138_SECONDS && !Number.isSafeInteger(exp),
  },
  {
    id: "claim-exp-text",
    title: "exp is a text",
    message: "The claim exp is a text. It must be a number.",
    fix: EXP,
    find: ({ exp }) => typeof exp === "string",
  },
  {
    id: "claim-exp-duration",
    title: "exp is a duration",
    message: "The claim exp is a number of seconds to live. It must be the time at which the token ends.",
    fix: EXP,
    find: ({ exp }) =>
      typeof exp === "number" && exp > 0 && exp < LONGEST_DURATION && Number.isSafeInteger(exp),
  },
  {
    id: "claim-exp-time-zone",
    title: "exp in local time",
    message: "The claim exp is off by whole hours, as local time is that was taken for UTC.",
    fix: `${EXP} In Python datetime.now(timezone.utc), not utcnow() or now(); in C# DateTimeOffset.UtcNow.ToUnixTimeSeconds().`,
    find({ past, zone }) {
      const isOff = past >= 0 || -past > MAX_TOKEN_LIFETIME_SECONDS;
      return (
        isOff &&
        zone !== undefined &&
        `${this.message} It is ${Math.abs(zone)} h ${zone > 0 ? "ahead" : "behind"}.`
      );
    },
  },
  ...EXPIRED,
  {
    id: "claim-exp-too-far",
    title: "exp too far ahead",
    message: "The claim exp is more than 10 minutes ahead.",
    fix: `${EXP} 600 at most.`,
    listener: {
      family: "token",
      accepts: "tokens that expire within 30 seconds",
      bug: "it demands a shorter life than 10 minutes of them",
    },
    find({ past, wasValid, zone }) {
      const tooFar = -past - MAX_TOKEN_LIFETIME_SECONDS;
      return tooFar > 0 && !wasValid && zone === undefined && `${this.message} It is ${tooFar} s too far.`;
    },
  },
  {
    id: "claim-exp-clock-ahead",
    title: "exp too far ahead, because of the clock",
    message:
      "The claim exp is more than 10 minutes ahead, but by the request's own timestamp it is not: the sender's clock is ahead.",
    fix: "Set the sender's clock: date +%s prints it. With 300 s to live there is room for a clock that is off.",
    find({ past, wasValid, away }) {
      return -past > MAX_TOKEN_LIFETIME_SECONDS && wasValid && `${this.message} ${away}`;
    },
  },
];

/** The claim nbf, which nobody asks for. */
export const NOT_BEFORE: FoundMistake<{ readonly nbf: unknown; readonly nowSeconds: number }> = {
  id: "claim-nbf",
  title: "Token not valid yet",
  message: "The claim nbf is in the future, or not a number of seconds.",
  fix: "Leave nbf out: the service does not ask for it.",
  find({ nbf, nowSeconds }) {
    if (typeof nbf !== "number") return nbf !== undefined;
    return nbf > nowSeconds && `${this.message} It is ${Math.ceil(nbf - nowSeconds)} s ahead.`;
  },
};
