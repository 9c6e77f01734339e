// Stores events in PostgreSQL, by the library and by SQL.
import { encodeBase64 } from "#hash";
import { HookproofError } from "../../core/errors.js";
import { MAX_BODY_BYTES } from "../../core/protocol.js";
import { type Database, type PostgresClient, rowsOf } from "../../postgres/database.js";
import { eventName, idReused, newEvents, SHARED_BODY_MS, sharedBodies } from "../engine.js";
import type { OutboxEvent } from "../records.js";
import { type OutboxNames, OWN_NAMES } from "./names.js";
import { openState } from "./order.js";

/** The result of `store`. */
interface Stored {
  /** `[id, listener]` of the events that it stored. */
  readonly added: readonly [string, string][];
  /** `[id, listener, digest]` of the events that were stored before. */
  readonly known: readonly [string, string, string][];
}

/**
 * `store(described, bodies)` stores events. If one of the ids is stored with another digest, nothing is stored. A function
 * as `claim` is: planning its statement took longer than storing one event.
 */
export function storeFunction({ schema, event, tally }: OutboxNames): string {
  return `
    CREATE FUNCTION ${schema}.store(described text, bodies text, OUT added text, OUT known text) LANGUAGE plpgsql
    ${OWN_NAMES} SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $store$
    #variable_conflict use_column
    BEGIN
      WITH given AS MATERIALIZED (
        SELECT g.* FROM ROWS FROM (
          json_to_recordset($1::json) AS (id uuid, listener text, digest text, ordering_key text,
            traceparent text, encryption_key_id text, deliver_at float8),
          unnest(string_to_array($2, ','))
        ) WITH ORDINALITY AS g(id, listener, digest, ordering_key, traceparent, encryption_key_id, deliver_at, body,
          place)),
      found AS MATERIALIZED (
        SELECT e.id, e.listener, e.digest, e.digest <> g.digest AS is_other
        FROM given g CROSS JOIN LATERAL (
          SELECT e.id, e.listener, e.digest FROM ${event} e WHERE e.id = g.id AND e.listener = g.listener LIMIT 1) e),
      stored AS (
        INSERT INTO ${event} (id, listener, state, digest, body, ordering_key, traceparent, encryption_key_id, ready_at,
          due_at)
        SELECT id, listener, ${openState("ordering_key", "ready.at")}, digest,
          decode(nullif(body, ''), 'base64'), ordering_key, traceparent, encryption_key_id, ready.at, ready.at
        FROM given CROSS JOIN LATERAL (
          SELECT greatest(now(), to_timestamp(greatest(deliver_at, 0) / 1000)) AS at) ready
        WHERE NOT EXISTS (SELECT FROM found WHERE is_other) ORDER BY place
        ON CONFLICT (id, listener) DO NOTHING RETURNING id, listener),
      counted AS (INSERT INTO ${tally} SELECT listener, count(*), 0, 0 FROM stored GROUP BY listener)
      SELECT (SELECT coalesce(json_agg(json_build_array(id, listener)), '[]')::text FROM stored),
        (SELECT coalesce(json_agg(json_build_array(id, listener, digest)), '[]')::text FROM found)
      INTO added, known;
    END $store$;`;
}

/**
 * Stores bodies that several events have. The lock of a row keeps `prune` from removing it meanwhile. It may run in the
 * caller's transaction, under the caller's `search_path`: so functions are named with their schema, and the types on
 * both sides of an operator are those that PostgreSQL's own has.
 */
function storeBodiesSql({ body }: OutboxNames): string {
  const checkAt = `pg_catalog.now() + ${SHARED_BODY_MS}::float8 * interval '1 ms'`;
  return `INSERT INTO ${body} (id, digest, body, check_at)
    SELECT g.id, g.digest, pg_catalog.decode(g.body, 'base64'::text), ${checkAt} FROM ROWS FROM (
      pg_catalog.json_to_recordset($1::text::json) AS (id uuid, digest text),
      pg_catalog.unnest(pg_catalog.string_to_array($2::text, ','::text))
    ) AS g(id, digest, body)
    ON CONFLICT (id, digest) DO UPDATE SET check_at = excluded.check_at`;
}

