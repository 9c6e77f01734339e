// Times as the clocks of a time zone show them. They are kept as milliseconds, as if they were UTC.

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** From year 1 to year 9999, in milliseconds. */
const FIRST = -62_135_596_800_000;
const LAST = 253_402_300_799_999;
const MAX_FORMATS = 50;
const formats = new Map();

/** What the clocks of a zone show at a moment. */
export function localOf(ms, zone) {
  return inYears(ms + offsetAt(ms, zone));
}

/** The moment at which the clocks of a zone show this first; what they leave out in spring is read by the time before. */
export function momentOf(local, zone) {
  const [first, other] = [-DAY, DAY].map((away) => local - offsetAt(local + away, zone));
  const isShown = (ms) => ms + offsetAt(ms, zone) === local;
  return inYears(!isShown(first) && isShown(other) ? other : first);
}

/** How far a zone is before UTC at a moment, in milliseconds. */
export function offsetAt(ms, zone) {
  const [, sign, hours, minutes] = /^([+-])([01][0-9]|2[0-3]):([0-5][0-9])$/.exec(zone) ?? [];
  if (sign) return (sign === "-" ? -1 : 1) * (Number(hours) * HOUR + Number(minutes) * 60_000);
  if (zone === "UTC") return 0;
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const shown = new Date(0);
  shown.setUTCFullYear(parts.year, parts.month - 1, parts.day);
  shown.setUTCHours(parts.hour, parts.minute, parts.second);
  return shown.getTime() - Math.floor(ms / 1000) * 1000;
}

/** @throws {Error} for a zone that there is not */
function formatOf(zone) {
  const known = formats.get(zone);
  if (known) return known;
  const [oldest] = formats.keys();
  if (formats.size >= MAX_FORMATS) formats.delete(oldest);
  const numeric = { year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" };
  try {
    const format = new Intl.DateTimeFormat("en-US", {
      ...numeric,
      second: "numeric",
      hourCycle: "h23",
      timeZone: zone,
    });
    formats.set(zone, format);
    return format;
  } catch {
    throw new Error(`there is no time zone ${JSON.stringify(zone.slice(0, 100))}`);
  }
}

function inYears(ms) {
  if (ms < FIRST || ms > LAST) throw new Error("a time is in the years 1 to 9999");
  return ms;
}
