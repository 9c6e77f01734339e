// Functions of times: reading and writing them, and where a day, a month or a quarter begins and ends.
import { CelScalar, celFunc, objectType } from "@bufbuild/cel";
import { create, toJson } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { Temporal } from "temporal-polyfill";
import { FIRST_SECOND, LAST_SECOND, timestampOf } from "./functions.js";
import { nearestName } from "./nearest-name.js";

const { INT, STRING } = CelScalar;
const TIMESTAMP = objectType(TimestampSchema);
const SECOND = 1_000_000_000n;
/** `+05:30`, or a name; an address or a time, which Temporal takes as well, is none. */
const ZONE = /^(?:[+-][0-9]{2}:[0-9]{2}|[A-Za-z][A-Za-z0-9_+/-]{0,99})$/;

/** The forms of times; those that are read are ISO 8601, of which a date has no time of day. */
const LAYOUTS = {
  rfc3339: { write: undefined },
  date: { read: /^\d{4}-\d{2}-\d{2}$/, write: (local) => local.toPlainDate().toString() },
  datetime: {
    read: /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/,
    write: (local) => local.toPlainDateTime().toString({ smallestUnit: "second" }).replace("T", " "),
  },
  time: { write: (local) => local.toPlainTime().toString({ smallestUnit: "second" }) },
};
const READ = ["rfc3339", "date", "datetime"];

const rounded = (smallestUnit) => (local) => local.round({ smallestUnit, roundingMode: "floor" });
/** Where the part of a calendar begins that a time is in, and how long one of whole days is. */
const UNITS = {
  minute: { begin: rounded("minute") },
  hour: { begin: rounded("hour") },
  day: { begin: (local) => local.startOfDay(), length: { days: 1 } },
  week: {
    begin: (local) => local.subtract({ days: local.dayOfWeek - 1 }).startOfDay(),
    length: { weeks: 1 },
  },
  month: { begin: (local) => local.with({ day: 1 }).startOfDay(), length: { months: 1 } },
  quarter: {
    begin: (local) => local.with({ day: 1, month: local.month - ((local.month - 1) % 3) }).startOfDay(),
    length: { months: 3 },
  },
  year: { begin: (local) => local.with({ day: 1, month: 1 }).startOfDay(), length: { years: 1 } },
};

/** The functions, to be given to the environment. */
export const times = [
  ...withZone("time.parse", [STRING, STRING], TIMESTAMP, parsedTime),
  ...withZone("time.format", [TIMESTAMP, STRING], STRING, formattedTime),
  ...withZone("time.start_of", [TIMESTAMP, STRING], TIMESTAMP, startOf),
  ...withZone("time.truncate", [TIMESTAMP, STRING], TIMESTAMP, startOf),
  ...withZone("time.end_of", [TIMESTAMP, STRING], TIMESTAMP, endOf),
  celFunc("time.unix", [INT], TIMESTAMP, (seconds) => stampOf(seconds * SECOND)),
];

function withZone(name, args, result, call) {
  return [
    celFunc(name, args, result, (one, other) => call(one, other, "UTC")),
    celFunc(name, [...args, STRING], result, call),
  ];
}

/** What is wrong with a text that stands as an argument of one of the functions; it can be known before there is a time. */
export function wrongTimeArgument(name, index, text) {
  if (!/^time\.(?:parse|format|start_of|truncate|end_of)$/.test(name)) return undefined;
  try {
    if (index === 2) inZone(Temporal.Instant.fromEpochMilliseconds(0), text);
    if (index === 1 && name === "time.parse") known("layout", READ, text);
    if (index === 1 && name === "time.format") known("layout", Object.keys(LAYOUTS), text);
    if (index === 1 && /start_of|truncate|end_of/.test(name)) known("unit", Object.keys(UNITS), text);
    return undefined;
  } catch (error) {
    return error.message;
  }
}