/** An event as `store` takes it, next to its body. */
function described({ id, listener, digest, traceparent, ...more }: OutboxEvent) {
  const { orderingKey: ordering_key, encryptionKeyId: encryption_key_id, deliverAt: deliver_at } = more;
  return { id, listener, digest, traceparent, ordering_key, encryption_key_id, deliver_at };
}

/** Takes back what one statement stored where a later one found an id used again. */
async function remove(
  client: PostgresClient,
  { event, tally }: OutboxNames,
  added: readonly (readonly [string, string])[],
): Promise<void> {
  await client.query(
    `WITH gone AS (
      DELETE FROM ${event} e USING pg_catalog.json_to_recordset($1::text::json) AS i(id uuid, listener text)
      WHERE e.id = i.id AND e.listener = i.listener RETURNING e.listener)
    INSERT INTO ${tally} SELECT listener, -count(*), 0, 0 FROM gone GROUP BY listener`,
    [JSON.stringify(added.map(([id, listener]) => ({ id, listener })))],
  );
}

/** Stores all events or none; see `OutboxStore`. */
export function enqueueStatements(names: OutboxNames) {
  // Its parameters are texts, each used once and in their order, which every driver and ORM can pass on.
  const sql = (first: string) => `SELECT added, known FROM ${names.schema}.store(${first}, $2::text)`;
  const bodiesSql = storeBodiesSql(names);

  async function store(
    client: PostgresClient,
    events: readonly OutboxEvent[],
    first: string,
  ): Promise<Stored> {
    const { firsts, isShared } = sharedBodies(events);
    if (firsts.length > 0) {
      const named = firsts.map(({ id, digest }) => ({ id, digest }));
      const shared = firsts.map(({ body }) => encodeBase64(body)).join(",");
      await client.query(bodiesSql, [JSON.stringify(named), shared]);
    }
    const bodies = events.map((event) => (isShared(event) ? "" : encodeBase64(event.body))).join(",");
    const result = await client.query(sql(first), [JSON.stringify(events.map(described)), bodies]);
    const [row] = rowsOf<{ added: string; known: string }>(result);
    return { added: JSON.parse(row?.added ?? "[]"), known: JSON.parse(row?.known ?? "[]") };
  }

  /**
   * Repeats the statement for events that it neither stored nor found: another transaction has stored the same ids
   * meanwhile, which the statement waits for and does not see. `first` is its first argument, as `Database.limited` gives it.
   */
  async function storeAll(
    client: PostgresClient,
    events: readonly OutboxEvent[],
    first = "$1::text",
  ): Promise<void> {
    const added: (readonly [string, string])[] = [];
    for (let left = newEvents(events, () => undefined); left.length > 0; ) {
      const stored = await store(client, left, first);
      added.push(...stored.added);
      const other = otherBytes(left, stored.known);
      if (other && added.length > 0) await remove(client, names, added);
      if (other) throw idReused(other);
      const done = new Set(
        [...stored.added, ...stored.known].map(([id, listener]) => eventName({ id, listener })),
      );
      left = left.filter(({ id, listener }) => !done.has(eventName({ id, listener })));
    }
  }

  return {
    /** In a transaction of the store's own; a single event needs only one statement. */
    async byItself(database: Database, events: readonly OutboxEvent[]): Promise<void> {
      const alone: PostgresClient = {
        query: async (text, values) => ({ rows: await database.write(text, values) }),
      };
      try {
        if (events.length === 1) await storeAll(alone, events, database.limited("$1::text"));
        else await database.transaction((client) => storeAll(client, events));
      } catch (error) {
        throw withIds(error, events);
      }
    },
    /**
     * In the caller's transaction, without a time limit, so that nothing is written after the call has failed. Errors
     * about the transaction, such as 40001, go to the caller.
     */
    async inTransaction(client: PostgresClient, events: readonly OutboxEvent[]): Promise<void> {
      await storeAll(client, events);
    },
  };
}

function otherBytes(events: readonly OutboxEvent[], known: Stored["known"]): OutboxEvent | undefined {
  const digests = new Map(known.map(([id, listener, digest]) => [eventName({ id, listener }), digest]));
  return events.find(
    ({ id, listener, digest }) => (digests.get(eventName({ id, listener })) ?? digest) !== digest,
  );
}

