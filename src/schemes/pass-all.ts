// Makes a scheme's checks one after the other.
import type { Check } from "../core/check.js";

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
