import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OpenSqliteDatabase } from "hookproof/node";
import type { OutboxEvent } from "hookproof/outbox";
import LibSql from "libsql";
import { sha256Base64url } from "#hash";
import { newEventId } from "../../src/protocol/event-id.js";
import { betterSqlite3 } from "../support/better-sqlite3.js";

const Compiled = betterSqlite3();

/** The drivers that run on this runtime, each by how it opens a file. */
export const SQLITE_DRIVERS: Readonly<Record<string, (file: string) => OpenSqliteDatabase>> = {
  ...(Compiled ? { "better-sqlite3": (file: string) => new Compiled(file) } : {}),
  libsql: (file) => new LibSql(file) as unknown as OpenSqliteDatabase,
};

/** A folder of its own for a file; `remove` takes it away. */
export function newOutboxFile(): { file: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "hookproof-outbox-"));
  return { file: join(folder, "outbox.db"), remove: () => rmSync(folder, { recursive: true }) };
}

/** An event as the outbox hands it to a store. */
export function storedEvent(listener: string, fields: Partial<OutboxEvent> = {}): OutboxEvent {
  const body = fields.body ?? new TextEncoder().encode(JSON.stringify({ at: listener }));
  return { id: newEventId(), listener, body, digest: sha256Base64url(body), ...fields };
}
