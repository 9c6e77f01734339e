// The tables of the service itself and most of its operations.
/**
 * Tables of the service itself and of operations 4.2 to 4.5 and 4.7 to 4.9. Times are milliseconds since the
 * epoch. A `document` is the resource as it is answered, in JSON; what is searched and ordered by has columns.
 */
export const CORE_TABLES = `
CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE signing_keys (
  kid TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL,
  signs_at INTEGER,
  retires_at INTEGER,
  removes_at INTEGER,
  private_jwk TEXT NOT NULL
) STRICT;

CREATE TABLE users (
  id TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL,
  display_name TEXT NOT NULL,
  email TEXT NOT NULL,
  document TEXT NOT NULL
) STRICT;

CREATE TABLE clients (
  id TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL,
  display_name TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('super-admin', 'member')),
  user_id TEXT REFERENCES users (id),
  secret_hash TEXT,
  public_jwk TEXT
) STRICT;

CREATE TABLE auth_configs (
  id TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL,
  document TEXT NOT NULL
) STRICT;

CREATE TABLE apps (
  id TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL,
  display_name TEXT NOT NULL
) STRICT;

CREATE TABLE resource_types (
  app_id TEXT NOT NULL REFERENCES apps (id),
  id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  manually_managed INTEGER NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (app_id, id)
) STRICT;

CREATE TABLE app_users (
  app_id TEXT NOT NULL REFERENCES apps (id),
  id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  display_name TEXT NOT NULL,
  PRIMARY KEY (app_id, id)
) STRICT;

CREATE TABLE app_user_owners (
  app_id TEXT NOT NULL,
  app_user_id TEXT NOT NULL,
  role_slug TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id),
  created_at INTEGER NOT NULL,
  PRIMARY KEY (app_id, app_user_id, role_slug, user_id),
  FOREIGN KEY (app_id, app_user_id) REFERENCES app_users (app_id, id)
) STRICT;
CREATE INDEX app_user_owners_in_order ON app_user_owners (app_id, app_user_id, created_at, user_id, role_slug);

CREATE TABLE entitlements (
  app_id TEXT NOT NULL REFERENCES apps (id),
  id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (app_id, id)
) STRICT;

CREATE TABLE entitlement_owners (
  app_id TEXT NOT NULL REFERENCES apps (id),
  role_slug TEXT NOT NULL,
  entitlement_app_id TEXT NOT NULL,
  entitlement_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (app_id, role_slug, entitlement_app_id, entitlement_id),
  FOREIGN KEY (entitlement_app_id, entitlement_id) REFERENCES entitlements (app_id, id)
) STRICT;

CREATE TABLE suggestions (
  id TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL,
  display_name TEXT NOT NULL
) STRICT;

CREATE TABLE cohort_members (
  suggestion_id TEXT NOT NULL REFERENCES suggestions (id),
  display_name TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  PRIMARY KEY (suggestion_id, display_name, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX cohort_members_of_user ON cohort_members (user_id);

CREATE TABLE bridges (
  id TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL,
  display_name TEXT NOT NULL
) STRICT;

CREATE TABLE tunnel_credentials (
  id TEXT PRIMARY KEY,
  bridge_id TEXT NOT NULL REFERENCES bridges (id),
  created_at INTEGER NOT NULL,
  document TEXT NOT NULL
) STRICT;
CREATE INDEX tunnel_credentials_in_order ON tunnel_credentials (bridge_id, created_at, id);
`;
