// Writes times and ages for people.
const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const whole = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "long" });
const utc = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium", timeZone: "UTC" });

/** Hours, minutes and seconds where the reader is. */
export function timeOfDay(ms: number): string {
  return clock.format(ms);
}

/** Date and time with the zone; next to it the time in UTC, where that is another one. */
export function dateAndTime(ms: number): string {
  const inUtc = utc.format(ms);
  return inUtc === timeOfDay(ms) ? whole.format(ms) : `${whole.format(ms)} · ${inUtc} UTC`;
}

/** How long ago something was, in one unit. */
export function ago(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  return seconds < 172_800
    ? `${Math.floor(seconds / 3600)} h ago`
    : `${Math.floor(seconds / 86_400)} days ago`;
}

/** Minutes and seconds, for a countdown. */
export function minutesAndSeconds(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
