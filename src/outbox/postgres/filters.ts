// Filters as conditions in SQL, written out, so that indexes serve them.
import { isEventId } from "../../core/event.js";
import { jsonLiteral } from "../../postgres/database.js";
import type { EventFilter } from "../outbox-store.js";
import type { DeadLetterFilter } from "../records.js";

/** A condition that holds for the events of a filter; ids that are no event ids match nothing. */
export function fits({ listener, ids }: EventFilter): string {
  return [
    ...(listener === undefined ? [] : [`e.listener = ${text(listener)}`]),
    ...(ids ? [`e.id = ANY ('{${ids.filter(isEventId)}}'::uuid[])`] : []),
    "true",
  ].join(" AND ");
}

/** One that holds for the dead letters of a filter. Those with given ids are found by them, and others in their order. */
export function fitsDead({ reason, code, before, ...events }: DeadLetterFilter): string {
  return [
    events.ids ? IS_DEAD : "e.state = 'dead' AND e.ended_at IS NOT NULL",
    ...(reason === undefined ? [] : [`e.reason = ${text(reason)}`]),
    ...(code === undefined ? [] : [`e.code = ${text(code)}`]),
    ...(before === undefined ? [] : [`e.ended_at < to_timestamp('${Number(before)}'::float8 / 1000)`]),
    fits(events),
  ].join(" AND ");
}

/** Written so that no index by the end of events serves it, by which all dead letters would be read to find a few. */
export const IS_DEAD = "(e.state || '') = 'dead'";

/** Any text as SQL, by way of JSON, which has an escape for every character. */
export function text(value: string): string {
  return `(${jsonLiteral(value)} #>> '{}')`;
}
