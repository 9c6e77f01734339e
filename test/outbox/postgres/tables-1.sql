-- The outbox's tables of version 1 in PostgreSQL, with events in every state: pg_dump --inserts, made by commit 4e2e72d.

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

-- Name: hookproof; Type: SCHEMA; Schema: -; Owner: -

CREATE SCHEMA hookproof;

-- Name: claim(json, integer, double precision, uuid); Type: FUNCTION; Schema: hookproof; Owner: -

CREATE FUNCTION hookproof.claim(wanted json, most integer, lease_ms double precision, new_token uuid) RETURNS TABLE(id uuid, listener text, body bytea, digest text, ordering_key text, traceparent text, encryption_key_id text, seq double precision, token uuid, attempts integer, attempts_before_redrive integer, sent_before boolean, first_attempt_at double precision, enqueued_at double precision, due_at double precision, now double precision, leased_until double precision, share integer)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $_$
    #variable_conflict use_column
    DECLARE
      mine json;
      passed json;
      read_before bigint := pg_stat_get_xact_blocks_fetched('"hookproof".event'::regclass);
    BEGIN
      IF EXISTS (SELECT FROM "hookproof".floor) THEN
        WITH due AS MATERIALIZED (
        SELECT w.place, w.listener, w.most, w.window_ms, w.concurrency, w.per_second, w.burst, next.due_at AS since
        FROM json_to_recordset($1) AS w(place int, listener text, most int, window_ms float8, concurrency int, per_second float8, burst float8,
  since timestamptz)
        CROSS JOIN LATERAL (
          SELECT n.due_at FROM "hookproof".event n WHERE n.state = 'waiting' AND n.listener = w.listener AND n.due_at >= coalesce((SELECT f.due_from FROM "hookproof".floor f WHERE f.listener = w.listener), '-infinity')
          ORDER BY n.due_at LIMIT 1) next
        WHERE next.due_at <= now() AND (SELECT h.paused_at IS NOT NULL OR h.rest_until > now() FROM "hookproof".listener h WHERE h.name = w.listener) IS NOT TRUE),
      -- In one order, so that two workers cannot wait for each other.
      keys AS MATERIALIZED (SELECT DISTINCT hashtext(listener) & 1023 AS key FROM due ORDER BY 1),
      free AS MATERIALIZED (SELECT key FROM keys WHERE pg_try_advisory_xact_lock(hashtext('hookproof hookproof claim'), key)),
      late AS MATERIALIZED (
        SELECT key, pg_advisory_xact_lock(hashtext('hookproof hookproof claim'), key)::text FROM keys WHERE NOT EXISTS (SELECT FROM free)),
      own AS (
        SELECT d.* FROM due d
        WHERE hashtext(d.listener) & 1023 IN (SELECT key FROM free UNION ALL SELECT key FROM late))
      SELECT json_agg(own) INTO mine FROM own;
      ELSE
        WITH due AS MATERIALIZED (
        SELECT w.place, w.listener, w.most, w.window_ms, w.concurrency, w.per_second, w.burst, next.due_at AS since
        FROM json_to_recordset($1) AS w(place int, listener text, most int, window_ms float8, concurrency int, per_second float8, burst float8,
  since timestamptz)
        CROSS JOIN LATERAL (
          SELECT n.due_at FROM "hookproof".event n WHERE n.state = 'waiting' AND n.listener = w.listener 
          ORDER BY n.due_at LIMIT 1) next
        WHERE next.due_at <= now() AND (SELECT h.paused_at IS NOT NULL OR h.rest_until > now() FROM "hookproof".listener h WHERE h.name = w.listener) IS NOT TRUE),
      -- In one order, so that two workers cannot wait for each other.
      keys AS MATERIALIZED (SELECT DISTINCT hashtext(listener) & 1023 AS key FROM due ORDER BY 1),
      free AS MATERIALIZED (SELECT key FROM keys WHERE pg_try_advisory_xact_lock(hashtext('hookproof hookproof claim'), key)),
      late AS MATERIALIZED (
        SELECT key, pg_advisory_xact_lock(hashtext('hookproof hookproof claim'), key)::text FROM keys WHERE NOT EXISTS (SELECT FROM free)),
      own AS (
        SELECT d.* FROM due d
        WHERE hashtext(d.listener) & 1023 IN (SELECT key FROM free UNION ALL SELECT key FROM late))
      SELECT json_agg(own) INTO mine FROM own;
      END IF;
      IF pg_stat_get_xact_blocks_fetched('"hookproof".event'::regclass) - read_before > 300 THEN
        read_before := pg_stat_get_xact_blocks_fetched('"hookproof".event'::regclass);
      WITH walked AS MATERIALIZED (
        SELECT w.place, w.listener, next.due_at AS since, low.due_from, pg_stat_get_xact_blocks_fetched('"hookproof".event'::regclass) AS read
        FROM json_to_recordset($1) AS w(place int, listener text, most int, window_ms float8, concurrency int, per_second float8, burst float8,
  since timestamptz)
        CROSS JOIN LATERAL (SELECT (SELECT f.due_from FROM "hookproof".floor f WHERE f.listener = w.listener) OFFSET 0) low(due_from)
        LEFT JOIN LATERAL (
          SELECT n.due_at FROM "hookproof".event n WHERE n.state = 'waiting' AND n.listener = w.listener
            AND n.due_at >= coalesce(low.due_from, '-infinity')
          ORDER BY n.due_at LIMIT 1) next ON true)
      SELECT json_agg(p) INTO passed FROM (
        SELECT listener, since, due_from, read - lag(read, 1, read_before) OVER (ORDER BY place) AS cost
        FROM walked) p WHERE p.cost > 300;
        UPDATE "hookproof".floor f SET due_from = least(p.since, now() - 2000 * interval '1 ms'),
          bounds = CASE WHEN f.due_from > '-infinity' THEN f.bounds || f.due_from ELSE '{}' END,
          looked_to = CASE WHEN f.due_from > '-infinity' THEN f.looked_to ELSE least(p.since, now() - 2000 * interval '1 ms') END,
          noted_at = CASE WHEN f.due_from > '-infinity' THEN f.noted_at ELSE now() END,
          look_at = CASE WHEN f.look_at = 'infinity' THEN clock_timestamp() + interval '1 s' ELSE f.look_at END FROM json_to_recordset(passed) AS p(listener text, since timestamptz, due_from timestamptz)
        WHERE f.listener = p.listener AND f.due_from = p.due_from AND least(p.since, now() - 2000 * interval '1 ms') > p.due_from
          AND f.ctid = ANY (ARRAY(SELECT own.ctid FROM "hookproof".floor own WHERE own.listener IN (
            SELECT q.listener FROM json_to_recordset(passed) AS q(listener text)) FOR UPDATE SKIP LOCKED));
        INSERT INTO "hookproof".floor (listener, due_from, bounds, looked_to, look_at, noted_at)
        SELECT p.listener, least(p.since, now() - 2000 * interval '1 ms'), '{}', least(p.since, now() - 2000 * interval '1 ms'), clock_timestamp() + interval '1 s', now() FROM json_to_recordset(passed) AS p(listener text, since timestamptz, due_from timestamptz)
        WHERE p.due_from IS NULL ORDER BY p.listener ON CONFLICT DO NOTHING;
      END IF;
      IF mine IS NULL THEN
        RETURN;
      END IF;
      RETURN QUERY WITH due AS MATERIALIZED (
        SELECT w.*, p.pace, least(w.most, CASE WHEN w.concurrency IS NOT NULL THEN w.concurrency - (
            SELECT count(*) FROM "hookproof".event l WHERE l.listener = w.listener AND l.state = 'leased'
              AND l.token IS NOT NULL AND l.leased_until > now()) END,
          floor(w.burst - w.per_second * date_part('epoch', p.pace - now()) + 1e-6))::int AS room
        FROM json_to_recordset(mine) AS w(place int, listener text, most int, window_ms float8, concurrency int, per_second float8, burst float8,
  since timestamptz)
        CROSS JOIN LATERAL (SELECT coalesce((
          SELECT h.pace FROM "hookproof".listener h
          WHERE h.name = w.listener AND h.pace > now() AND date_part('epoch', h.pace - now()) * w.per_second <= w.burst + 1), now()) AS pace) p
        ORDER BY w.place),
      one AS MATERIALIZED (SELECT ceil($2 / greatest(1, count(*))::float8)::int AS share FROM due WHERE room > 0),
      taken AS MATERIALIZED (
        SELECT t.ctid, due.listener, due.pace, due.per_second FROM due CROSS JOIN one CROSS JOIN LATERAL (
          SELECT e.ctid FROM "hookproof".event e
          WHERE e.listener = due.listener AND e.state = 'waiting' AND e.due_at >= due.since AND e.due_at <= now()
            AND (e.first_attempt_at IS NULL
              OR e.first_attempt_at >= now() - due.window_ms * interval '1 ms')
            AND (e.ordering_key IS NULL OR NOT EXISTS (
              SELECT FROM "hookproof".event n WHERE n.listener = e.listener AND n.ordering_key = e.ordering_key
    AND (n.ended_at IS NULL OR n.blocks_key) AND (n.state || '') = 'new' AND n.seq < e.seq))
          ORDER BY e.due_at, e.seq LIMIT least(due.room, one.share) FOR UPDATE SKIP LOCKED) t
        WHERE due.room > 0 LIMIT $2),
      paced AS (
        INSERT INTO "hookproof".listener (name, pace)
        SELECT listener, pace + count(*) / per_second * interval '1 s' FROM taken WHERE per_second IS NOT NULL
        GROUP BY listener, pace, per_second
        ON CONFLICT (name) DO UPDATE SET pace = excluded.pace)
      UPDATE "hookproof".event e SET state = 'leased', token = $4, claimed_at = now(),
        leased_until = now() + $3 * interval '1 ms', attempts = least(e.attempts + 1, 1000000000),
        first_attempt_at = coalesce(e.first_attempt_at, now())
      WHERE e.ctid = ANY (ARRAY(SELECT ctid FROM taken))
      RETURNING e.id, e.listener, coalesce(e.body, (SELECT b.body FROM "hookproof".body b WHERE b.id = e.id AND b.digest = e.digest)), e.digest, e.ordering_key, e.traceparent, e.encryption_key_id, e.seq::float8, e.token, e.attempts, e.attempts_before_redrive, e.first_attempt_at < now(), round(date_part('epoch', e.first_attempt_at) * 1000), round(date_part('epoch', e.enqueued_at) * 1000), round(date_part('epoch', e.due_at) * 1000), round(date_part('epoch', now()) * 1000), round(date_part('epoch', e.leased_until) * 1000), (SELECT one.share FROM one);
    END $_$;

