// Rows of timestamps and event ids that were signed in another form.
import { isTimestamp } from "../../../core/protocol.js";
import type { RepeatableMistake } from "../../rows/mistake.js";

/** Changes a header's value to what went into the signing input; `undefined` where the mistake is impossible. */
export type Rewrite = (text: string) => string | undefined;

const ONE_TIMESTAMP =
  "Work the timestamp out once, and use that text for both: const timestamp = String(Math.floor(Date.now() / 1000)).";

/** Where the clock of an earlier attempt stood: the pauses that retries make, and the minutes that people wait. */
const EARLIER_SECONDS = [
  4, 5, 6, 7, 8, 10, 15, 16, 20, 30, 32, 45, 60, 64, 90, 120, 128, 180, 240, 256, 300, 600, 900,
];

/** Where a time zone was added or taken away. */
const ZONE_HOURS = [
  -12, -11, -10, -9, -8, -7, -6, -5, -4, -3, -2, -1, 1, 2, 3, 3.5, 4, 5, 5.5, 5.75, 6, 7, 8, 9, 9.5, 10, 11,
  12, 13,
];

/** The timestamp in the signing input differs from the header. */
export const TIMESTAMP_MISTAKES: readonly RepeatableMistake<Rewrite>[] = [
  {
    id: "timestamp-signed-in-milliseconds",
    title: "Milliseconds signed, seconds sent",
    message:
      "It matches if the timestamp is signed in milliseconds, or still finer, while the header has seconds.",
    fix: ONE_TIMESTAMP,
    listener: {
      family: "time",
      accepts: "signatures over the timestamp in milliseconds",
      bug: "it turns the timestamp into milliseconds before it verifies",
    },
    ways: [
      [1, seconds((value) => `${value}000`)],
      [4, seconds((value) => `${value}000000`)],
      [4, seconds((value) => `${value}000000000`)],
    ],
  },
  {
    id: "timestamp-signed-in-seconds",
    title: "Seconds signed, something finer sent",
    message:
      "It matches if the timestamp is signed in whole seconds, while the header has milliseconds, decimals or a date.",
    fix: ONE_TIMESTAMP,
    listener: {
      family: "time",
      accepts: "signatures over the timestamp in seconds",
      bug: "it turns the timestamp into seconds before it verifies",
    },
    ways: [
      [1, (text) => (/^[0-9]{13}$/.test(text) ? text.slice(0, 10) : undefined)],
      [1, (text) => /^([0-9]{1,12})\.[0-9]{1,12}$/.exec(text)?.[1]],
      [4, (text) => (/^[0-9]{16}(?:[0-9]{3})?$/.test(text) ? text.slice(0, 10) : undefined)],
      [4, secondsOfDate],
    ],
  },
  {
    id: "timestamp-signed-as-date",
    title: "A date signed, seconds sent",
    message: "It matches if the timestamp is signed as a date (ISO 8601), while the header has seconds.",
    fix: ONE_TIMESTAMP,
    listener: {
      family: "time",
      accepts: "signatures over the timestamp as a date",
      bug: "it turns the timestamp into a date before it verifies",
    },
    ways: [
      [2, seconds((value) => isoDate(value))],
      [2, seconds((value) => isoDate(value)?.replace(".000Z", "Z"))],
      [2, seconds((value) => isoDate(value)?.replace(".000Z", "+00:00"))],
      ...[
        [".000Z", ""],
        [".000Z", ".000000Z"],
        [".000Z", "+0000"],
        [".000Z", ".000000+00:00"],
        [".000Z", ".000+00:00"],
        [".000Z", ".0000000Z"],
      ].map(([from = "", to = ""]) => [4, seconds((value) => isoDate(value)?.replace(from, to))] as const),
      ...["", "Z", "+00:00", " UTC", " +0000", " +0000 UTC", ".000000+00:00", ".000"].map(
        (end) => [4, seconds((value) => isoDate(value)?.replace("T", " ").replace(".000Z", end))] as const,
      ),
      [4, seconds((value) => isoDate(value)?.replace(/[-:]|\.000/g, ""))],
      [4, seconds((value) => isoDate(value)?.slice(0, 10))],
      [4, seconds((value) => httpDate(value))],
      [4, seconds((value) => httpDate(value)?.replace("GMT", "+0000"))],
      [4, seconds((value) => javascriptDate(value))],
    ],
  },
  {
    id: "timestamp-signed-with-fraction",
    title: "A fraction signed, whole seconds sent",
    message: "It matches if the timestamp is signed with decimals, while the header has whole seconds.",
    fix: `${ONE_TIMESTAMP} In Python str(int(time.time())).`,
    listener: {
      family: "time",
      accepts: "signatures over the timestamp with decimals",
      bug: "it turns the timestamp into a number with decimals before it verifies",
    },
    ways: [".0", ".00", ".000", ".000000"].map((end) => [3, seconds((value) => `${value}${end}`)] as const),
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
  {
    id: "timestamp-of-another-attempt",
    title: "The timestamp of an earlier attempt signed",
    message:
      "It matches with an earlier timestamp than the header's: the request was signed once and sent again with a new header, or the other way round.",
    fix: `Sign each attempt again, with the timestamp that it sends. ${ONE_TIMESTAMP}`,
    ways: EARLIER_SECONDS.map((away) => [3, seconds((value) => String(value - away))] as const),
  },
  {
    id: "timestamp-of-another-zone",
    title: "A timestamp of another time zone signed",
    message:
      "It matches with a timestamp that is some hours from the header's: one of the two is in a local time zone.",
    fix: `${ONE_TIMESTAMP} In UTC: in Python int(time.time()), not datetime.utcnow().timestamp().`,
    ways: ZONE_HOURS.map((hours) => [3, seconds((value) => String(value + hours * 3600))] as const),
  },
  {
    id: "timestamp-signed-in-other-form",
    title: "Another form of the timestamp signed",
    message:
      "It matches if another text stands for the timestamp: a float with an exponent, hex, minutes, with something around it, or without what is around the header's.",
    fix: ONE_TIMESTAMP,
    ways: [
      [3, (text) => /^["'\s]{0,4}([0-9]{10,13})["'\s]{0,4}$/.exec(text)?.[1]],
      [4, seconds((value) => goFloat(value, "e"))],
      [4, seconds((value) => goFloat(value, "E"))],
      [4, seconds((value) => value.toString(16))],
      [4, seconds((value) => String(Math.floor(value / 60)))],
      // string(timestamp) of Go gives the character of this number, which there is none.
      ...["undefined", "null", "None", "NaN", "[object Date]", "[object Object]", "\uFFFD"].map(
        (text) => [4, seconds(() => text)] as const,
      ),
      [4, seconds((value) => `"${value}"`)],
      [4, seconds((value) => ` ${value}`)],
      [4, seconds((value) => `${value}\n`)],
      [4, seconds((value) => `-${value}`)],
      [4, seconds((value) => `t=${value}`)],
    ],
  },
];

const AS_IN_HEADER =
  "Use one text for both: the id in the signing input is the header's, character by character.";

/** The event id in the signing input differs from the header. */
export const EVENT_ID_MISTAKES: readonly RepeatableMistake<Rewrite>[] = [
  {
    id: "event-id-signed-in-other-case",
    title: "Event id in other case",
    message: "It matches if the event id is signed in other case than the header has it.",
    fix: AS_IN_HEADER,
    listener: {
      family: "input",
      accepts: "signatures over the event id in other case than its header",
      bug: "it changes the case of the event id before it verifies",
    },
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
    listener: {
      family: "input",
      accepts: "signatures over the event id without hyphens",
      bug: "it removes the hyphens of the event id",
    },
    ways: [
      [3, (text) => text.replaceAll("-", "")],
      [3, (text) => text.replaceAll("-", "").toUpperCase()],
    ],
  },
  {
    id: "event-id-signed-wrapped",
    title: "Something around the signed event id",
    message:
      "It matches if the event id is signed with braces, quotes or urn:uuid: around it, or without what is around the header's.",
    fix: AS_IN_HEADER,
    ways: [
      [3, (text) => `{${text}}`],
      [3, (text) => `"${text}"`],
      [3, (text) => `urn:uuid:${text}`],
      [3, (text) => `UUID('${text}')`],
      [3, (text) => `{${text.toUpperCase()}}`],
      [4, (text) => `(${text})`],
      [4, (text) => `'${text}'`],
      [4, (text) => `evt_${text}`],
      [4, (text) => `msg_${text}`],
      [4, (text) => `${text}\n`],
      [4, (text) => `${text} `],
      [4, (text) => ` ${text}`],
      [3, (text) => text.trim().replace(/^urn:uuid:|^[{"'(]|[}"')]$/gi, "")],
      [4, (text) => /^[a-z]{2,12}_([0-9a-f-]{36})$/i.exec(text)?.[1]],
    ],
  },
];

/** The seconds of a date, where the header has one, or of a number with signs between its digits. */
function secondsOfDate(text: string): string | undefined {
  if (/^[0-9]{1,3}(?:[,' ][0-9]{3}){3}$/.test(text)) return text.replace(/[^0-9]/g, "");
  // Without its zone it would be another time on every machine.
  const isWhole =
    text.length <= 40 && /^[A-Za-z0-9:.,+ -]{16,}(?:Z|GMT|UTC|[+-][0-9]{2}:?[0-9]{2})$/.test(text);
  const ms = isWhole ? Date.parse(text) : Number.NaN;
  return ms > 1e12 && ms < 1e13 ? String(Math.floor(ms / 1000)) : undefined;
}

/** A number as Go and C print it with an exponent. */
function goFloat(value: number, exponent: string): string {
  return value.toExponential().replace(/e\+([0-9])$/, `${exponent}${exponent === "e" ? "+0" : ""}$1`);
}

function httpDate(value: number): string | undefined {
  return value > LAST_DATE_SECONDS ? undefined : new Date(value * 1000).toUTCString();
}

/** String(new Date(…)) where the zone is UTC. */
function javascriptDate(value: number): string | undefined {
  const [day, date = "", month, year, time] = httpDate(value)?.replace(",", "").split(" ") ?? [];
  return day && `${day} ${month} ${date} ${year} ${time} GMT+0000 (Coordinated Universal Time)`;
}

function seconds(rewrite: (value: number) => string | undefined): Rewrite {
  return (text) => (isTimestamp(text) ? rewrite(Number(text)) : undefined);
}

const LAST_DATE_SECONDS = 253_402_300_799;

function isoDate(value: number): string | undefined {
  return value > LAST_DATE_SECONDS ? undefined : new Date(value * 1000).toISOString();
}
