import { MAX_BODY_BYTES } from "../../protocol/limits.js";
import type { OutboxNames } from "./schema.js";

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
    traceparent text DEFAULT NULL`;
  const overload = (type: string) => `
    CREATE FUNCTION ${schema}.enqueue(listener text, body ${type}, ${options}) RETURNS uuid LANGUAGE sql AS
    $$ SELECT ${schema}.enqueue($1, $2::text, $3, $4, $5) $$;`;
  return `
    CREATE FUNCTION ${schema}.enqueue(listener text, body text, ${options}) RETURNS uuid LANGUAGE plpgsql AS $enqueue$
    #variable_conflict use_column
    DECLARE
      bytes bytea;
      body_digest text;
      known text;
    BEGIN
      IF coalesce($1, '') = '' THEN
        RAISE 'OUTBOX_LISTENER_UNKNOWN: listener must be a listener''s name' USING ERRCODE = 'invalid_parameter_value';
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
      IF $2 IS NULL OR $2::json IS NULL THEN
        RAISE 'PAYLOAD_NOT_JSON: body must be JSON' USING ERRCODE = 'invalid_parameter_value';
      END IF;
      bytes := convert_to($2, 'UTF8');
      IF length(bytes) > ${MAX_BODY_BYTES} THEN
        RAISE 'PAYLOAD_TOO_LARGE: the body has % bytes, and a listener takes ${MAX_BODY_BYTES}', length(bytes)
          USING ERRCODE = 'invalid_parameter_value';
      END IF;
      body_digest := rtrim(translate(encode(sha256(bytes), 'base64'), '+/', '-_'), '=');
      INSERT INTO ${event} (id, listener, state, digest, body, ordering_key, traceparent)
        VALUES ($4, $1, CASE WHEN $3 IS NULL THEN 'waiting' ELSE 'new' END, body_digest, bytes, $3, $5)
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
