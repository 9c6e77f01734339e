// Makes a scheme's checks one after the other, and the check of one header.
import type { Check, SchemeChecks } from "../core/check.js";
import { shown } from "../core/shown.js";

/**
 * Makes a scheme's checks one after the other, up to and with the first that fails; whether none did. Given a generator,
 * a check is not made after one before it failed.
 */
export function passAll(collected: Check[], checks: Iterable<Check>): boolean {
  for (const check of checks) {
    collected.push(check);
    if (!check.ok) return false;
  }
  return true;
}

/** What is seen of a header that stands more than once: two readers could choose two of its values. */
export const TWICE = "the header more than once";

/**
 * The check of a header that must stand once, and hold a value that is well-formed.
 *
 * @param name with which the two codes of its refusals begin
 * @param seen what the check has seen of such a value; `undefined` of another one
 */
export function checkHeader(
  values: readonly string[],
  step: string,
  name: "EVENT_ID" | "TIMESTAMP",
  seen: (value: string) => string | undefined,
  { passed, failed }: SchemeChecks,
): Check {
  const [value, ...more] = values;
  if (value === undefined) return failed(step, `${name}_MISSING`, "nothing");
  if (more.length > 0) return failed(step, `${name}_MALFORMED`, TWICE);
  const good = seen(value);
  return good === undefined ? failed(step, `${name}_MALFORMED`, shown(value)) : passed(step, good);
}
