// Functions of times: reading and writing them, and where a day, a month or a quarter begins and ends.
import { CelScalar, celFunc, objectType } from "@bufbuild/cel";
import { create, toJson } from "@bufbuild/protobuf";
import { TimestampSchema, timestampMs } from "@bufbuild/protobuf/wkt";
import { timestampOf } from "./functions.js";
import { nearestName } from "./nearest-name.js";
import { localOf, momentOf, offsetAt } from "./zones.js";

const { INT, STRING } = CelScalar;
const TIMESTAMP = objectType(TimestampSchema);
const DAY = 86_400_000;

/** The forms of times. The ones that are read give the text in RFC 3339, as if the clocks were those of UTC. */
const LAYOUTS = {
  rfc3339: { write: undefined },
  date: { read: /^([0-9]{4}-[0-9]{2}-[0-9]{2})()$/, write: (iso) => iso.slice(0, 10) },
  datetime: {
    read: /^([0-9]{4}-[0-9]{2}-[0-9]{2}) ([0-9]{2}:[0-9]{2}:[0-9]{2})$/,
    write: (iso) => `${iso.slice(0, 10)} ${iso.slice(11, 19)}`,
  },
  time: { write: (iso) => iso.slice(11, 19) },
};
const READ = ["rfc3339", "date", "datetime"];

const months = (count) => ({
  begin: (date) => dateOf(date.getUTCFullYear(), date.getUTCMonth() - (date.getUTCMonth() % count)),
  end: (date) => dateOf(date.getUTCFullYear(), date.getUTCMonth() + count),
});
const days = (count, before) => ({
  begin: (date) => Math.floor(date.getTime() / DAY) * DAY - before(date) * DAY,
  end: (date) => date.getTime() + count * DAY,
});
/** Where the part of a calendar begins that a time is in, and where the one behind a beginning does. */
const UNITS = {
  minute: { length: 60_000 },
  hour: { length: 3_600_000 },
  day: days(1, () => 0),
  week: days(7, (date) => (date.getUTCDay() + 6) % 7),
  month: months(1),
  quarter: months(3),
  year: months(12),
};

/** The functions, to be given to the environment. */
export const times = [
  ...withZone("time.parse", [STRING, STRING], TIMESTAMP, parsedTime),
  ...withZone("time.format", [TIMESTAMP, STRING], STRING, formattedTime),
  ...withZone("time.start_of", [TIMESTAMP, STRING], TIMESTAMP, startOf),
  ...withZone("time.truncate", [TIMESTAMP, STRING], TIMESTAMP, startOf),
  ...withZone("time.end_of", [TIMESTAMP, STRING], TIMESTAMP, endOf),
  celFunc("time.unix", [INT], TIMESTAMP, (seconds) => {
    if (seconds < -62_135_596_800n || seconds > 253_402_300_799n) throw new Error("timestamp out of range");
    return create(TimestampSchema, { seconds });
  }),
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
    if (index === 2) offsetAt(0, text);
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

function parsedTime(text, layout, zone) {
  const { read } = LAYOUTS[known("layout", READ, layout)];
  if (!read) return timestampOf(text);
  const [, date, time] = read.exec(text) ?? [];
  if (date === undefined) throw new Error(`${JSON.stringify(text.slice(0, 100))} is no ${layout}`);
  return stampOf(momentOf(timestampMs(timestampOf(`${date}T${time || "00:00:00"}Z`).message), zone));
}

function formattedTime({ message }, layout, zone) {
  const { write } = LAYOUTS[known("layout", Object.keys(LAYOUTS), layout)];
  const ms = timestampMs(message);
  const local = new Date(localOf(ms, zone)).toISOString();
  if (write) return write(local);
  const fraction = toJson(TimestampSchema, message).slice(19, -1);
  return local.slice(0, 19) + fraction + offsetText(offsetAt(ms, zone));
}

function offsetText(offset) {
  if (offset === 0) return "Z";
  const minutes = Math.round(Math.abs(offset) / 60_000);
  const two = (value) => String(value).padStart(2, "0");
  return `${offset < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

function startOf({ message }, unit, zone) {
  return stampOf(beginning(timestampMs(message), unit, zone).start);
}

/** The last nanosecond before the next one begins. */
function endOf({ message }, unit, zone) {
  const { end } = beginning(timestampMs(message), unit, zone);
  return create(TimestampSchema, { seconds: BigInt(end / 1000) - 1n, nanos: 999_999_999 });
}

function beginning(ms, unit, zone) {
  const { length, begin, end } = UNITS[known("unit", Object.keys(UNITS), unit)];
  const local = localOf(ms, zone);
  if (length) {
    const start = ms - (((local % length) + length) % length);
    return { start, end: start + length };
  }
  const first = begin(new Date(local));
  return { start: momentOf(first, zone), end: momentOf(end(new Date(first)), zone) };
}

/** The first of a month, in milliseconds as if in UTC. */
function dateOf(year, month) {
  return new Date(0).setUTCFullYear(year, month, 1);
}

function stampOf(ms) {
  const seconds = Math.floor(ms / 1000);
  return create(TimestampSchema, { seconds: BigInt(seconds), nanos: (ms - seconds * 1000) * 1_000_000 });
}
