import { encodeBase64 } from "#hash";
import { HookproofError } from "../errors.js";
import { newEventId } from "../protocol/event-id.js";
import type { OutboxEvent } from "./outbox-store.js";
import { rowsOf, type SqlRunner } from "./pg-boss-database.js";
import type { OutboxTables } from "./pg-boss-tables.js";

/** An event that the outbox has. */
type KnownRow = Pick<OutboxEvent, "listener" | "id" | "digest">;

/** Stores events and their jobs, all of them or none; of those that are known, it compares the digests. */
export async function storeEvents(
  tables: OutboxTables,
  db: SqlRunner,
  events: readonly OutboxEvent[],
): Promise<void> {
  const open = new Map<string, OutboxEvent>();
  for (const event of events) {
    const before = open.get(nameOf(event));
    if (before) requireSame(before, event);
    else open.set(nameOf(event), event);
  }
  while (open.size > 0) {
    const left = [...open.values()];
    if (await storeNew(tables, db, left)) return;
    for (const known of await knownOf(tables, db, left)) {
      const event = open.get(nameOf(known));
      if (event) requireSame(known, event);
      open.delete(nameOf(known));
    }
  }
}

function requireSame({ id, digest }: KnownRow, event: OutboxEvent): void {
  if (digest !== event.digest)
    throw new HookproofError(
      "EVENT_ID_REUSED",
      `Event id ${id} was used before with other bytes. A new event needs a new id.`,
    );
}

/** Stores events in one statement, and says whether all of them were new; nothing has changed if not. */
async function storeNew(
  { jobs, enqueue }: OutboxTables,
  db: SqlRunner,
  events: readonly OutboxEvent[],
): Promise<boolean> {
  const described = events.map(({ id, listener, digest, orderingKey, traceparent, encryptionKeyId }) => {
    return { id, listener, digest, orderingKey, traceparent, encryptionKeyId, jobId: newEventId() };
  });
  const [row] = await rowsOf<{ stored: boolean }>(
    db,
    `SELECT ${enqueue}($1::text, $2::text, $3::text) AS stored`,
    described,
    events.map(({ body }) => encodeBase64(body)).join(","),
    JSON.stringify(await jobs.adding(described)),
  );
  return row?.stored ?? false;
}

function knownOf(
  { events: table }: OutboxTables,
  db: SqlRunner,
  events: readonly OutboxEvent[],
): Promise<KnownRow[]> {
  return rowsOf(
    db,
    `SELECT e.listener, e.id, e.digest FROM json_to_recordset($1::text::json) AS i(id uuid, listener text)
     JOIN ${table} e ON e.id = i.id AND e.listener = i.listener`,
    events.map(({ id, listener }) => ({ id, listener })),
  );
}

function nameOf({ listener, id }: Pick<OutboxEvent, "listener" | "id">): string {
  return `${id} ${listener}`;
}
