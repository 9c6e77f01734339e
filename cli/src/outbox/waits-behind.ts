// What a waiting event of an ordering key waits behind, in words and for scripts.
import type { OutboxEntry } from "hookproof/outbox";
import { exactTime, shownTime } from "../times.js";

/** In words; nothing for an event that waits behind none. */
export function waitsBehindWords(
  { waitsBehind }: OutboxEntry,
  short: (id: string) => string = (id) => id,
): string {
  if (!waitsBehind) return "";
  const { state, since } = waitsBehind;
  const id = short(waitsBehind.id);
  if (state === "in-flight") return `waits behind ${id}, which is being sent`;
  return `waits behind ${id}, ${state === "dead" ? "dead" : "waiting"} since ${shownTime(since)}`;
}

/** The same for scripts. */
export function waitsBehindFields({ waitsBehind }: OutboxEntry) {
  if (!waitsBehind) return undefined;
  const { id: eventId, state, since } = waitsBehind;
  return { eventId, state, since: exactTime(since) };
}
