-- The outbox's tables of version 1 in SQLite, with events in every state, made by commit 4e2e72d.
CREATE TABLE hookproof_outbox (
    seq INTEGER PRIMARY KEY,
    listener TEXT NOT NULL,
    id TEXT NOT NULL,
    digest TEXT NOT NULL,
    ordering_key TEXT,
    traceparent TEXT,
    encryption_key_id TEXT,
    enqueued_at INTEGER NOT NULL,
    ready_at INTEGER NOT NULL,
    state INTEGER NOT NULL DEFAULT 0,
    turn INTEGER,
    due_at INTEGER NOT NULL,
    visible_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    attempts_before_redrive INTEGER NOT NULL DEFAULT 0,
    first_attempt_at INTEGER,
    sent_before INTEGER,
    lease_token TEXT,
    lease_until INTEGER,
    ended_at INTEGER,
    outcome TEXT,
    reason TEXT,
    code TEXT,
    history TEXT NOT NULL DEFAULT '[]',
    UNIQUE (id, listener)
  );
CREATE INDEX hookproof_outbox_due ON hookproof_outbox (listener, visible_at, seq)
    WHERE state = 0 AND turn = 1;
CREATE INDEX hookproof_outbox_key ON hookproof_outbox (listener, ordering_key, seq)
    WHERE ordering_key IS NOT NULL AND turn IS NOT NULL;
CREATE INDEX hookproof_outbox_leased ON hookproof_outbox (listener, ordering_key, lease_until)
    WHERE lease_until IS NOT NULL;
CREATE INDEX hookproof_outbox_aside ON hookproof_outbox (listener, ready_at) WHERE state = 0 AND turn = 2;
CREATE INDEX hookproof_outbox_later ON hookproof_outbox (listener, visible_at, seq) WHERE state = 0 AND turn = 3;
CREATE INDEX hookproof_outbox_ripe ON hookproof_outbox (visible_at) WHERE state = 0 AND turn = 3;
CREATE INDEX hookproof_outbox_moved ON hookproof_outbox (listener, ready_at) WHERE state = 0 AND (turn <> 1 OR visible_at <> ready_at);
CREATE INDEX hookproof_outbox_tried ON hookproof_outbox (listener, first_attempt_at)
    WHERE state = 0 AND first_attempt_at IS NOT NULL;
