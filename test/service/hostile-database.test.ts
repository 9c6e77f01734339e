import { join } from "node:path";
import { openSqlite } from "hookproof/node";
import { createService, type ServiceOptions, seedDatabase } from "hookproof-service";
import { describe, expect, it } from "vitest";
import { snapshots } from "../../service/src/state/snapshots.js";
import { openDatabase } from "../../service/src/storage/database.js";
import { temporaryFolder } from "../kit/temporary-folder.js";
import { ask, startService } from "./running-service.js";

/** A service's database, in which somebody has then put something. */
async function databaseWith(sql: string): Promise<string> {
  const db = join(temporaryFolder("hostile-database"), "service.db");
  await seedDatabase({ db, users: 1 });
  const raw = openSqlite(db);
  raw.exec(sql);
  raw.close();
  return db;
}

describe("a database of somebody else's, whose names would be SQL", () => {
  it.each([
    "users; COMMIT; DROP TABLE grants; --",
    'users"; DROP TABLE grants; --',
    "snapshot_1_users; x",
    "naïve",
    "a-b",
  ])("is refused where a table is called %s", async (name) => {
    const db = await databaseWith(`CREATE TABLE "${name.replaceAll('"', '""')}" (a)`);
    for (const open of [() => createService({ db }), () => seedDatabase({ db, users: 1, replace: true })])
      await expect(open()).rejects.toThrow("tables of other names, which this program never makes");
  });

  it("is good with names that are names, such as a word of SQL", async () => {
    const db = await databaseWith('CREATE TABLE "select" (a PRIMARY KEY, b UNIQUE)');
    await seedDatabase({ db, users: 1, replace: true });
    const opened = await openDatabase(db);
    const { save, restore, list } = snapshots(opened);
    save("a", 0);
    expect([restore("a"), list()]).toEqual([true, [{ name: "a", createdAt: 0 }]]);
    opened.close();
  });

  it.each(["1_x AS SELECT 1; DROP TABLE grants; --", "1", "1e3"])(
    "has no snapshot whose id is the text %s",
    async (id) => {
      const db = await databaseWith(`
        CREATE TABLE snapshot_list (id TEXT, name TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL);
        INSERT INTO snapshot_list VALUES ('${id}', 'theirs', 0)`);
      const opened = await openDatabase(db);
      const { save, restore, remove, list } = snapshots(opened);
      expect(restore("theirs")).toBe(false);
      expect(() => save("theirs", 0)).toThrow("list of snapshots is not one of this program");
      expect([remove("theirs"), list()]).toEqual([true, []]);
      expect(opened.prepare("SELECT count(*) AS count FROM grants").all()).toHaveLength(1);
      opened.close();
    },
  );
});

it("gives out no file of a secret whose key is not one, and answers 404", async () => {
  const db = await databaseWith(`
    INSERT INTO paper_secrets (id, created_at, creator_user_id, secret_type, access, allowed_user_ids, input_format,
      filename, views_remaining, object_key)
    SELECT 'theirs', 0, id, 'SECRET_TYPE_FILE', 'EXTERNAL', '[]', 'INPUT_FORMAT_FILE', 'a', -1, 'http:10.0.0.5:9200'
    FROM users LIMIT 1`);
  const s3 = { endpoint: "http://127.0.0.1:9", bucket: "b", accessKeyId: "a", secretAccessKey: "b" };
  const service = await startService({ db, s3 });
  expect((await ask(service, "POST", "/api/v1/secrets/theirs/view", { body: {} })).status).toBe(404);
});

it("is filled with what was asked for, where a start was cut off that had begun with something else", async () => {
  const db = join(temporaryFolder("hostile-database"), "service.db");
  const cutOff = async () => {
    await seedDatabase({ db, fixture: { authConfigs: [{ id: "theirs" }] }, replace: true });
    const raw = openSqlite(db);
    raw.exec("DELETE FROM meta WHERE name = 'loaded'");
    raw.close();
  };
  const statuses = async (options: ServiceOptions) => {
    await cutOff();
    await using service = await createService({ db, ...options });
    const found = ["theirs", "mine"].map((id) => ask(service, "GET", `/api/v1/auth-configs/${id}`));
    return (await Promise.all(found)).map(({ status }) => status);
  };
  expect(await statuses({ fixture: { authConfigs: [{ id: "mine" }] } })).toEqual([404, 200]);
  expect(await statuses({})).toEqual([200, 404]);
});
