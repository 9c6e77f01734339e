import { createRequire } from "node:module";
import type BetterSqlite3 from "better-sqlite3";

/** better-sqlite3, which has to be compiled and so lives in `test/native`; `undefined` where it is not installed. */
export function betterSqlite3(): typeof BetterSqlite3 | undefined {
  try {
    return createRequire(new URL("../native/package.json", import.meta.url))("better-sqlite3");
  } catch {
    return undefined;
  }
}