/** Adds the event ids to OUTBOX_OUTCOME_UNKNOWN, so that the call can be repeated with them. */
function withIds(error: unknown, events: readonly OutboxEvent[]): unknown {
  if (!(error instanceof HookproofError) || error.code !== "OUTBOX_OUTCOME_UNKNOWN") return error;
  const ids = events.slice(0, 10).map(({ id }) => id);
  const more = events.length > ids.length ? ` and ${events.length - ids.length} more` : "";
  const words = `${error.message} Repeat it under the same event id: ${ids.join(", ")}${more}.`;
  return new HookproofError(error.code, words, { cause: error.cause });
}

/**
 * `SELECT hookproof.enqueue(listener, body, ...)`, for callers in any language: it makes the same row as
 * `outbox.enqueue`, in the caller's transaction and with the caller's rights. The body is a text, `json` or `jsonb`.
 */
export function enqueueFunctions({
  schema,
  event,
  tally,
}: Pick<OutboxNames, "schema" | "event" | "tally">): string {
  const options = `ordering_key text DEFAULT NULL, event_id uuid DEFAULT gen_random_uuid(),
    traceparent text DEFAULT NULL, deliver_at timestamptz DEFAULT NULL`;
  const overload = (type: string) => `
    CREATE FUNCTION ${schema}.enqueue(listener text, body ${type}, ${options}) RETURNS uuid LANGUAGE sql ${OWN_NAMES} AS
    $$ SELECT ${schema}.enqueue($1, $2::text, $3, $4, $5, $6) $$;`;
  return `
    CREATE FUNCTION ${schema}.enqueue(listener text, body text, ${options}) RETURNS uuid LANGUAGE plpgsql
    ${OWN_NAMES} AS $enqueue$
    #variable_conflict use_column
    DECLARE
      bytes bytea;
      body_digest text;
      known text;
      ready timestamptz := greatest(now(), $6);
    BEGIN
      IF coalesce($1, '') = '' THEN
        RAISE 'LISTENER_NAME_UNKNOWN: listener must be a listener''s name' USING ERRCODE = 'invalid_parameter_value';
      END IF;
      IF $3 = '' OR length($3) > 200 THEN
        RAISE 'ordering_key must be a text of 1 to 200 characters' USING ERRCODE = 'invalid_parameter_value';
      END IF;
      IF $4 IS NULL OR $4::text !~ '^.{14}4.{4}[89ab]' THEN
        RAISE 'EVENT_ID_INVALID: event_id must be a UUID of version 4' USING ERRCODE = 'invalid_parameter_value';
      END IF;
      IF $5 !~ '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$' THEN
        RAISE 'traceparent must be a W3C trace context, such as 00-{trace id}-{span id}-01'
          USING ERRCODE = 'invalid_parameter_value';
      END IF;
      IF $6 > now() + interval '366 days' THEN
        RAISE 'deliver_at must be at most a year away' USING ERRCODE = 'invalid_parameter_value';
      END IF;
      IF $2 IS NULL OR $2::json IS NULL THEN
        RAISE 'PAYLOAD_NOT_JSON: body must be JSON' USING ERRCODE = 'invalid_parameter_value';
      END IF;
      bytes := convert_to($2, 'UTF8');
      IF length(bytes) > ${MAX_BODY_BYTES} THEN
        RAISE 'PAYLOAD_TOO_LARGE: the body has % bytes, and a listener takes ${MAX_BODY_BYTES}', length(bytes)
          USING ERRCODE = 'invalid_parameter_value';
      END IF;
      body_digest := rtrim(translate(encode(sha256(bytes), 'base64'), '+/', '-_'), '=');
      INSERT INTO ${event} (id, listener, state, digest, body, ordering_key, traceparent, ready_at, due_at)
        VALUES ($4, $1, ${openState("$3", "ready")}, body_digest, bytes, $3, $5, ready, ready)
        ON CONFLICT (id, listener) DO NOTHING;
      IF FOUND THEN
        INSERT INTO ${tally} VALUES ($1, 1, 0, 0);
        RETURN $4;
      END IF;
      SELECT e.digest INTO known FROM ${event} e WHERE e.id = $4 AND e.listener = $1;
      IF known IS DISTINCT FROM body_digest THEN
        RAISE 'EVENT_ID_REUSED: the event id % was used before with other bytes', $4 USING ERRCODE = 'unique_violation';
      END IF;
      RETURN $4;
    END $enqueue$;
    ${overload("json")}
    ${overload("jsonb")}`;
}
