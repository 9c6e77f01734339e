// Writes a time for a row of a terminal.
import { shownTime } from "../times.js";

/** The time of day in UTC of what is of today, else the day and the minute. */
export function briefTime(at: number): string {
  const [time, now] = [shownTime(at), shownTime(Date.now())];
  return time.slice(0, 10) === now.slice(0, 10) ? time.slice(11) : time.slice(5, 16).replace("T", " ");
}
