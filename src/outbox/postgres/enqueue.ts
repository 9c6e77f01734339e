import { encodeBase64 } from "#hash";
import { HookproofError } from "../../errors.js";
import type { OutboxEvent } from "../outbox-store.js";
import { type Database, type PostgresClient, rowsOf } from "./database.js";
import type { OutboxNames } from "./schema.js";

/** What one statement has stored, and what it found. */
interface Stored {
  /** `[id, listener]` of the events that are new. */
  readonly added: readonly [string, string][];
  /** `[id, listener, digest]` of those that were there. */
  readonly known: readonly [string, string, string][];
}

/**
 * Stores events in one statement. Its parameters are texts, each used once and in their order: every driver and ORM
 * can pass those on. A known id with other bytes among them keeps all of them out.
 */
function storeSql({ event, tally }: OutboxNames): string {
  return `WITH given AS MATERIALIZED (
      SELECT g.* FROM ROWS FROM (
        json_to_recordset($1::text::json) AS (id uuid, listener text, digest text, ordering_key text,
          traceparent text, encryption_key_id text),
        unnest(string_to_array($2::text, ','))
      ) WITH ORDINALITY AS g(id, listener, digest, ordering_key, traceparent, encryption_key_id, body, place)),
    known AS MATERIALIZED (
      SELECT e.id, e.listener, e.digest, e.digest <> g.digest AS is_other
      FROM given g CROSS JOIN LATERAL (
        SELECT e.id, e.listener, e.digest FROM ${event} e WHERE e.id = g.id AND e.listener = g.listener LIMIT 1) e),
    added AS (
      INSERT INTO ${event} (id, listener, state, digest, body, ordering_key, traceparent, encryption_key_id)
      SELECT id, listener, CASE WHEN ordering_key IS NULL THEN 'waiting' ELSE 'new' END, digest,
        decode(body, 'base64'), ordering_key, traceparent, encryption_key_id
      FROM given WHERE NOT EXISTS (SELECT FROM known WHERE is_other) ORDER BY place
      ON CONFLICT (id, listener) DO NOTHING RETURNING id, listener),
    counted AS (INSERT INTO ${tally} SELECT listener, count(*), 0, 0 FROM added GROUP BY listener)
    SELECT (SELECT coalesce(json_agg(json_build_array(id, listener)), '[]')::text FROM added) AS added,
      (SELECT coalesce(json_agg(json_build_array(id, listener, digest)), '[]')::text FROM known) AS known`;
}

/** Stores events, all of them or none; see `OutboxStore`. */
export function enqueueing(names: OutboxNames) {
  const sql = storeSql(names);

  async function store(client: PostgresClient, events: readonly OutboxEvent[]): Promise<Stored> {
    const described = events.map(({ id, listener, digest, orderingKey, traceparent, encryptionKeyId }) => {
      const more = { ordering_key: orderingKey, traceparent, encryption_key_id: encryptionKeyId };
      return { id, listener, digest, ...more };
    });
    const bodies = events.map(({ body }) => encodeBase64(body)).join(",");
    const result = await client.query(sql, [JSON.stringify(described), bodies]);
    const [row] = rowsOf<{ added: string; known: string }>(result);
    return { added: JSON.parse(row?.added ?? "[]"), known: JSON.parse(row?.known ?? "[]") };
  }

  /** Another transaction may store the same ids meanwhile: the statement has waited for it, and does not see them. */
  async function storeAll(client: PostgresClient, events: readonly OutboxEvent[]): Promise<void> {
    const added: (readonly [string, string])[] = [];
    for (let left = once(events); left.length > 0; ) {
      const stored = await store(client, left);
      added.push(...stored.added);
      const other = otherBytes(left, stored.known);
      if (other && added.length > 0) await takeBack(client, added);
      if (other) throw idReused(other.id);
      const done = new Set([...stored.added, ...stored.known].map(([id, listener]) => nameOf(id, listener)));
      left = left.filter(({ id, listener }) => !done.has(nameOf(id, listener)));
    }
  }

  async function takeBack(
    client: PostgresClient,
    added: readonly (readonly [string, string])[],
  ): Promise<void> {
    const { event, tally } = names;
    await client.query(
      `WITH gone AS (
        DELETE FROM ${event} e USING json_to_recordset($1::text::json) AS i(id uuid, listener text)
        WHERE e.id = i.id AND e.listener = i.listener RETURNING e.listener)
      INSERT INTO ${tally} SELECT listener, -count(*), 0, 0 FROM gone GROUP BY listener`,
      [JSON.stringify(added.map(([id, listener]) => ({ id, listener })))],
    );
  }

  return {
    /** In a transaction of the store's own. One event alone is one statement. */
    async byItself(database: Database, events: readonly OutboxEvent[]): Promise<void> {
      const alone: PostgresClient = {
        query: async (text, values) => ({ rows: await database.write(text, values) }),
      };
      try {
        if (events.length === 1) await storeAll(alone, events);
        else await database.transaction((client) => storeAll(client, events));
      } catch (error) {
        throw withIds(error, events);
      }
    },
    /**
     * In the caller's. It has no time limit of its own, so that nothing is written after the caller was told that it
     * failed; what the server says of the transaction, such as 40001, is the caller's to know.
     */
    async inTransaction(client: PostgresClient, events: readonly OutboxEvent[]): Promise<void> {
      await storeAll(client, events);
    },
  };
}

/** Each event once; the same id with other bytes is refused. */
function once(events: readonly OutboxEvent[]): OutboxEvent[] {
  const open = new Map<string, OutboxEvent>();
  for (const event of events) {
    const before = open.get(nameOf(event.id, event.listener));
    if (before && before.digest !== event.digest) throw idReused(event.id);
    if (!before) open.set(nameOf(event.id, event.listener), event);
  }
  return [...open.values()];
}

function otherBytes(events: readonly OutboxEvent[], known: Stored["known"]): OutboxEvent | undefined {
  const digests = new Map(known.map(([id, listener, digest]) => [nameOf(id, listener), digest]));
  return events.find(({ id, listener, digest }) => (digests.get(nameOf(id, listener)) ?? digest) !== digest);
}

/** An outcome that nobody knows is told with the ids, under which the call may be repeated. */
function withIds(error: unknown, events: readonly OutboxEvent[]): unknown {
  if (!(error instanceof HookproofError) || error.code !== "OUTBOX_OUTCOME_UNKNOWN") return error;
  const ids = events.slice(0, 10).map(({ id }) => id);
  const more = events.length > ids.length ? ` and ${events.length - ids.length} more` : "";
  const words = `${error.message} Repeat it under the same event id: ${ids.join(", ")}${more}.`;
  return new HookproofError(error.code, words, { cause: error.cause });
}

function idReused(id: string): HookproofError {
  return new HookproofError(
    "EVENT_ID_REUSED",
    `Event id ${id} was used before with other bytes. A new event needs a new id.`,
  );
}

function nameOf(id: string, listener: string): string {
  return `${id} ${listener}`;
}
