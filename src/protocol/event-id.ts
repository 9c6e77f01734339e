import { v4, validate, version } from "uuid";

/**
 * A new event id: a random UUID of version 4, in lower case (specification 5.2).
 *
 * @example
 * ```ts
 * import { isEventId, newEventId } from "hookproof";
 *
 * isEventId(newEventId()); // true
 * ```
 */
export function newEventId(): string {
  return v4();
}

/**
 * Whether a text is an event id: a UUID of version 4 in either case, without braces or prefix
 * (specification 5.2).
 *
 * @example
 * ```ts
 * import { isEventId } from "hookproof";
 *
 * isEventId("00000000-0000-0000-0000-000000000000"); // false: a UUID, but not of version 4
 * ```
 */
export function isEventId(text: string): boolean {
  return validate(text) && version(text) === 4;
}
