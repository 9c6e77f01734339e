import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OpenSqliteDatabase } from "hookproof/node";
import type { OutboxEvent } from "hookproof/outbox/store";
import LibSql from "libsql";
import { afterEach, beforeEach, describe, it } from "vitest";
import { sha256Base64url } from "#hash";
import { newEventId } from "../../../src/core/event.js";
import { betterSqlite3 } from "../../kit/better-sqlite3.js";
import { describeWith, itWith } from "../../kit/needs.js";

const Compiled = betterSqlite3();

const onCompiled = (file: string): OpenSqliteDatabase => {
  if (!Compiled) throw new Error("better-sqlite3 is not installed");
  return new Compiled(file);
};

const drivers: Record<string, (file: string) => OpenSqliteDatabase> = {
  ...(Compiled ? { "better-sqlite3": onCompiled } : {}),
  libsql: (file) => new LibSql(file) as unknown as OpenSqliteDatabase,
  ...(Compiled ? {} : { "better-sqlite3": onCompiled }),
};

/**
 * The drivers by how each opens a file, the best there is first; for `itOn` and `describeOn`. For mutants
 * (docs/mutation.md) the best one has to do.
 */
export const SQLITE_DRIVERS: Readonly<typeof drivers> = process.env.MUTATION_ROOM
  ? Object.fromEntries(Object.entries(drivers).slice(0, 1))
  : drivers;

/** A test on one of the drivers, skipped where it is not installed. */
export const itOn = (driver: string) => (driver === "libsql" ? it : itWith(driver, Compiled));

/** A group of tests on one of the drivers, skipped where it is not installed. */
export const describeOn = (driver: string) =>
  driver === "libsql" ? describe : describeWith(driver, Compiled);

/** A folder of its own for a file; `remove` takes it away. */
export function newOutboxFile(): { file: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "hookproof-outbox-"));
  return { file: join(folder, "outbox.db"), remove: () => rmSync(folder, { recursive: true }) };
}

/** A new file for each test of a file; what the test has `opened` is closed before it is removed. */
export function fileOfEachTest(): { readonly file: string; readonly opened: { close(): unknown }[] } {
  const place = { file: "", opened: [] as { close(): unknown }[] };
  let remove: () => void;
  beforeEach(() => {
    const fresh = newOutboxFile();
    place.file = fresh.file;
    remove = fresh.remove;
  });
  afterEach(async () => {
    for (const one of place.opened.splice(0)) await one.close();
    remove();
  });
  return place;
}

/** An event as the outbox hands it to a store. */
export function storedEvent(listener: string, fields: Partial<OutboxEvent> = {}): OutboxEvent {
  const body = fields.body ?? new TextEncoder().encode(JSON.stringify({ at: listener }));
  return { id: newEventId(), listener, body, digest: sha256Base64url(body), ...fields };
}

/** What a watched connection does otherwise than its driver; each may throw. */
export interface SqliteHooks {
  exec?(sql: string): void;
  /** Called before a prepared query runs. */
  all?(sql: string): void;
  /** What a query gives instead. */
  rows?(sql: string, rows: unknown[]): unknown[];
  close?(): void;
}

/** A connection that tells of what is done with it. */
export function watched(db: OpenSqliteDatabase, hooks: SqliteHooks): OpenSqliteDatabase {
  return {
    exec(sql) {
      hooks.exec?.(sql);
      return db.exec(sql);
    },
    prepare(sql) {
      const statement = db.prepare(sql);
      return {
        all(...values) {
          hooks.all?.(sql);
          const rows = statement.all(...values);
          return hooks.rows?.(sql, rows) ?? rows;
        },
        run: (...values) => statement.run(...values),
      };
    },
    close() {
      hooks.close?.();
      return db.close();
    },
  };
}