CREATE INDEX hookproof_outbox_ended ON hookproof_outbox (state, ended_at, seq) WHERE ended_at IS NOT NULL;
CREATE TABLE hookproof_outbox_bodies (seq INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE hookproof_outbox_shared (
    id TEXT NOT NULL, digest TEXT NOT NULL, body BLOB NOT NULL, stored_at INTEGER NOT NULL, check_at INTEGER NOT NULL,
    PRIMARY KEY (id, digest)
  );
CREATE INDEX hookproof_outbox_check ON hookproof_outbox_shared (check_at);
CREATE TABLE hookproof_outbox_counts (
    listener TEXT NOT NULL, state INTEGER NOT NULL, events INTEGER NOT NULL,
    PRIMARY KEY (listener, state)
  ) WITHOUT ROWID;
CREATE TABLE hookproof_outbox_listeners (
    listener TEXT PRIMARY KEY, paused_at INTEGER, pause_reason TEXT, rest_until INTEGER NOT NULL DEFAULT 0,
    changed_at INTEGER NOT NULL DEFAULT 0, pace REAL NOT NULL DEFAULT 0, has_aside INTEGER NOT NULL DEFAULT 0,
    unknown_since INTEGER, unknown_until INTEGER NOT NULL DEFAULT 0
  ) WITHOUT ROWID;
CREATE INDEX hookproof_outbox_resting ON hookproof_outbox_listeners (rest_until)
    WHERE paused_at IS NULL AND has_aside = 0;
CREATE INDEX hookproof_outbox_returning ON hookproof_outbox_listeners (listener)
    WHERE has_aside = 1 AND paused_at IS NULL AND unknown_since IS NULL;
CREATE INDEX hookproof_outbox_unknown ON hookproof_outbox_listeners (unknown_until)
    WHERE unknown_since IS NOT NULL AND paused_at IS NULL;
CREATE TABLE hookproof_outbox_version (version INTEGER NOT NULL);
INSERT INTO hookproof_outbox VALUES (1, 'orders', '00000000-0000-4000-8000-000000000001', 'FcyLkUfInbL-BJ441oT8dQdU-CJ4AfbIOs5YY635srg', NULL, NULL, NULL, 1795796003980, 1795796003980, 1, NULL, 1795796003980, 1795796063981, 1, 0, 1795796003981, 0, NULL, NULL, 1795796003982, 'delivered', NULL, NULL, '[{"number":1,"startedAt":1795000000000,"durationMs":9,"status":200}]');
INSERT INTO hookproof_outbox VALUES (2, 'orders', '00000000-0000-4000-8000-000000000002', 'H3qB61SG6QYkMb_yOkCkSMkHJNnjjs3iV15s9II-n-s', NULL, NULL, NULL, 1795796003983, 1795796003983, 2, NULL, 1795796003983, 1795796063984, 1, 0, 1795796003984, 0, NULL, NULL, 1795796003985, NULL, 'refused', 'REQUEST_REFUSED', '[{"number":1,"startedAt":1795000000000,"durationMs":12,"status":503,"code":"RECEIVER_UNAVAILABLE","answer":"be back soon"}]');
INSERT INTO hookproof_outbox VALUES (3, 'orders', '00000000-0000-4000-8000-000000000003', 'HERNDZ00P6NEc1ppYs2e5064qiGFBR7e7iEA1h-4dtM', 'blocked', NULL, NULL, 1795796003986, 1795796003986, 2, 1, 1795796003986, 1795796063986, 1, 0, 1795796003986, 0, NULL, NULL, 1795796003987, NULL, 'refused', 'REQUEST_REFUSED', '[{"number":1,"startedAt":1795000000000,"durationMs":12,"status":503,"code":"RECEIVER_UNAVAILABLE","answer":"be back soon"}]');
INSERT INTO hookproof_outbox VALUES (4, 'orders', '00000000-0000-4000-8000-000000000004', 'y-4aSRqAKHrSBer-bm8BY-h-KL3hsfo8HTTNWLjxf14', 'blocked', NULL, NULL, 1795796003988, 1795796003988, 0, 0, 1795796003988, 1795796003988, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '[]');
INSERT INTO hookproof_outbox VALUES (5, 'orders', '00000000-0000-4000-8000-000000000005', 'qOkyByjpoe8SMxuBCRT6-o5eg21j0jYI6_YaPjRlyxc', NULL, NULL, NULL, 1795796003988, 1795796003988, 3, NULL, 1795796003988, 1795796003988, 0, 0, NULL, NULL, NULL, NULL, 1795796003989, NULL, NULL, NULL, '[]');
INSERT INTO hookproof_outbox VALUES (6, 'orders', '00000000-0000-4000-8000-000000000006', 'lQseqhjnf9vcoIEm2RWNCVU6TC--Wl6Z-ZIum3IW_44', NULL, NULL, NULL, 1795796003990, 1795796003990, 0, 1, 1795796004990, 1795796004990, 1, 0, 1795796003990, 0, NULL, NULL, NULL, NULL, NULL, NULL, '[{"number":1,"startedAt":1795000000000,"durationMs":12,"status":503,"code":"RECEIVER_UNAVAILABLE","answer":"be back soon"}]');
INSERT INTO hookproof_outbox VALUES (7, 'orders', '00000000-0000-4000-8000-000000000007', 'We_eRetFFcfpDnr_aOmtGkrI8mzyeS8IwS0H_FEKmdQ', NULL, NULL, NULL, 1795796003992, 1795796003992, 0, 1, 1795796003992, 1795796063992, 1, 0, 1795796003992, 0, '6feed7fb-ea11-493a-80c7-afb5e827c66d', 1795796063992, NULL, NULL, NULL, NULL, '[]');
INSERT INTO hookproof_outbox VALUES (8, 'orders', '00000000-0000-4000-8000-000000000008', 'ZPZdlYUWDP0uGVNLvXwijnOtBgfuqyM6gasj0vY2OSY', 'k', NULL, NULL, 1795796003994, 1795796003994, 0, 1, 1795796003994, 1795796063994, 1, 0, 1795796003994, 0, '81f900b3-c82d-469b-8326-4eb39cfe6b66', 1795796063994, NULL, NULL, NULL, NULL, '[]');
INSERT INTO hookproof_outbox VALUES (9, 'orders', '00000000-0000-4000-8000-000000000009', '60Xm_IYaWNz7O5hW7g1jf6DVPuG9yaKoSVKw9XYbfkM', 'k', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', NULL, 1795796003995, 1795796003995, 0, 0, 1795796003995, 1795796003995, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '[]');
INSERT INTO hookproof_outbox VALUES (10, 'orders', '00000000-0000-4000-8000-000000000010', 'XXNOGmI7qluIWshoGce5aU8Dpqy3xNd4mb53JVIIuAA', NULL, NULL, NULL, 1795796003996, 1795799603996, 0, 3, 1795799603996, 1795799603996, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '[]');
INSERT INTO hookproof_outbox VALUES (11, 'orders', '00000000-0000-4000-8000-000000000011', 'JFu2qUadCKrcaZez2uM4GhGtA3_0GXOwbkNpf6BhFM8', NULL, NULL, NULL, 1795796003997, 1795796003997, 0, 1, 1795796003997, 1795796003997, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '[]');
INSERT INTO hookproof_outbox VALUES (12, 'billing', '00000000-0000-4000-8000-000000000011', 'JFu2qUadCKrcaZez2uM4GhGtA3_0GXOwbkNpf6BhFM8', NULL, NULL, NULL, 1795796003997, 1795796003997, 0, 1, 1795796003997, 1795796003997, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '[]');
INSERT INTO hookproof_outbox VALUES (13, 'paused', '00000000-0000-4000-8000-000000000012', '77PZEbQ3uYnzmsdB_zBAFPfXGRhJkMriZ97AroPk748', NULL, NULL, NULL, 1795796003997, 1795796003997, 0, 2, 1795796003997, 1795796003997, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '[]');
INSERT INTO hookproof_outbox VALUES (14, 'gone', '00000000-0000-4000-8000-000000000013', 'kQCTuOF33Ln8aW8XIfR2HMNXriDzm3d99cYn5RWL4U8', NULL, NULL, NULL, 1795796004000, 1795796004000, 0, 2, 1795796004000, 1795796004000, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '[]');
INSERT INTO hookproof_outbox_bodies VALUES (2, X'7b2274657874223a2264656164227d');
INSERT INTO hookproof_outbox_bodies VALUES (3, X'7b2274657874223a22626c6f636b696e67227d');
INSERT INTO hookproof_outbox_bodies VALUES (4, X'7b2274657874223a22626568696e64227d');
INSERT INTO hookproof_outbox_bodies VALUES (6, X'7b2274657874223a2272657472696564227d');
INSERT INTO hookproof_outbox_bodies VALUES (7, X'7b2274657874223a226c6561736564227d');
INSERT INTO hookproof_outbox_bodies VALUES (8, X'7b2274657874223a226669727374206f66206b6579227d');
INSERT INTO hookproof_outbox_bodies VALUES (9, X'7b2274657874223a227365636f6e64206f66206b6579227d');
INSERT INTO hookproof_outbox_bodies VALUES (10, X'7b2274657874223a22617420612074696d65227d');
INSERT INTO hookproof_outbox_bodies VALUES (13, X'7b2274657874223a226f66206120706175736564206f6e65227d');
INSERT INTO hookproof_outbox_bodies VALUES (14, X'7b2274657874223a226f66206120737472616e676572227d');
INSERT INTO hookproof_outbox_shared VALUES ('00000000-0000-4000-8000-000000000011', 'JFu2qUadCKrcaZez2uM4GhGtA3_0GXOwbkNpf6BhFM8', X'7b2274657874223a22666f722074776f227d', 1795796003997, 1795796063997);
INSERT INTO hookproof_outbox_counts VALUES ('billing', 0, 1);
INSERT INTO hookproof_outbox_counts VALUES ('gone', 0, 1);
INSERT INTO hookproof_outbox_counts VALUES ('orders', 0, 7);
INSERT INTO hookproof_outbox_counts VALUES ('orders', 1, 1);
INSERT INTO hookproof_outbox_counts VALUES ('orders', 2, 2);
INSERT INTO hookproof_outbox_counts VALUES ('paused', 0, 1);
INSERT INTO hookproof_outbox_listeners VALUES ('billing', NULL, NULL, 1795796064001, 0, 0, 0, NULL, 0);
INSERT INTO hookproof_outbox_listeners VALUES ('gone', NULL, NULL, 0, 0, 0, 1, 1795796004000, 1795796009000);
INSERT INTO hookproof_outbox_listeners VALUES ('orders', NULL, NULL, 0, 1795796004002, 0, 0, NULL, 0);
INSERT INTO hookproof_outbox_listeners VALUES ('paused', 1795796003998, 'moving', 0, 0, 0, 1, NULL, 0);
INSERT INTO hookproof_outbox_version VALUES (1);
