import { sqliteStore } from "hookproof/outbox/sqlite";
import type { ClaimedEvent, OutboxStore } from "hookproof/outbox/store";
import { fixedClock, outboxStoreContract, waitFor } from "hookproof/testing";
import { expect, it } from "vitest";
import { describeOn, fileOfEachTest, SQLITE_DRIVERS, storedEvent } from "./files.js";

const ATTEMPT = { number: 1, startedAt: 1_767_225_600_000, durationMs: 3, status: 200 };

const place = fileOfEachTest();

const claimAll = (store: OutboxStore, limit = 100): Promise<readonly ClaimedEvent[]> =>
  store.claim({
    limit,
    leaseMs: 60_000,
    listeners: new Map([["lst_1", { most: limit, windowMs: 604_800_000 }]]),
  });

for (const [driver, openFile] of Object.entries(SQLITE_DRIVERS)) {
  describeOn(driver)(`sqliteStore on ${driver}`, () => {
    const open = () => {
      const db = openFile(place.file);
      place.opened.push(db);
      return db;
    };
    const connect = () => {
      const db = open();
      db.exec("PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000");
      return db;
    };
    const openStore = (options: Partial<Parameters<typeof sqliteStore>[0]> = {}) => {
      const store = sqliteStore({ open: () => openFile(place.file), ...options });
      place.opened.push(store);
      return store;
    };
    const rows = (db: { prepare(sql: string): { all(): unknown[] } }, sql: string) => db.prepare(sql).all();

    for (const { name, run } of outboxStoreContract) {
      it(name, async () => {
        const clock = fixedClock("2026-01-01T00:00:00Z");
        await run({
          // Looks for other processes' events so seldom that it has to tell of its own by itself.
          open: () => sqliteStore({ open: () => openFile(place.file), clock, pollMs: 600_000 }),
          passTime: (ms) => clock.advance(ms),
          async transaction(end, work) {
            const db = connect();
            db.exec("BEGIN IMMEDIATE");
            await work(db);
            db.exec(end === "commit" ? "COMMIT" : "ROLLBACK");
          },
        });
      });
    }

    it.each(["redrive", "drop"] as const)("what dies during a %s is left where it is", async (name) => {
      const store = openStore();
      await store.enqueue(Array.from({ length: 450 }, () => storedEvent("lst_1")));
      const ended = `state = 2, turn = NULL, reason = 'refused', code = 'REQUEST_REFUSED', ended_at`;
      const db = connect();
      db.exec(`UPDATE hookproof_outbox SET ${ended} = 1000 + seq / 7`);
      // Whatever is changed dies at once; what is removed, another one in its place.
      db.exec(`CREATE TRIGGER again AFTER UPDATE OF state ON hookproof_outbox WHEN new.state = 0 BEGIN
          UPDATE hookproof_outbox SET ${ended} = 5000 + (SELECT count(*) FROM hookproof_outbox WHERE ended_at > 5000) WHERE seq = new.seq; END;
        CREATE TRIGGER other AFTER DELETE ON hookproof_outbox WHEN old.ended_at < 20000 BEGIN
          INSERT INTO hookproof_outbox (listener, id, digest, enqueued_at, ready_at, state, due_at, visible_at, ended_at)
            VALUES ('lst_1', old.id, '', 0, 0, 2, 0, 0, old.ended_at + 5000); END`);
      const done = await (name === "redrive"
        ? store.redrive({}, 1e12).then(({ redriven }) => redriven)
        : store.drop({}));
      expect(done).toBe(450);
    });

    it("wakes nobody when it looks for due events and finds a paused listener with an event under way", async () => {
      const store = openStore({ pollMs: 600_000 }); // the first look for other processes' commits wakes
      await store.enqueue([storedEvent("lst_1")]);
      expect(await claimAll(store)).toHaveLength(1);
      await store.pause("lst_1");
      let wakes = 0;
      const stop = store.onWork?.(() => {
        wakes += 1;
      });
      const watched = connect();
      const version = () => rows(watched, "PRAGMA data_version");
      const before = version();
      await store.due(undefined, 10);
      await new Promise(setImmediate);
      stop?.();
      expect(wakes).toBe(0);
      expect(version()).toEqual(before); // other processes would wake each other by it
    });

    it("has stored the events of a transaction when the call returns, and nothing of them after a rollback", async () => {
      const store = openStore();
      const db = connect();
      db.exec("CREATE TABLE users (id TEXT)");
      const events = (table: string) => rows(db, `SELECT count(*) AS n FROM ${table}`);
      for (const end of ["ROLLBACK", "COMMIT"]) {
        db.exec("BEGIN");
        db.exec("INSERT INTO users VALUES ('u_1')");
        const promised = store.enqueue([storedEvent("lst_1")], db);
        expect([promised, events("hookproof_outbox")]).toEqual([undefined, [{ n: 1 }]]);
        db.exec(end);
        const n = end === "COMMIT" ? 1 : 0;
        for (const table of ["users", "hookproof_outbox", "hookproof_outbox_bodies"])
          expect([end, table, events(table)]).toEqual([end, table, [{ n }]]);
      }
      expect(await store.stats()).toMatchObject([{ listener: "lst_1", pending: 1 }]);
    });

    it("stores all events of a call or none, even if the caller commits after the error", async () => {
      const store = openStore();
      const db = connect();
      const known = storedEvent("lst_1");
      const other = { ...storedEvent("lst_1"), id: known.id, digest: "other" };
      for (const begin of ["BEGIN", undefined]) {
        if (begin) db.exec(begin);
        expect(() => store.enqueue([storedEvent("lst_1"), known, other], db)).toThrow(
          expect.objectContaining({ code: "EVENT_ID_REUSED" }),
        );
        if (begin) db.exec("COMMIT");
        expect(await store.stats()).toEqual([]);
      }
    });

    it("one refused event does not undo what others enqueue at the same moment", async () => {
      const store = openStore();
      const known = storedEvent("lst_1");
      const other = { ...storedEvent("lst_1"), id: known.id, digest: "other" };
      const results = await Promise.allSettled(
        [[known], [storedEvent("lst_1"), other], [storedEvent("lst_1")]].map((events) =>
          store.enqueue(events),
        ),
      );
      expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      expect(await claimAll(store)).toHaveLength(2);
    });

    it("does its own work over a connection of its own, which a caller's rollback leaves alone", async () => {
      const store = openStore();
      await store.enqueue([storedEvent("lst_1"), storedEvent("lst_1")]);
      const db = connect();
      const [one] = await claimAll(store);
      db.exec("BEGIN"); // takes no lock before it writes
      if (one) await store.markDelivered([{ lease: one.lease, outcome: "delivered", attempt: ATTEMPT }]);
      void store.enqueue([storedEvent("lst_1")], db);
      db.exec("ROLLBACK");
      expect(await store.stats()).toMatchObject([{ pending: 0, inFlight: 1, delivered: 1 }]);
    });

    it("gives up on a file that stays locked, and works again afterwards", async () => {
      const store = openStore({ patienceMs: 20 });
      const writer = connect();
      writer.exec("BEGIN IMMEDIATE");
      const tries = await Promise.allSettled([store.enqueue([storedEvent("lst_1")]), claimAll(store)]);
      for (const one of tries) expect(one).toMatchObject({ reason: { code: "OUTBOX_UNAVAILABLE" } });
      writer.exec("ROLLBACK");
      await store.enqueue([storedEvent("lst_1")]);
      expect(await claimAll(store)).toHaveLength(1);
    });

    it("tells a full disk to whoever enqueues, with nothing half-written", async () => {
      const limited = openFile(place.file);
      const store = openStore({ open: () => limited });
      const db = connect();
      await store.enqueue([storedEvent("lst_1")]);
      const [pages] = rows(db, "PRAGMA page_count") as { page_count: number }[];
      for (const full of [limited, db]) full.exec(`PRAGMA max_page_count = ${(pages?.page_count ?? 0) + 8}`);
      const big = () => storedEvent("lst_1", { body: new Uint8Array(60_000) });
      await expect(store.enqueue([storedEvent("lst_1"), big()])).rejects.toMatchObject({
        code: "OUTBOX_UNAVAILABLE",
        message: expect.stringContaining("disk is full"),
      });
      expect(() => store.enqueue([storedEvent("lst_1"), big()], db)).toThrow(/disk is full/);
      const counts =
        "SELECT (SELECT count(*) FROM hookproof_outbox), (SELECT count(*) FROM hookproof_outbox_bodies)";
      expect(Object.values(rows(connect(), counts)[0] as object)).toEqual([1, 1]);
      expect(await store.stats()).toMatchObject([{ pending: 1 }]);
      await store.enqueue([storedEvent("lst_1")]); // a small one still fits
      expect(await claimAll(store)).toHaveLength(2);
    });

    it("refuses a file of a newer version, and leaves it as it is", async () => {
      await openStore().close();
      const db = open();
      db.exec("UPDATE hookproof_outbox_version SET version = 99; CREATE TABLE hookproof_outbox_more (x)");
      expect(() => openStore()).toThrow(expect.objectContaining({ code: "OUTBOX_NEWER" }));
      expect(() => openStore()).toThrow(/version 99/);
      expect(rows(db, "SELECT version FROM hookproof_outbox_version")).toEqual([{ version: 99 }]);
    });

    it("holds no lease of an event that was never claimed good, whatever its token", async () => {
      const store = openStore();
      const event = storedEvent("lst_1");
      await store.enqueue([event]);
      for (const token of ["", "null", "0", "1", "1 ", "1 null"]) {
        const lease = { id: event.id, listener: "lst_1", token, expiresAt: 0 };
        expect(await store.markDelivered([{ lease, outcome: "delivered", attempt: ATTEMPT }])).toBe(0);
      }
      expect(await claimAll(store)).toHaveLength(1);
    });

    it("holds a lease good with its own token, for its own event, and with nothing else", async () => {
      const store = openStore();
      await store.enqueue([storedEvent("lst_1"), storedEvent("lst_1")]);
      const [one, other] = (await claimAll(store)).map(({ lease }) => lease);
      if (!one || !other) throw new Error("nothing was claimed");
      const mark = (lease: typeof one) =>
        store.markDelivered([{ lease, outcome: "delivered", attempt: ATTEMPT }]);
      const [, claim] = one.token.split(" ");
      for (const token of [
        other.token,
        `${one.token} `,
        ` ${one.token}`,
        `7 ${claim}`,
        `1e999 ${claim}`,
        `${claim}`,
      ])
        expect([token, await mark({ ...one, token })]).toEqual([token, 0]);
      expect(await mark({ ...one, id: other.id })).toBe(0);
      expect(await mark({ ...one, listener: "lst_2" })).toBe(0);
      expect(await mark(one)).toBe(1);
      expect(await mark(one)).toBe(0);
    });

    it("leaves PRAGMA user_version and the tables of others in the file alone", () => {
      const db = open();
      db.exec("PRAGMA user_version = 7; CREATE TABLE users (id TEXT)");
      openStore();
      expect(rows(db, "PRAGMA user_version")).toEqual([{ user_version: 7 }]);
      const names = rows(db, "SELECT name FROM sqlite_master") as { name: string }[];
      expect(names.filter(({ name }) => !/^(?:sqlite_autoindex_)?hookproof_/.test(name))).toEqual([
        { name: "users" },
      ]);
    });

    it("writes every commit through to the disk, and wants the same of a caller's connection", async () => {
      const own = openFile(place.file);
      const store = openStore({ open: () => own });
      expect(rows(own, "PRAGMA journal_mode")).toEqual([{ journal_mode: "wal" }]);
      expect(rows(own, "PRAGMA synchronous")).toEqual([{ synchronous: 2 }]);
      const db = open();
      db.exec("PRAGMA synchronous = NORMAL");
      expect(() => store.enqueue([storedEvent("lst_1")], db)).toThrow(/^tx needs PRAGMA synchronous = FULL/);
    });

    it("needs a file", () => {
      expect(() => sqliteStore({ open: () => openFile(":memory:") })).toThrow(
        expect.objectContaining({ code: "OUTBOX_UNAVAILABLE" }),
      );
    });

    it("notices soon what another connection commits", async () => {
      const [here, elsewhere] = [openStore({ pollMs: 5 }), openStore()];
      let woken = 0;
      const stop = here.onWork?.(() => void woken++);
      await waitFor(() => woken > 0); // the first look tells nothing yet
      const before = woken;
      await elsewhere.enqueue([storedEvent("lst_1")]);
      await waitFor(() => woken > before);
      stop?.();
      await elsewhere.enqueue([storedEvent("lst_1")]);
      const after = woken;
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(woken).toBe(after);
    });

    it("does what was asked for before it closes, and nothing afterwards", async () => {
      const store = sqliteStore({ open: () => openFile(place.file) });
      const stored = store.enqueue([storedEvent("lst_1")]);
      await store.close();
      await store.close();
      await stored;
      await expect(store.stats()).rejects.toMatchObject({ code: "OUTBOX_UNAVAILABLE" });
      expect(await openStore().stats()).toMatchObject([{ pending: 1 }]);
    });

    it("keeps no body of what was delivered", async () => {
      const store = openStore();
      await store.enqueue([storedEvent("lst_1"), storedEvent("lst_1")]);
      const [claimed] = await claimAll(store, 1);
      if (claimed)
        await store.markDelivered([{ lease: claimed.lease, outcome: "delivered", attempt: ATTEMPT }]);
      expect(rows(open(), "SELECT count(*) AS n FROM hookproof_outbox_bodies")).toEqual([{ n: 1 }]);
    });

    it("keeps no body of what was cancelled, and knows the event all the same", async () => {
      const store = openStore();
      const event = storedEvent("lst_1");
      await store.enqueue([event]);
      await store.cancel({ ids: [event.id] });
      await store.enqueue([event]);
      await expect(store.enqueue([{ ...event, digest: "other" }])).rejects.toMatchObject({
        code: "EVENT_ID_REUSED",
      });
      expect(rows(open(), "SELECT count(*) AS n FROM hookproof_outbox_bodies")).toEqual([{ n: 0 }]);
    });

    it("passes no listener in a look whose events are for later, and hands them out when their time has come", async () => {
      const clock = fixedClock("2026-01-01T00:00:00Z");
      const store = openStore({ clock });
      const deliverAt = clock.now() + 3_600_000;
      const names = Array.from({ length: 1_100 }, (_, n) => `a${n}`);
      await store.enqueue(names.map((listener) => storedEvent(listener, { deliverAt })));
      await store.enqueue([storedEvent("z")]);
      const due = async (after?: string): Promise<string[]> => {
        const { listeners, next } = await store.due(after, 2_000);
        const found = listeners.map(({ listener }) => listener);
        return next === undefined ? found : [...found, ...(await due(next))];
      };
      expect((await store.due(undefined, 10)).listeners).toMatchObject([{ listener: "z" }]);
      expect(await store.pending({ listener: "a7" }, 10)).toHaveLength(1);
      expect(await store.cancel({ listener: "a9" })).toEqual({ cancelled: 1, tooLate: 0 });
      const share = { most: 10, windowMs: 604_800_000 };
      const claim = (...of: string[]) =>
        store.claim({ limit: 10, leaseMs: 60_000, listeners: new Map(of.map((name) => [name, share])) });
      expect(await claim("a7")).toEqual([]);
      clock.advance(3_600_000);
      const [claimed] = await claim("a7"); // by a claim alone
      expect(claimed?.event.listener).toBe("a7");
      expect(await due()).toHaveLength(1_099); // without the one that is claimed and the one that was cancelled
      // One that is tried much later is put off as well.
      const { lease, now } = claimed ?? expect.fail("nothing was claimed");
      await store.reschedule(lease, now + 3_600_000, ATTEMPT);
      const put = "SELECT count(*) AS events FROM hookproof_outbox WHERE turn = 3";
      expect(rows(connect(), put)).toEqual([{ events: 1 }]);
      clock.advance(3_600_000);
      expect(await claim("a7")).toMatchObject([{ attempt: 2 }]);
    });

    it("prune removes the rows of listeners that are neither paused nor resting any more", async () => {
      const clock = fixedClock("2026-01-01T00:00:00Z");
      const store = openStore({ clock });
      await store.pause("lst_paused");
      await store.pause("lst_resumed");
      await store.resume("lst_resumed");
      await store.rest("lst_rested", 1_000);
      await store.rest("lst_resting", 3_000);
      clock.advance(2_000);
      await store.prune({ delivered: 0, dead: 0 });
      expect(rows(open(), "SELECT listener FROM hookproof_outbox_listeners")).toEqual([
        { listener: "lst_paused" },
        { listener: "lst_resting" },
      ]);
    });

    it("cancels many events in steps, between which others write, and none that came later", async () => {
      const store = openStore();
      const keyed = (index: number) => ({ orderingKey: index % 3 === 0 ? `k${index % 5}` : undefined });
      await store.enqueue(Array.from({ length: 1_000 }, (_, index) => storedEvent("lst_1", keyed(index))));
      const cancelling = store.cancel({});
      await store.enqueue([]); // shares the first transaction
      const meanwhile = [];
      for (const index of [0, 1, 2, 15]) {
        const later = storedEvent("lst_1", keyed(index));
        await store.enqueue([later]);
        meanwhile.push(later.id);
      }
      expect(await cancelling).toEqual({ cancelled: 1_000, tooLate: 0 });
      const left = await store.pending({}, 10);
      expect(left.map(({ id }) => id)).toEqual(meanwhile);
      expect(await claimAll(store)).toHaveLength(3); // the fourth is behind the first, of the same key
    });
  });
}

it("names what cannot work", async () => {
  const [openFile] = Object.values(SQLITE_DRIVERS);
  if (!openFile) throw new Error("there is no driver");
  const open = () => openFile(place.file);
  expect(() => sqliteStore({} as never)).toThrow(/^open must be/);
  expect(() => sqliteStore({ open, pollMs: 0 })).toThrow(/^pollMs must be/);
  expect(() => sqliteStore({ open, patienceMs: 0.5 })).toThrow(/^patienceMs must be/);
  const store = sqliteStore({ open });
  place.opened.push(store);
  expect(() => store.enqueue([storedEvent("lst_1")], {} as never)).toThrow(/^tx must be/);
});