function known(what, names, given) {
  if (names.includes(given)) return given;
  const near = nearestName(given, names);
  const meant = near === undefined ? `it is one of ${names.join(", ")}` : `did you mean ${near}?`;
  throw new Error(`there is no ${what} ${JSON.stringify(given.slice(0, 100))}; ${meant}`);
}

/** An hour that clocks show twice is the first one; one that they leave out is read by the time before. */
function parsedTime(text, layout, zone) {
  const { read } = LAYOUTS[known("layout", READ, layout)];
  if (!read) return timestampOf(text);
  try {
    if (read.test(text))
      return stampOf(Temporal.PlainDateTime.from(text).toZonedDateTime(zoneOf(zone)).epochNanoseconds);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw new Error(`${JSON.stringify(text.slice(0, 100))} is no ${layout}`);
}

function formattedTime({ message }, layout, zone) {
  const { write } = LAYOUTS[known("layout", Object.keys(LAYOUTS), layout)];
  const local = inZone(instantOf(message), zone);
  if (write) return write(local);
  const isUtc = local.offsetNanoseconds % 60e9 !== 0;
  const offset = local.offsetNanoseconds === 0 || isUtc ? "Z" : local.offset;
  const written = isUtc ? local.withTimeZone("UTC") : local;
  return written.toPlainDateTime().toString({ smallestUnit: "second" }) + fractionOf(message) + offset;
}

/** As protobuf writes it: nothing, or 3, 6 or 9 digits. */
function fractionOf(message) {
  return toJson(TimestampSchema, message).slice(19, -1);
}

function startOf({ message }, unit, zone) {
  return stampOf(partOf(message, unit, zone).begin.epochNanoseconds);
}

/** The last nanosecond before the next one begins. */
function endOf({ message }, unit, zone) {
  const { begin, length } = partOf(message, unit, zone);
  const next = length ? begin.add(length).startOfDay() : nextOnClock(message, unit, zone);
  return stampOf(next.epochNanoseconds - 1n);
}

/** Where clocks move, an hour on them is shorter or longer than one, or there are two of one name. */
function nextOnClock(message, unit, zone) {
  const { begin } = UNITS[unit];
  const local = inZone(instantOf(message), zone);
  const next = local.add({ nanoseconds: 1 }).round({ smallestUnit: unit, roundingMode: "ceil" });
  const move = local.getTimeZoneTransition("next");
  const isEarlier = move !== null && move.epochNanoseconds < next.epochNanoseconds;
  return isEarlier && !begin(move).equals(begin(local)) ? move : next;
}

function partOf(message, unit, zone) {
  const { begin, length } = UNITS[known("unit", Object.keys(UNITS), unit)];
  return { begin: begin(inZone(instantOf(message), zone)), length };
}

/** @throws {Error} for a zone that there is not, and for a time that clocks there show in another year than 1 to 9999 */
function inZone(instant, zone) {
  const local = instant.toZonedDateTimeISO(zoneOf(zone));
  if (local.year < 1 || local.year > 9999) throw outOfYears();
  return local;
}

function zoneOf(zone) {
  try {
    if (ZONE.test(zone)) return new Temporal.ZonedDateTime(0n, zone).timeZoneId;
  } catch {
    // told below
  }
  throw new Error(`there is no time zone ${JSON.stringify(zone.slice(0, 100))}`);
}

function instantOf({ seconds, nanos }) {
  return new Temporal.Instant(seconds * SECOND + BigInt(nanos));
}

function stampOf(nanoseconds) {
  const nanos = ((nanoseconds % SECOND) + SECOND) % SECOND;
  const seconds = (nanoseconds - nanos) / SECOND;
  if (seconds < FIRST_SECOND || seconds > LAST_SECOND) throw outOfYears();
  return create(TimestampSchema, { seconds, nanos: Number(nanos) });
}

function outOfYears() {
  return new Error("a time is in the years 1 to 9999");
}
