/**
 * The tables beside pg-boss's own, a version after the other. pg-boss's job says that an event is waiting, when
 * it is due and who fetched it; the rest stands here.
 *
 * An event is `waiting` with a job, `parked` without one behind another of its ordering key, `leased`,
 * `delivered` or `dead`. `window_from` is `first_attempt_at` of an event that waits again: a column of its own,
 * so that `begin` changes none that is indexed.
 */
export const MIGRATIONS: readonly ((schema: string, channel: string) => string)[] = [
  (schema) => `
    CREATE SEQUENCE ${schema}.event_seq;
    CREATE TABLE ${schema}.event (
      id uuid NOT NULL,
      listener text NOT NULL,
      seq bigint NOT NULL DEFAULT nextval('${schema}.event_seq'),
      state text NOT NULL CHECK (state IN ('waiting', 'parked', 'leased', 'delivered', 'dead')),
      body bytea,
      digest text NOT NULL,
      ordering_key text,
      traceparent text,
      encryption_key_id text,
      enqueued_at timestamptz NOT NULL,
      due_at timestamptz NOT NULL,
      job_id uuid,
      fetched int,
      leased_until timestamptz,
      attempts int NOT NULL DEFAULT 0,
      attempts_before_redrive int NOT NULL DEFAULT 0,
      first_attempt_at timestamptz,
      window_from timestamptz,
      history json[] NOT NULL DEFAULT '{}',
      ended_at timestamptz,
      outcome text,
      reason text,
      code text,
      blocks_key boolean NOT NULL DEFAULT false,
      PRIMARY KEY (id, listener)
    ) WITH (fillfactor = 70);
    CREATE INDEX event_due ON ${schema}.event (listener, due_at) WHERE state = 'waiting';
    CREATE INDEX event_leased ON ${schema}.event (leased_until) WHERE state = 'leased';
    CREATE INDEX event_window ON ${schema}.event (listener, window_from) WHERE window_from IS NOT NULL;
    CREATE INDEX event_ended ON ${schema}.event (state, ended_at, seq) WHERE ended_at IS NOT NULL;
    CREATE INDEX event_key ON ${schema}.event (listener, ordering_key, seq)
      WHERE ordering_key IS NOT NULL AND (ended_at IS NULL OR blocks_key);
    CREATE INDEX event_key_leased ON ${schema}.event (listener, ordering_key)
      WHERE ordering_key IS NOT NULL AND state = 'leased'`,
  // All of an enqueueing in one statement, which PostgreSQL reads and plans once for each connection. The bodies stand
  // beside the JSON, which is read more than once; how jobs are added is pg-boss's own affair, and comes as its SQL.
  (schema, channel) => `
    CREATE FUNCTION ${schema}.enqueue(events text, bodies text, additions text) RETURNS boolean
    LANGUAGE plpgsql AS $enqueue$
    #variable_conflict use_column
    DECLARE
      given int := json_array_length(events::json);
      stored int;
      added int := 0;
      addition record;
    BEGIN
      INSERT INTO ${schema}.event (id, listener, state, body, digest, ordering_key, traceparent, encryption_key_id,
          enqueued_at, due_at, job_id)
        SELECT i.id, i.listener, 'waiting', decode(i.body, 'base64'), i.digest, i."orderingKey", i.traceparent,
          i."encryptionKeyId", now(), now(), i."jobId"
        FROM ROWS FROM (
          json_to_recordset(events::json) AS (id uuid, listener text, digest text, "orderingKey" text,
            traceparent text, "encryptionKeyId" text, "jobId" uuid),
          unnest(string_to_array(bodies, ','))
        ) WITH ORDINALITY AS i(id, listener, digest, "orderingKey", traceparent, "encryptionKeyId", "jobId", body,
          place)
        ORDER BY i.place
        ON CONFLICT (id, listener) DO NOTHING;
      GET DIAGNOSTICS stored = ROW_COUNT;
      IF stored < given THEN
        DELETE FROM ${schema}.event e
          USING json_to_recordset(events::json) AS i(id uuid, listener text, "jobId" uuid)
          WHERE e.id = i.id AND e.listener = i.listener AND e.job_id = i."jobId";
        RETURN false;
      END IF;
      FOR addition IN SELECT * FROM json_to_recordset(additions::json) AS a(sql text, jobs text) LOOP
        EXECUTE addition.sql USING addition.jobs;
        GET DIAGNOSTICS stored = ROW_COUNT;
        added := added + stored;
      END LOOP;
      -- A transaction that began before a queue was made, at a level that does not see it.
      IF added < given THEN RAISE 'pg-boss did not take every job; try again'; END IF;
      PERFORM pg_notify('${channel}', '');
      RETURN true;
    END $enqueue$`,
];
