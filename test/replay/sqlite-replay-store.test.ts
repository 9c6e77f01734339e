import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SqliteDatabase } from "hookproof/node";
import { createReceiver } from "hookproof/receiver";
import { sqliteReplayStore } from "hookproof/replay";
import { fixedClock, replayStoreContract } from "hookproof/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import { LISTENER, signedRequest } from "../kit/signed-request.js";
import { describeOn, SQLITE_DRIVERS } from "../outbox/sqlite/files.js";

interface OpenDatabase extends SqliteDatabase {
  close(): unknown;
}

const drivers: Record<string, (file: string) => OpenDatabase> = SQLITE_DRIVERS;

let folder: string;
let opened: OpenDatabase[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hookproof-sqlite-"));
  opened = [];
});
afterEach(() => {
  for (const db of opened) db.close();
  rmSync(folder, { recursive: true });
});

for (const [driver, openFile] of Object.entries(drivers)) {
  const open = () => {
    const db = openFile(join(folder, "ids.db"));
    db.exec("PRAGMA busy_timeout = 5000");
    opened.push(db);
    return db;
  };

  describeOn(driver)(`sqliteReplayStore on ${driver}`, () => {
    for (const { name, run } of replayStoreContract) {
      it(name, async () => {
        const clock = fixedClock("2026-01-01T00:00:00Z");
        await run({
          open: () => sqliteReplayStore({ db: open(), clock }),
          passTime: (ms) => clock.advance(ms),
        });
      });
    }

    it("opens a connection of its own in WAL, syncs each commit, and closes it", async () => {
      const db = openFile(join(folder, "ids.db"));
      let isClosed = false;
      const own: OpenDatabase = {
        exec: (sql) => db.exec(sql),
        prepare: (sql) => db.prepare(sql),
        close() {
          isClosed = true;
          return db.close();
        },
      };
      const store = sqliteReplayStore({ open: () => own });
      expect(db.prepare("PRAGMA journal_mode").all()).toEqual([{ journal_mode: "wal" }]);
      expect(db.prepare("PRAGMA synchronous").all()).toEqual([{ synchronous: 2 }]); // 2 is FULL
      expect((await store.reserve("lst_1", "a")).state).toBe("reserved");
      store.close();
      expect(isClosed).toBe(true);
    });

    it("leaves a connection of the caller's open, and closes its own if it cannot create its table", async () => {
      const db = open();
      sqliteReplayStore({ db }).close();
      expect(db.prepare("SELECT 1 AS one").all()).toEqual([{ one: 1 }]);
      let isClosed = false;
      const broken = {
        exec() {
          throw new Error("the disk is full");
        },
        prepare: () => expect.unreachable(),
        close() {
          isClosed = true;
        },
      };
      const failure = expect.objectContaining({ code: "REPLAY_STORE_UNAVAILABLE" });
      expect(() => sqliteReplayStore({ open: () => broken })).toThrow(failure);
      expect(isClosed).toBe(true);
    });

    it("removes expired ids, at most 500 a call", async () => {
      const clock = fixedClock("2026-01-01T00:00:00Z");
      const db = open();
      const store = sqliteReplayStore({ db, clock, table: "ids" });
      db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
        INSERT INTO ids SELECT 'lst_old', i, 'token', 1, ${clock.now()} FROM n`);
      const left = () => db.prepare("SELECT count(*) AS n FROM ids WHERE listener_id = 'lst_old'").all();
      const counts: unknown[] = [];
      for (const eventId of ["a", "b", "c", "d"]) {
        await store.reserve("lst_new", eventId);
        counts.push(...left());
      }
      expect(counts).toEqual([{ n: 700 }, { n: 200 }, { n: 0 }, { n: 0 }]);
    });

    it("answers 503 with Retry-After while the database fails, and the id is not used up", async () => {
      const db = open();
      const store = sqliteReplayStore({ db });
      db.exec("DROP TABLE hookproof_event_ids");
      const receiver = createReceiver({ listener: LISTENER, replayStore: store });
      const request = await signedRequest();
      let runs = 0;
      const run = async () => void runs++;
      const refused = await receiver.receive(request, run);
      expect([refused.status, Object.fromEntries(refused.headers)["Retry-After"], runs]).toEqual([
        503,
        "1",
        0,
      ]);
      sqliteReplayStore({ db });
      expect((await receiver.receive(request, run)).status).toBe(200);
      expect((await receiver.receive(request, run)).status).toBe(409);
      expect(runs).toBe(1);
    });

    it("rejects all that is asked for at once while another process holds the file, and keeps none of it", async () => {
      const [db, other] = [open(), open()];
      db.exec("PRAGMA busy_timeout = 0");
      const store = sqliteReplayStore({ db });
      other.exec("BEGIN EXCLUSIVE");
      const asked = await Promise.allSettled(["a", "b"].map((id) => store.reserve("lst_1", id)));
      expect(asked).toMatchObject([
        { status: "rejected", reason: { code: "REPLAY_STORE_UNAVAILABLE" } },
        { status: "rejected", reason: { code: "REPLAY_STORE_UNAVAILABLE" } },
      ]);
      other.exec("ROLLBACK");
      const again = await Promise.all(["a", "b"].map((id) => store.reserve("lst_1", id)));
      expect(again.map(({ state }) => state)).toEqual(["reserved", "reserved"]);
    });

    it("one lost reservation does not undo its neighbours in the same transaction", async () => {
      const clock = fixedClock("2026-01-01T00:00:00Z");
      const store = sqliteReplayStore({ db: open(), clock });
      const reserve = async (id: string) => {
        const result = await store.reserve("lst_1", id);
        return result.state === "reserved" ? result.reservation : undefined;
      };
      const late = await reserve("a");
      clock.advance(60_000);
      const held = [await reserve("a"), await reserve("b")];
      const outcomes = await Promise.allSettled([late, ...held].map((one) => one && store.commit(one)));
      expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
      expect(await store.reserve("lst_1", "b")).toEqual({ state: "processed" });
    });

    it("commits id and work together, or neither", async () => {
      const db = open();
      db.exec("CREATE TABLE jobs (event_id TEXT)");
      const store = sqliteReplayStore({ db });
      const receiver = createReceiver({ listener: LISTENER, replayStore: store });
      const jobs = () => db.prepare("SELECT event_id FROM jobs").all().length;
      const request = await signedRequest();
      const accept = (fail: boolean) =>
        receiver.receive(request, async (event, reservation) => {
          db.exec("BEGIN IMMEDIATE");
          try {
            db.prepare("INSERT INTO jobs VALUES (?) RETURNING 1").all(event.id);
            store.commitSync(reservation);
            if (fail) throw new Error("the disk is full");
            db.exec("COMMIT");
          } catch (error) {
            db.exec("ROLLBACK");
            throw error;
          }
        });
      expect([(await accept(true)).status, jobs()]).toEqual([503, 0]);
      expect([(await accept(false)).status, jobs()]).toEqual([200, 1]);
      expect([(await accept(false)).status, jobs()]).toEqual([409, 1]);
    });
  });
}

it("names what cannot work", () => {
  expect(() => sqliteReplayStore({ db: {} as never })).toThrow(/^db must be/);
  expect(() => sqliteReplayStore({})).toThrow(/^give either db or open/);
  const db = { exec() {}, prepare: () => ({ all: () => [], run: () => ({ lastInsertRowid: 0 }) }) };
  expect(() => sqliteReplayStore({ db, table: "ids; DROP TABLE users" })).toThrow(/^table must be/);
  expect(() => sqliteReplayStore({ db, reservationMs: 0 })).toThrow(/^reservationMs must be/);
});
