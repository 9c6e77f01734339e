// The tables and indexes that look-ups of automations go by.
/** Who holds which entitlement, and the indexes by which a user is found among many. Times are milliseconds since the epoch. */
export const LOOKUP_TABLES = `
CREATE TABLE grants (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  app_id TEXT NOT NULL,
  entitlement_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (user_id, app_id, entitlement_id),
  FOREIGN KEY (app_id, entitlement_id) REFERENCES entitlements (app_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX grants_of_entitlement ON grants (app_id, entitlement_id, created_at, user_id);
CREATE INDEX users_by_email ON users (email COLLATE NOCASE, created_at, id);
CREATE INDEX users_by_name ON users (display_name, created_at, id);
`;
