const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const whole = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "long" });

/** Hours, minutes and seconds where the reader is. */
export function timeOfDay(ms: number): string {
  return clock.format(ms);
}

/** Date and time with the zone. */
export function dateAndTime(ms: number): string {
  return whole.format(ms);
}

/** Minutes and seconds, for a countdown. */
export function minutesAndSeconds(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
