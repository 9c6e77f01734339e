// The tables of automations and their runs.
/**
 * Tables of webhook listeners and automations. Times are milliseconds since the epoch. The event ids are in a
 * table that the replay store makes for itself.
 */
export const AUTOMATION_TABLES = `
CREATE TABLE automations (
  id TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  display_name TEXT NOT NULL,
  published INTEGER NOT NULL,
  enabled INTEGER NOT NULL,
  listener_id TEXT NOT NULL UNIQUE,
  hmac_secret TEXT,
  jwks_url TEXT,
  allowed_cidrs TEXT NOT NULL,
  steps TEXT NOT NULL,
  CHECK ((hmac_secret IS NULL) <> (jwks_url IS NULL))
) STRICT;
CREATE INDEX automations_in_order ON automations (created_at, id);

CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  automation_id TEXT NOT NULL REFERENCES automations (id) ON DELETE CASCADE,
  event_id TEXT NOT NULL,
  body TEXT NOT NULL,
  steps TEXT NOT NULL,
  status TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER
) STRICT;
CREATE INDEX runs_in_order ON runs (automation_id, created_at, id);
CREATE INDEX runs_to_do ON runs (automation_id, created_at, id) WHERE finished_at IS NULL;

CREATE TABLE run_results (
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (run_id, position)
) STRICT;
`;
