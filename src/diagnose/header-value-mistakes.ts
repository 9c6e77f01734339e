import { isTimestamp } from "../protocol/timestamp.js";
import type { Trial } from "./mistake.js";

/** A header's text as it got into the signing input; `undefined` where the mistake cannot be made. */
export type Rewrite = (text: string) => string | undefined;

const ONE_TIMESTAMP =
  "Work the timestamp out once, and use that text for both: const timestamp = String(Math.floor(Date.now() / 1000)).";

/** The timestamp in the signing input, where it differs from the header's. */
export const TIMESTAMP_TRIALS: readonly Trial<Rewrite>[] = [
  {
    id: "timestamp-signed-in-milliseconds",
    title: "Milliseconds signed, seconds sent",
    message: "It matches if the timestamp is signed in milliseconds, while the header has seconds.",
    fix: ONE_TIMESTAMP,
    ways: [[1, seconds((value) => `${value}000`)]],
  },
  {
    id: "timestamp-signed-in-seconds",
    title: "Seconds signed, milliseconds sent",
    message: "It matches if the timestamp is signed in seconds, while the header has milliseconds.",
    fix: ONE_TIMESTAMP,
    ways: [[1, (text) => (/^[0-9]{13}$/.test(text) ? text.slice(0, 10) : undefined)]],
  },
  {
    id: "timestamp-signed-as-date",
    title: "A date signed, seconds sent",
    message: "It matches if the timestamp is signed as a date (ISO 8601), while the header has seconds.",
    fix: ONE_TIMESTAMP,
    ways: [
      [2, seconds((value) => isoDate(value))],
      [2, seconds((value) => isoDate(value)?.replace(".000Z", "Z"))],
      [2, seconds((value) => isoDate(value)?.replace(".000Z", "+00:00"))],
    ],
  },
  {
    id: "timestamp-signed-with-fraction",
    title: "A fraction signed, whole seconds sent",
    message: "It matches if the timestamp is signed with decimals, while the header has whole seconds.",
    fix: `${ONE_TIMESTAMP} In Python str(int(time.time())).`,
    ways: [[3, seconds((value) => `${value}.0`)]],
  },
  {
    id: "timestamp-of-another-second",
    title: "Another second signed than sent",
    message: "It matches with a timestamp a few seconds from the header's: the clock was read twice.",
    fix: ONE_TIMESTAMP,
    ways: [
      [2, seconds((value) => String(value - 1))],
      [2, seconds((value) => String(value + 1))],
      ...[-2, 2, -3, 3].map((away) => [3, seconds((value) => String(value + away))] as const),
    ],
  },
];

const AS_IN_HEADER =
  "Use one text for both: the id in the signing input is the header's, character by character.";

/** The event id in the signing input, where it differs from the header's. */
export const EVENT_ID_TRIALS: readonly Trial<Rewrite>[] = [
  {
    id: "event-id-signed-in-other-case",
    title: "Event id in other case",
    message: "It matches if the event id is signed in other case than the header has it.",
    fix: AS_IN_HEADER,
    ways: [
      [1, (text) => text.toLowerCase()],
      [2, (text) => text.toUpperCase()],
    ],
  },
  {
    id: "event-id-signed-without-hyphens",
    title: "Event id without hyphens",
    message: "It matches if the event id is signed without its hyphens.",
    fix: AS_IN_HEADER,
    ways: [[3, (text) => text.replaceAll("-", "")]],
  },
];

function seconds(rewrite: (value: number) => string | undefined): Rewrite {
  return (text) => (isTimestamp(text) ? rewrite(Number(text)) : undefined);
}

const LAST_DATE_SECONDS = 253_402_300_799;

function isoDate(value: number): string | undefined {
  return value > LAST_DATE_SECONDS ? undefined : new Date(value * 1000).toISOString();
}
