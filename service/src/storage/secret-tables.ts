// The tables of paper secrets and their audit.
/** Tables of operations 4.1 and 4.6. Times are milliseconds since the epoch. */
export const SECRET_TABLES = `
CREATE TABLE paper_secrets (
  id TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL,
  creator_user_id TEXT NOT NULL REFERENCES users (id),
  secret_type TEXT NOT NULL,
  access TEXT NOT NULL CHECK (access IN ('INTERNAL', 'EXTERNAL')),
  allowed_user_ids TEXT NOT NULL,
  input_format TEXT NOT NULL,
  ciphertext BLOB,
  object_key TEXT,
  filename TEXT NOT NULL,
  views_remaining INTEGER NOT NULL CHECK (views_remaining >= -1),
  expires_at INTEGER,
  revoked_at INTEGER
) STRICT;

CREATE TABLE audit_events (
  id INTEGER PRIMARY KEY,
  created_at INTEGER NOT NULL,
  activity_name TEXT NOT NULL,
  vault_id TEXT NOT NULL,
  actor_user_id TEXT NOT NULL,
  actor_email TEXT NOT NULL,
  client_ip TEXT NOT NULL,
  document TEXT NOT NULL
) STRICT;
CREATE INDEX audit_events_in_order ON audit_events (created_at, id);
CREATE INDEX audit_events_of_secret ON audit_events (vault_id, created_at, id);
`;
