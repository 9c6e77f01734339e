import { join } from "node:path";
import { openSqlite } from "hookproof/node";
import { sqliteStore } from "hookproof/outbox/sqlite";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../kit/temporary-folder.js";

const ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c";

/** An outbox's file, in which somebody has then put something. */
function fileWith(sql: string): string {
  const file = join(temporaryFolder("hostile-file"), "a.db");
  sqliteStore({ open: () => openSqlite(file) }).close();
  const db = openSqlite(file);
  db.exec(sql);
  db.close();
  return file;
}

const instead = (table: string, sql: string) => `DROP TABLE ${table}; ${sql}`;

describe("a file of somebody else's, with something under the outbox's names", () => {
  it.each([
    ["a view", instead("hookproof_outbox", `CREATE VIEW hookproof_outbox AS ${ENDLESS}`)],
    [
      "a view as the version",
      instead("hookproof_outbox_version", `CREATE VIEW hookproof_outbox_version(version) AS ${ENDLESS}`),
    ],
    ["a view in capitals", instead("hookproof_outbox", `CREATE VIEW Hookproof_Outbox AS ${ENDLESS}`)],
    [
      "a virtual table",
      instead("hookproof_outbox_clock", "CREATE VIRTUAL TABLE hookproof_outbox_clock USING fts5(seen_at)"),
    ],
    [
      "a column that is worked out",
      instead(
        "hookproof_outbox_clock",
        "CREATE TABLE hookproof_outbox_clock (a INTEGER, seen_at INTEGER AS (length(zeroblob(a))))",
      ),
    ],
    [
      "a trigger",
      "CREATE TRIGGER t AFTER UPDATE ON hookproof_outbox_counts BEGIN DELETE FROM hookproof_outbox; END",
    ],
    [
      "an index over an expression",
      "CREATE INDEX hookproof_outbox_x ON hookproof_outbox (length(zeroblob(seq)))",
    ],
    ["an index under another name", "CREATE INDEX x ON hookproof_outbox (length(zeroblob(seq)))"],
  ])("is refused before anything reads it: %s", (_what, sql) => {
    const file = fileWith(sql);
    expect(() => sqliteStore({ open: () => openSqlite(file) })).toThrow(
      /is not one that an outbox makes\. If the file is your own, drop this \w+ and keep the file\.$/,
    );
  });

  it("is none where an application has tables, views and triggers of its own next to it", async () => {
    const file = fileWith(`CREATE TABLE jobs (id INTEGER); CREATE VIEW v AS SELECT * FROM jobs;
      CREATE TRIGGER t AFTER INSERT ON jobs BEGIN DELETE FROM jobs; END`);
    const store = sqliteStore({ open: () => openSqlite(file) });
    expect(await store.stats()).toEqual([]);
    await store.close();
  });
});