-- Name: enqueue(text, json, text, uuid, text, timestamp with time zone); Type: FUNCTION; Schema: hookproof; Owner: -

CREATE FUNCTION hookproof.enqueue(listener text, body json, ordering_key text DEFAULT NULL::text, event_id uuid DEFAULT gen_random_uuid(), traceparent text DEFAULT NULL::text, deliver_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS uuid
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$ SELECT "hookproof".enqueue($1, $2::text, $3, $4, $5, $6) $_$;

-- Name: enqueue(text, jsonb, text, uuid, text, timestamp with time zone); Type: FUNCTION; Schema: hookproof; Owner: -

CREATE FUNCTION hookproof.enqueue(listener text, body jsonb, ordering_key text DEFAULT NULL::text, event_id uuid DEFAULT gen_random_uuid(), traceparent text DEFAULT NULL::text, deliver_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS uuid
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$ SELECT "hookproof".enqueue($1, $2::text, $3, $4, $5, $6) $_$;

-- Name: enqueue(text, text, text, uuid, text, timestamp with time zone); Type: FUNCTION; Schema: hookproof; Owner: -

CREATE FUNCTION hookproof.enqueue(listener text, body text, ordering_key text DEFAULT NULL::text, event_id uuid DEFAULT gen_random_uuid(), traceparent text DEFAULT NULL::text, deliver_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS uuid
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
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
      IF length(bytes) > 65536 THEN
        RAISE 'PAYLOAD_TOO_LARGE: the body has % bytes, and a listener takes 65536', length(bytes)
          USING ERRCODE = 'invalid_parameter_value';
      END IF;
      body_digest := rtrim(translate(encode(sha256(bytes), 'base64'), '+/', '-_'), '=');
      INSERT INTO "hookproof".event (id, listener, state, digest, body, ordering_key, traceparent, ready_at, due_at)
        VALUES ($4, $1, CASE WHEN $3 IS NOT NULL THEN 'new' WHEN ready > now() + 10000 * interval '1 ms' THEN 'later' ELSE 'waiting' END, body_digest, bytes, $3, $5, ready, ready)
        ON CONFLICT (id, listener) DO NOTHING;
      IF FOUND THEN
        INSERT INTO "hookproof".tally VALUES ($1, 1, 0, 0);
        RETURN $4;
      END IF;
      SELECT e.digest INTO known FROM "hookproof".event e WHERE e.id = $4 AND e.listener = $1;
      IF known IS DISTINCT FROM body_digest THEN
        RAISE 'EVENT_ID_REUSED: the event id % was used before with other bytes', $4 USING ERRCODE = 'unique_violation';
      END IF;
      RETURN $4;
    END $_$;

-- Name: look_below(); Type: FUNCTION; Schema: hookproof; Owner: -

CREATE FUNCTION hookproof.look_below() RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
    DECLARE
      low "hookproof".floor%ROWTYPE;
      bottom timestamptz;
      found_here int;
      found_any boolean := false;
      began timestamptz := clock_timestamp();
      first_read bigint := pg_stat_get_xact_blocks_fetched('"hookproof".event'::regclass);
      piece_read bigint := first_read;
    BEGIN
      SELECT f.* INTO low FROM "hookproof".floor f WHERE f.look_at <= clock_timestamp()
        ORDER BY f.look_at LIMIT 1 FOR UPDATE SKIP LOCKED;
      IF low.listener IS NULL THEN
        RETURN;
      END IF;
      LOOP
        bottom := coalesce((SELECT max(b) FROM unnest(low.bounds) b WHERE b < low.looked_to), '-infinity');
        -- A claim that went over these events before must not raise the floor above them: it compares what it has read.
        UPDATE "hookproof".event e SET due_at = low.due_from - interval '1 us' WHERE e.ctid = ANY (ARRAY(
          SELECT n.ctid FROM "hookproof".event n WHERE n.state = 'waiting' AND n.listener = low.listener
            AND n.due_at >= bottom AND n.due_at < low.looked_to ORDER BY n.due_at LIMIT 1000 FOR UPDATE SKIP LOCKED));
        GET DIAGNOSTICS found_here = ROW_COUNT;
        found_any := found_any OR found_here > 0;
        EXIT WHEN found_here = 1000;
        IF found_here > 0 OR pg_stat_get_xact_blocks_fetched('"hookproof".event'::regclass) - piece_read > 100 THEN
          piece_read := pg_stat_get_xact_blocks_fetched('"hookproof".event'::regclass);
        ELSIF bottom > '-infinity' THEN
          low.bounds := array_remove(low.bounds, bottom);
        ELSIF low.looked_to = low.due_from THEN
          UPDATE "hookproof".floor SET due_from = '-infinity', look_at = 'infinity', bounds = '{}' WHERE listener = low.listener;
          RETURN;
        END IF;
        low.looked_to := bottom;
        EXIT WHEN bottom = '-infinity' OR pg_stat_get_xact_blocks_fetched('"hookproof".event'::regclass) - first_read > 3000;
      END LOOP;
      IF found_any THEN
        low.due_from := low.due_from - interval '1 us';
      END IF;
      UPDATE "hookproof".floor SET due_from = low.due_from, bounds = low.bounds,
        looked_to = CASE WHEN low.looked_to = '-infinity' THEN low.due_from ELSE least(low.looked_to, low.due_from) END,
        look_at = clock_timestamp() + CASE WHEN low.looked_to = '-infinity' THEN interval '1 s' ELSE interval '0' END
          + 20 * (clock_timestamp() - began) * (SELECT count(*) FROM "hookproof".floor WHERE look_at < 'infinity')
        WHERE listener = low.listener;
    END $$;

-- Name: store(text, text); Type: FUNCTION; Schema: hookproof; Owner: -

CREATE FUNCTION hookproof.store(described text, bodies text, OUT added text, OUT known text) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $_$
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
          SELECT e.id, e.listener, e.digest FROM "hookproof".event e WHERE e.id = g.id AND e.listener = g.listener LIMIT 1) e),
      stored AS (
        INSERT INTO "hookproof".event (id, listener, state, digest, body, ordering_key, traceparent, encryption_key_id, ready_at,
          due_at)
        SELECT id, listener, CASE WHEN ordering_key IS NOT NULL THEN 'new' WHEN ready.at > now() + 10000 * interval '1 ms' THEN 'later' ELSE 'waiting' END, digest,
          decode(nullif(body, ''), 'base64'), ordering_key, traceparent, encryption_key_id, ready.at, ready.at
        FROM given CROSS JOIN LATERAL (
          SELECT greatest(now(), to_timestamp(greatest(deliver_at, 0) / 1000)) AS at) ready
        WHERE NOT EXISTS (SELECT FROM found WHERE is_other) ORDER BY place
        ON CONFLICT (id, listener) DO NOTHING RETURNING id, listener),
      counted AS (INSERT INTO "hookproof".tally SELECT listener, count(*), 0, 0 FROM stored GROUP BY listener)
      SELECT (SELECT coalesce(json_agg(json_build_array(id, listener)), '[]')::text FROM stored),
        (SELECT coalesce(json_agg(json_build_array(id, listener, digest)), '[]')::text FROM found)
      INTO added, known;
    END $_$;

-- Name: unsettled(timestamp with time zone); Type: FUNCTION; Schema: hookproof; Owner: -

CREATE FUNCTION hookproof.unsettled(since timestamp with time zone, OUT expired boolean, OUT other boolean, OUT read bigint, OUT below boolean) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $_$
    BEGIN
      read := pg_stat_get_xact_blocks_fetched('"hookproof".event'::regclass);
      SELECT (SELECT EXISTS (SELECT FROM "hookproof".event WHERE state = 'leased' AND leased_until > $1 AND leased_until <= now())), (SELECT EXISTS (SELECT FROM "hookproof".event WHERE state = 'later' AND due_at <= now())
    OR EXISTS (SELECT FROM "hookproof".event WHERE state = 'new')), EXISTS (SELECT FROM "hookproof".floor WHERE look_at <= now())
        INTO expired, other, below;
      read := pg_stat_get_xact_blocks_fetched('"hookproof".event'::regclass) - read;
    END $_$;

SET default_tablespace = '';

SET default_table_access_method = heap;

-- Name: body; Type: TABLE; Schema: hookproof; Owner: -

CREATE TABLE hookproof.body (
    id uuid NOT NULL,
    digest text NOT NULL,
    body bytea NOT NULL,
    stored_at timestamp with time zone DEFAULT now() NOT NULL,
    check_at timestamp with time zone NOT NULL,
    CONSTRAINT body_check CHECK (((octet_length(digest) <= 2048) AND (octet_length(body) <= 1048576) AND (LEAST(stored_at, check_at) >= '2000-01-01 00:00:00+00'::timestamp with time zone) AND (GREATEST(stored_at, check_at) < '9999-12-31 00:00:00+00'::timestamp with time zone)))
);

-- Name: event; Type: TABLE; Schema: hookproof; Owner: -

CREATE TABLE hookproof.event (
    id uuid NOT NULL,
    listener text NOT NULL,
    seq bigint NOT NULL,
    state text NOT NULL,
    digest text NOT NULL,
    body bytea,
    ordering_key text,
    traceparent text,
    encryption_key_id text,
    enqueued_at timestamp with time zone DEFAULT now() NOT NULL,
    ready_at timestamp with time zone DEFAULT now() NOT NULL,
    due_at timestamp with time zone DEFAULT now() NOT NULL,
    token uuid,
    claimed_at timestamp with time zone,
    leased_until timestamp with time zone,
    attempts integer DEFAULT 0 NOT NULL,
    attempts_before_redrive integer DEFAULT 0 NOT NULL,
    first_attempt_at timestamp with time zone,
    history json[] DEFAULT '{}'::json[] NOT NULL,
    ended_at timestamp with time zone,
    outcome text,
    reason text,
    code text,
    blocks_key boolean DEFAULT false NOT NULL,
    CONSTRAINT event_check CHECK (((LEAST(attempts, attempts_before_redrive) >= 0) AND (GREATEST(attempts, attempts_before_redrive) <= 1000000000))),
    CONSTRAINT event_check1 CHECK (((LEAST(enqueued_at, ready_at, due_at, claimed_at, leased_until, first_attempt_at, ended_at) >= '2000-01-01 00:00:00+00'::timestamp with time zone) AND (GREATEST(enqueued_at, ready_at, due_at, claimed_at, leased_until, first_attempt_at, ended_at) < '9999-12-31 00:00:00+00'::timestamp with time zone))),
    CONSTRAINT event_check2 CHECK (((GREATEST(octet_length(listener), octet_length(digest), octet_length(ordering_key), octet_length(traceparent), octet_length(encryption_key_id)) <= 2048) AND (octet_length(body) <= 1048576))),
    CONSTRAINT event_check3 CHECK (((state = 'leased'::text) = (leased_until IS NOT NULL))),
    CONSTRAINT event_check4 CHECK (((state = ANY (ARRAY['delivered'::text, 'dead'::text, 'cancelled'::text])) = (ended_at IS NOT NULL))),
    CONSTRAINT event_state_check CHECK ((state = ANY (ARRAY['new'::text, 'waiting'::text, 'later'::text, 'aside'::text, 'parked'::text, 'leased'::text, 'delivered'::text, 'dead'::text, 'cancelled'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='1000', autovacuum_analyze_scale_factor='0.05', vacuum_truncate=off);

-- Name: event_seq_seq; Type: SEQUENCE; Schema: hookproof; Owner: -

ALTER TABLE hookproof.event ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME hookproof.event_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: floor; Type: TABLE; Schema: hookproof; Owner: -

CREATE TABLE hookproof.floor (
    listener text NOT NULL,
    due_from timestamp with time zone NOT NULL,
    bounds timestamp with time zone[] NOT NULL,
    looked_to timestamp with time zone NOT NULL,
    look_at timestamp with time zone NOT NULL,
    noted_at timestamp with time zone NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='1000', autovacuum_analyze_scale_factor='0.05', vacuum_truncate=off, fillfactor='10');

-- Name: listener; Type: TABLE; Schema: hookproof; Owner: -

CREATE TABLE hookproof.listener (
    name text NOT NULL,
    paused_at timestamp with time zone,
    pause_reason text,
    rest_until timestamp with time zone,
    changed_at timestamp with time zone,
    pace timestamp with time zone,
    has_aside boolean DEFAULT false NOT NULL,
    unknown_since timestamp with time zone,
    unknown_until timestamp with time zone
);

-- Name: tally; Type: TABLE; Schema: hookproof; Owner: -

CREATE TABLE hookproof.tally (
    listener text NOT NULL,
    pending bigint NOT NULL,
    delivered bigint NOT NULL,
    dead bigint NOT NULL,
    CONSTRAINT tally_check CHECK (((octet_length(listener) <= 2048) AND (GREATEST(pending, delivered, dead) <= '1000000000000000'::bigint) AND (LEAST(pending, delivered, dead) >= '-1000000000000000'::bigint)))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='1000', autovacuum_analyze_scale_factor='0.05', vacuum_truncate=off);

-- Name: version; Type: TABLE; Schema: hookproof; Owner: -

CREATE TABLE hookproof.version (
    version integer NOT NULL
);

-- Data for Name: body; Type: TABLE DATA; Schema: hookproof; Owner: -

INSERT INTO hookproof.body VALUES ('00000000-0000-4000-8000-000000000011', 'JFu2qUadCKrcaZez2uM4GhGtA3_0GXOwbkNpf6BhFM8', '\x7b2274657874223a22666f722074776f227d', '2026-11-27 16:13:23.829904+00', '2026-11-27 16:14:23.829904+00');

-- Data for Name: event; Type: TABLE DATA; Schema: hookproof; Owner: -

INSERT INTO hookproof.event VALUES ('00000000-0000-4000-8000-000000000001', 'orders', 1, 'delivered', 'FcyLkUfInbL-BJ441oT8dQdU-CJ4AfbIOs5YY635srg', NULL, NULL, NULL, NULL, '2026-11-27 16:13:23.77791+00', '2026-11-27 16:13:23.77791+00', '2026-11-27 16:13:23.77791+00', NULL, '2026-11-27 16:13:23.78219+00', NULL, 1, 0, '2026-11-27 16:13:23.78219+00', '{"{\"number\":1,\"startedAt\":1795000000000,\"durationMs\":9,\"status\":200}"}', '2026-11-27 16:13:23.788132+00', 'delivered', NULL, NULL, false);
INSERT INTO hookproof.event VALUES ('00000000-0000-4000-8000-000000000002', 'orders', 2, 'dead', 'H3qB61SG6QYkMb_yOkCkSMkHJNnjjs3iV15s9II-n-s', '\x7b2274657874223a2264656164227d', NULL, NULL, NULL, '2026-11-27 16:13:23.789392+00', '2026-11-27 16:13:23.789392+00', '2026-11-27 16:13:23.789392+00', NULL, '2026-11-27 16:13:23.790122+00', NULL, 1, 0, '2026-11-27 16:13:23.790122+00', '{"{\"number\":1,\"startedAt\":1795000000000,\"durationMs\":12,\"status\":503,\"code\":\"RECEIVER_UNAVAILABLE\",\"answer\":\"be back soon\"}"}', '2026-11-27 16:13:23.791484+00', NULL, 'refused', 'REQUEST_REFUSED', false);
INSERT INTO hookproof.event VALUES ('00000000-0000-4000-8000-000000000003', 'orders', 3, 'dead', 'HERNDZ00P6NEc1ppYs2e5064qiGFBR7e7iEA1h-4dtM', '\x7b2274657874223a22626c6f636b696e67227d', 'blocked', NULL, NULL, '2026-11-27 16:13:23.792682+00', '2026-11-27 16:13:23.792682+00', '2026-11-27 16:13:23.792682+00', NULL, '2026-11-27 16:13:23.797251+00', NULL, 1, 0, '2026-11-27 16:13:23.797251+00', '{"{\"number\":1,\"startedAt\":1795000000000,\"durationMs\":12,\"status\":503,\"code\":\"RECEIVER_UNAVAILABLE\",\"answer\":\"be back soon\"}"}', '2026-11-27 16:13:23.802542+00', NULL, 'refused', 'REQUEST_REFUSED', true);
INSERT INTO hookproof.event VALUES ('00000000-0000-4000-8000-000000000005', 'orders', 5, 'cancelled', 'qOkyByjpoe8SMxuBCRT6-o5eg21j0jYI6_YaPjRlyxc', NULL, NULL, NULL, NULL, '2026-11-27 16:13:23.805396+00', '2026-11-27 16:13:23.805396+00', '2026-11-27 16:13:23.805396+00', NULL, NULL, NULL, 0, 0, NULL, '{}', '2026-11-27 16:13:23.806649+00', NULL, NULL, NULL, false);
INSERT INTO hookproof.event VALUES ('00000000-0000-4000-8000-000000000006', 'orders', 6, 'waiting', 'lQseqhjnf9vcoIEm2RWNCVU6TC--Wl6Z-ZIum3IW_44', '\x7b2274657874223a2272657472696564227d', NULL, NULL, NULL, '2026-11-27 16:13:23.811012+00', '2026-11-27 16:13:23.811012+00', '2026-11-27 16:13:24.817+00', NULL, '2026-11-27 16:13:23.816637+00', NULL, 1, 0, '2026-11-27 16:13:23.816637+00', '{"{\"number\":1,\"startedAt\":1795000000000,\"durationMs\":12,\"status\":503,\"code\":\"RECEIVER_UNAVAILABLE\",\"answer\":\"be back soon\"}"}', NULL, NULL, NULL, NULL, false);
INSERT INTO hookproof.event VALUES ('00000000-0000-4000-8000-000000000004', 'orders', 4, 'parked', 'y-4aSRqAKHrSBer-bm8BY-h-KL3hsfo8HTTNWLjxf14', '\x7b2274657874223a22626568696e64227d', 'blocked', NULL, NULL, '2026-11-27 16:13:23.804478+00', '2026-11-27 16:13:23.804478+00', '2026-11-27 16:13:23.804478+00', NULL, NULL, NULL, 0, 0, NULL, '{}', NULL, NULL, NULL, NULL, false);
INSERT INTO hookproof.event VALUES ('00000000-0000-4000-8000-000000000007', 'orders', 7, 'leased', 'We_eRetFFcfpDnr_aOmtGkrI8mzyeS8IwS0H_FEKmdQ', '\x7b2274657874223a226c6561736564227d', NULL, NULL, NULL, '2026-11-27 16:13:23.819832+00', '2026-11-27 16:13:23.819832+00', '2026-11-27 16:13:23.819832+00', 'ff740df9-cf0e-41e2-8441-daa9e5dd4077', '2026-11-27 16:13:23.820615+00', '2026-11-27 16:14:23.820615+00', 1, 0, '2026-11-27 16:13:23.820615+00', '{}', NULL, NULL, NULL, NULL, false);
INSERT INTO hookproof.event VALUES ('00000000-0000-4000-8000-000000000008', 'orders', 8, 'leased', 'ZPZdlYUWDP0uGVNLvXwijnOtBgfuqyM6gasj0vY2OSY', '\x7b2274657874223a226669727374206f66206b6579227d', 'k', NULL, NULL, '2026-11-27 16:13:23.823499+00', '2026-11-27 16:13:23.823499+00', '2026-11-27 16:13:23.823499+00', '86a10228-5f27-4875-a492-a125ca1ca4ff', '2026-11-27 16:13:23.824937+00', '2026-11-27 16:14:23.824937+00', 1, 0, '2026-11-27 16:13:23.824937+00', '{}', NULL, NULL, NULL, NULL, false);
INSERT INTO hookproof.event VALUES ('00000000-0000-4000-8000-000000000010', 'orders', 10, 'later', 'XXNOGmI7qluIWshoGce5aU8Dpqy3xNd4mb53JVIIuAA', '\x7b2274657874223a22617420612074696d65227d', NULL, NULL, NULL, '2026-11-27 16:13:23.829147+00', '2026-11-27 17:13:23.829+00', '2026-11-27 17:13:23.829+00', NULL, NULL, NULL, 0, 0, NULL, '{}', NULL, NULL, NULL, NULL, false);
INSERT INTO hookproof.event VALUES ('00000000-0000-4000-8000-000000000011', 'orders', 11, 'waiting', 'JFu2qUadCKrcaZez2uM4GhGtA3_0GXOwbkNpf6BhFM8', NULL, NULL, NULL, NULL, '2026-11-27 16:13:23.829904+00', '2026-11-27 16:13:23.829904+00', '2026-11-27 16:13:23.829904+00', NULL, NULL, NULL, 0, 0, NULL, '{}', NULL, NULL, NULL, NULL, false);
INSERT INTO hookproof.event VALUES ('00000000-0000-4000-8000-000000000011', 'billing', 12, 'waiting', 'JFu2qUadCKrcaZez2uM4GhGtA3_0GXOwbkNpf6BhFM8', NULL, NULL, NULL, NULL, '2026-11-27 16:13:23.829904+00', '2026-11-27 16:13:23.829904+00', '2026-11-27 16:13:23.829904+00', NULL, NULL, NULL, 0, 0, NULL, '{}', NULL, NULL, NULL, NULL, false);
INSERT INTO hookproof.event VALUES ('00000000-0000-4000-8000-000000000009', 'orders', 9, 'parked', '60Xm_IYaWNz7O5hW7g1jf6DVPuG9yaKoSVKw9XYbfkM', '\x7b2274657874223a227365636f6e64206f66206b6579227d', 'k', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', NULL, '2026-11-27 16:13:23.82784+00', '2026-11-27 16:13:23.82784+00', '2026-11-27 16:13:23.82784+00', NULL, NULL, NULL, 0, 0, NULL, '{}', NULL, NULL, NULL, NULL, false);
INSERT INTO hookproof.event VALUES ('00000000-0000-4000-8000-000000000012', 'paused', 13, 'aside', '77PZEbQ3uYnzmsdB_zBAFPfXGRhJkMriZ97AroPk748', '\x7b2274657874223a226f66206120706175736564206f6e65227d', NULL, NULL, NULL, '2026-11-27 16:13:23.831985+00', '2026-11-27 16:13:23.831985+00', '2026-11-27 16:13:23.831985+00', NULL, NULL, NULL, 0, 0, NULL, '{}', NULL, NULL, NULL, NULL, false);
INSERT INTO hookproof.event VALUES ('00000000-0000-4000-8000-000000000013', 'gone', 14, 'aside', 'kQCTuOF33Ln8aW8XIfR2HMNXriDzm3d99cYn5RWL4U8', '\x7b2274657874223a226f66206120737472616e676572227d', NULL, NULL, NULL, '2026-11-27 16:13:23.839747+00', '2026-11-27 16:13:23.839747+00', '2026-11-27 16:13:23.839747+00', NULL, NULL, NULL, 0, 0, NULL, '{}', NULL, NULL, NULL, NULL, false);

-- Data for Name: floor; Type: TABLE DATA; Schema: hookproof; Owner: -

-- Data for Name: listener; Type: TABLE DATA; Schema: hookproof; Owner: -

INSERT INTO hookproof.listener VALUES ('paused', '2026-11-27 16:13:23.832734+00', 'moving', NULL, NULL, NULL, true, NULL, NULL);
INSERT INTO hookproof.listener VALUES ('gone', NULL, NULL, NULL, NULL, NULL, true, '2026-11-27 16:13:23.840479+00', '2026-11-27 16:13:28.840479+00');
INSERT INTO hookproof.listener VALUES ('billing', NULL, NULL, '2026-11-27 16:14:23.843+00', NULL, NULL, false, NULL, NULL);
INSERT INTO hookproof.listener VALUES ('orders', NULL, NULL, NULL, '2026-11-27 16:13:23.84426+00', NULL, false, NULL, NULL);

-- Data for Name: tally; Type: TABLE DATA; Schema: hookproof; Owner: -

INSERT INTO hookproof.tally VALUES ('orders', 1, 0, 0);
INSERT INTO hookproof.tally VALUES ('orders', -1, 1, 0);
INSERT INTO hookproof.tally VALUES ('orders', 1, 0, 0);
INSERT INTO hookproof.tally VALUES ('orders', -1, 0, 1);
INSERT INTO hookproof.tally VALUES ('orders', 1, 0, 0);
INSERT INTO hookproof.tally VALUES ('orders', -1, 0, 1);
INSERT INTO hookproof.tally VALUES ('orders', 1, 0, 0);
INSERT INTO hookproof.tally VALUES ('orders', 1, 0, 0);
INSERT INTO hookproof.tally VALUES ('orders', -1, 0, 0);
INSERT INTO hookproof.tally VALUES ('orders', 1, 0, 0);
INSERT INTO hookproof.tally VALUES ('orders', 1, 0, 0);
INSERT INTO hookproof.tally VALUES ('orders', 1, 0, 0);
INSERT INTO hookproof.tally VALUES ('orders', 1, 0, 0);
INSERT INTO hookproof.tally VALUES ('orders', 1, 0, 0);
INSERT INTO hookproof.tally VALUES ('billing', 1, 0, 0);
INSERT INTO hookproof.tally VALUES ('orders', 1, 0, 0);
INSERT INTO hookproof.tally VALUES ('paused', 1, 0, 0);
INSERT INTO hookproof.tally VALUES ('gone', 1, 0, 0);

-- Data for Name: version; Type: TABLE DATA; Schema: hookproof; Owner: -

INSERT INTO hookproof.version VALUES (1);

-- Name: event_seq_seq; Type: SEQUENCE SET; Schema: hookproof; Owner: -

SELECT pg_catalog.setval('hookproof.event_seq_seq', 14, true);

-- Name: body body_pkey; Type: CONSTRAINT; Schema: hookproof; Owner: -

ALTER TABLE ONLY hookproof.body
    ADD CONSTRAINT body_pkey PRIMARY KEY (id, digest);

-- Name: event event_pkey; Type: CONSTRAINT; Schema: hookproof; Owner: -

ALTER TABLE ONLY hookproof.event
    ADD CONSTRAINT event_pkey PRIMARY KEY (id, listener);

-- Name: floor floor_pkey; Type: CONSTRAINT; Schema: hookproof; Owner: -

ALTER TABLE ONLY hookproof.floor
    ADD CONSTRAINT floor_pkey PRIMARY KEY (listener);

-- Name: listener listener_pkey; Type: CONSTRAINT; Schema: hookproof; Owner: -

ALTER TABLE ONLY hookproof.listener
    ADD CONSTRAINT listener_pkey PRIMARY KEY (name);

-- Name: body_check; Type: INDEX; Schema: hookproof; Owner: -

CREATE INDEX body_check ON hookproof.body USING btree (check_at);

-- Name: event_behind; Type: INDEX; Schema: hookproof; Owner: -

CREATE INDEX event_behind ON hookproof.event USING btree (listener, ready_at, seq) WHERE (state <> ALL (ARRAY['waiting'::text, 'later'::text, 'leased'::text, 'delivered'::text, 'dead'::text, 'cancelled'::text]));

-- Name: event_due; Type: INDEX; Schema: hookproof; Owner: -

CREATE INDEX event_due ON hookproof.event USING btree (listener, due_at, seq) WHERE (state = 'waiting'::text);

-- Name: event_ended; Type: INDEX; Schema: hookproof; Owner: -

CREATE INDEX event_ended ON hookproof.event USING btree (state, ended_at, seq) WHERE (ended_at IS NOT NULL);

-- Name: event_key; Type: INDEX; Schema: hookproof; Owner: -

CREATE INDEX event_key ON hookproof.event USING btree (listener, ordering_key, ((state || ''::text)), seq) WHERE ((ordering_key IS NOT NULL) AND ((ended_at IS NULL) OR blocks_key));

-- Name: event_later; Type: INDEX; Schema: hookproof; Owner: -

CREATE INDEX event_later ON hookproof.event USING btree (listener, due_at, seq) WHERE (state = 'later'::text);

-- Name: event_leased; Type: INDEX; Schema: hookproof; Owner: -

CREATE INDEX event_leased ON hookproof.event USING btree (leased_until) WHERE (state = 'leased'::text);

-- Name: event_new; Type: INDEX; Schema: hookproof; Owner: -

CREATE INDEX event_new ON hookproof.event USING btree (seq) WHERE (state = 'new'::text);

-- Name: event_ripe; Type: INDEX; Schema: hookproof; Owner: -

CREATE INDEX event_ripe ON hookproof.event USING btree (due_at) WHERE (state = 'later'::text);

-- Name: event_taken; Type: INDEX; Schema: hookproof; Owner: -

CREATE INDEX event_taken ON hookproof.event USING btree (listener, leased_until) WHERE ((state = 'leased'::text) AND (token IS NOT NULL));

-- Name: event_tried; Type: INDEX; Schema: hookproof; Owner: -

CREATE INDEX event_tried ON hookproof.event USING btree (listener, first_attempt_at) WHERE ((state = ANY (ARRAY['waiting'::text, 'later'::text, 'aside'::text])) AND (first_attempt_at IS NOT NULL));

-- Name: listener_returning; Type: INDEX; Schema: hookproof; Owner: -

CREATE INDEX listener_returning ON hookproof.listener USING btree (name) WHERE (has_aside AND (paused_at IS NULL) AND (unknown_since IS NULL));

-- Name: listener_unknown; Type: INDEX; Schema: hookproof; Owner: -

CREATE INDEX listener_unknown ON hookproof.listener USING btree (unknown_until) WHERE ((unknown_since IS NOT NULL) AND (paused_at IS NULL));

