import { createRequire } from "node:module";
import type BetterSqlite3 from "better-sqlite3";

/**
 * better-sqlite3, which has to be compiled and so lives in `test/native`; `undefined` where it is not installed.
 * That is said aloud, and in CI it is an error.
 */
export function betterSqlite3(): typeof BetterSqlite3 | undefined {
  try {
    return createRequire(new URL("../native/package.json", import.meta.url))("better-sqlite3");
  } catch (cause) {
    const words = "better-sqlite3 is missing; install it with: npm ci --prefix test/native";
    if (process.env.CI) throw new Error(words, { cause });
    console.warn(`\nSKIPPED: ${words}. The tests that need it did not run.\n`);
    return undefined;
  }
}
