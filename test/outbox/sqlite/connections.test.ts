import { renameSync, rmSync, writeFileSync } from "node:fs";
import { sqliteStore } from "hookproof/outbox/sqlite";
import type { ClaimedEvent, OutboxStore } from "hookproof/outbox/store";
import { waitFor } from "hookproof/testing";
import { expect, it } from "vitest";
import { describeOn, fileOfEachTest, SQLITE_DRIVERS, storedEvent, watched } from "./files.js";

const ATTEMPT = { number: 1, startedAt: 1_767_225_600_000, durationMs: 3, status: 200 };
/** So seldom that no test meets it. */
const NEVER_MS = 600_000;

const place = fileOfEachTest();

const claimAll = (store: OutboxStore, limit = 100): Promise<readonly ClaimedEvent[]> =>
  store.claim({
    limit,
    leaseMs: 60_000,
    listeners: new Map([["lst_1", { most: limit, windowMs: 60_000 }]]),
  });
const enqueue = async (store: OutboxStore, ...events: ReturnType<typeof storedEvent>[]) =>
  store.enqueue(events.length > 0 ? events : [storedEvent("lst_1")]);
const pass = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

for (const [driver, openFile] of Object.entries(SQLITE_DRIVERS)) {
  describeOn(driver)(`sqliteStore's connections on ${driver}`, () => {
    const connect = () => {
      const db = openFile(place.file);
      place.opened.push(db);
      db.exec("PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000");
      return db;
    };
    const openStore = (
      options: Partial<Parameters<typeof sqliteStore>[0]> = {},
      hooks: Parameters<typeof watched>[1] = {},
    ) => {
      const store = sqliteStore({ open: () => watched(openFile(place.file), hooks), ...options });
      place.opened.push(store);
      return store;
    };
    const count = (table: string) =>
      (connect().prepare(`SELECT count(*) AS n FROM ${table}`).all()[0] as { n: number }).n;

    it("tells nobody that an event is stored before it is committed", async () => {
      let isBroken = false;
      const store = openStore(
        {},
        {
          exec(sql) {
            if (isBroken && sql === "COMMIT") throw new Error("disk I/O error");
          },
        },
      );
      await enqueue(store);
      isBroken = true;
      await expect(enqueue(store)).rejects.toMatchObject({
        code: "OUTBOX_UNAVAILABLE",
        message: expect.stringContaining("disk I/O error"),
      });
      const [claimed] = await claimAll(store).catch(() => []);
      expect(claimed).toBeUndefined();
      isBroken = false;
      expect(await claimAll(store)).toHaveLength(1);
    });

    it("stores what is asked for at the same moment in one transaction", async () => {
      let commits = 0;
      const store = openStore({}, { exec: (sql) => void (sql === "COMMIT" && commits++) });
      commits = 0;
      await Promise.all(Array.from({ length: 20 }, () => enqueue(store)));
      expect(commits).toBe(1);
    });

    it("goes on while another connection holds the lock, and is through when that lets go", async () => {
      let tries = 0;
      const store = openStore(
        { patienceMs: 100_000 },
        { exec: (sql) => void (sql === "BEGIN IMMEDIATE" && tries++) },
      );
      const writer = connect();
      writer.exec("BEGIN IMMEDIATE");
      tries = 0;
      let ticks = 0;
      const timer = setInterval(() => ticks++, 1);
      const stored = enqueue(store);
      const outcome = stored.then(
        () => "stored",
        () => "given up",
      );
      // A store that waited inside SQLite would hold up this loop, and give up after a try or two.
      const tried = waitFor(() => tries >= 15, { timeoutMs: 100_000 }).then(() => "tried");
      expect(await Promise.race([outcome, tried])).toBe("tried");
      expect(ticks).toBeGreaterThan(10);
      writer.exec("COMMIT");
      await stored;
      clearInterval(timer);
      expect(await claimAll(store)).toHaveLength(1);
    });

    it("waits again after it has given up once", async () => {
      const store = openStore({ patienceMs: 2_000 });
      const writer = connect();
      writer.exec("BEGIN IMMEDIATE");
      await expect(enqueue(store)).rejects.toMatchObject({ code: "OUTBOX_UNAVAILABLE" });
      const next = enqueue(store);
      await pass(20);
      writer.exec("COMMIT");
      await next;
      expect(await claimAll(store)).toHaveLength(1);
    });

    it("leaves nothing of a call in the caller's transaction when the database refuses a part of it", async () => {
      const store = openStore();
      const db = connect();
      db.exec(`CREATE TABLE users (id TEXT);
        CREATE TRIGGER refuse BEFORE INSERT ON hookproof_outbox_bodies WHEN length(NEW.body) > 500
        BEGIN SELECT RAISE(ABORT, 'too long'); END`);
      db.exec("BEGIN; INSERT INTO users VALUES ('u_1')");
      const long = storedEvent("lst_1", { body: new Uint8Array(600) });
      expect(() => store.enqueue([storedEvent("lst_1"), long], db)).toThrow(
        expect.objectContaining({ code: "OUTBOX_UNAVAILABLE", message: expect.stringContaining("too long") }),
      );
      const later = storedEvent("lst_1");
      void store.enqueue([later], db); // the transaction goes on as if the call had not been made
      db.exec("COMMIT");
      expect(["users", "hookproof_outbox", "hookproof_outbox_bodies"].map(count)).toEqual([1, 1, 1]);
      expect(await store.stats()).toMatchObject([{ pending: 1 }]);
      expect((await claimAll(store)).map(({ event }) => event.id)).toEqual([later.id]);
    });

    it("makes all of its tables or none", async () => {
      const db = connect();
      db.exec("CREATE TABLE hookproof_outbox_counts (of_somebody_else TEXT)");
      expect(() => openStore()).toThrow(expect.objectContaining({ code: "OUTBOX_UNAVAILABLE" }));
      const names = db.prepare("SELECT name FROM sqlite_master").all();
      expect(names).toEqual([{ name: "hookproof_outbox_counts" }]);
      db.exec("DROP TABLE hookproof_outbox_counts");
      await enqueue(openStore());
    });

    it("closes the connection when it refuses the file", async () => {
      await openStore().close();
      connect().exec("UPDATE hookproof_outbox_version SET version = 99");
      let closed = 0;
      expect(() => openStore({}, { close: () => void closed++ })).toThrow(/version 99/);
      expect(closed).toBe(1);
    });

    it("wakes after a caller's transaction and not within it", async () => {
      const store = openStore({ pollMs: NEVER_MS });
      const db = connect();
      let woken = 0;
      store.onWork?.(() => void woken++);
      db.exec("BEGIN");
      void store.enqueue([storedEvent("lst_1")], db);
      expect(woken).toBe(0);
      db.exec("COMMIT");
      await waitFor(() => woken > 0);
      await pass(5);
      expect(woken).toBe(1);
    });

    it("looks for other processes' events only while somebody listens, and never again once closed", async () => {
      let looks = 0;
      const hooks = { all: (sql: string) => void (sql === "PRAGMA data_version" && looks++) };
      const store = openStore({ pollMs: 1 }, hooks);
      await pass(10);
      expect(looks).toBe(0);
      let woken = 0;
      const timersBefore = timers();
      const stop = store.onWork?.(() => void woken++);
      expect(timers()).toBe(timersBefore); // which would keep the process alive
      await waitFor(() => looks > 5);
      expect(woken).toBe(1); // the first look tells nothing yet
      stop?.();
      const before = looks;
      await pass(10);
      expect(looks).toBe(before);
      store.onWork?.(() => void woken++);
      await store.close();
      const [looksThen, wokenThen] = [looks, woken];
      await pass(10);
      expect([looks, woken]).toEqual([looksThen, wokenThen]);
    });

    it("wakes whoever listens when it can no longer look, so that the failure is told", async () => {
      let isBroken = false;
      const store = openStore(
        { pollMs: 1 },
        {
          all(sql) {
            if (isBroken && sql === "PRAGMA data_version") throw new Error("disk I/O error");
          },
        },
      );
      let woken = 0;
      store.onWork?.(() => void woken++);
      await waitFor(() => woken === 1);
      isBroken = true;
      await waitFor(() => woken > 3);
    });

    it("hands out a body and not what lies around it in memory", async () => {
      const body = new TextEncoder().encode('{"a":1}');
      const event = storedEvent("lst_1", { body });
      const store = openStore(
        {},
        {
          // As a driver gives it that cuts small bodies out of one large piece of memory.
          rows: (_, rows) =>
            rows.map((row) => {
              const { body: bytes } = row as { body?: Uint8Array };
              if (!bytes) return row;
              const pool = new Uint8Array(1_000).fill(120);
              pool.set(new Uint8Array(bytes), 100);
              return { ...(row as object), body: pool.subarray(100, 100 + body.length) };
            }),
        },
      );
      await enqueue(store, event);
      const [claimed] = await claimAll(store);
      expect(claimed?.event.body).toEqual(body);
    });

    it("says so when its file was deleted or replaced, and acknowledges nothing then", async () => {
      const store = openStore({ pollMs: 1 });
      const db = connect();
      await enqueue(store);
      let woken = 0;
      store.onWork?.(() => void woken++);
      await waitFor(() => woken === 1);
      renameSync(place.file, `${place.file}.old`);
      await waitFor(() => woken > 3); // a worker asks at once, and tells
      const refused = (words: string) =>
        expect.objectContaining({
          code: "OUTBOX_UNAVAILABLE",
          message: expect.stringContaining(`The file was ${words} while it was open: ${place.file}`),
        });
      const calls = {
        enqueue: () => enqueue(store),
        claim: () => claimAll(store),
        stats: () => store.stats(),
        find: () => store.find(storedEvent("lst_1").id),
        deadLetters: () => store.deadLetters()[Symbol.asyncIterator]().next(),
      };
      for (const call of Object.values(calls)) await expect(call()).rejects.toEqual(refused("deleted"));
      expect(() => store.enqueue([storedEvent("lst_1")], db)).toThrow(refused("deleted"));
      writeFileSync(place.file, "");
      await expect(enqueue(store)).rejects.toEqual(refused("replaced"));
      rmSync(place.file);
      renameSync(`${place.file}.old`, place.file);
      expect(await claimAll(store)).toHaveLength(1); // the file is back, and nothing was lost
    });

    it("says so when its log was deleted or replaced, where what was acknowledged lies", async () => {
      const store = openStore();
      const log = `${place.file}-wal`;
      await enqueue(store);
      renameSync(log, `${place.file}.old`);
      const refused = (words: string) =>
        expect.objectContaining({
          code: "OUTBOX_UNAVAILABLE",
          message: expect.stringContaining(`The file was ${words} while it was open: ${log}`),
        });
      await expect(enqueue(store)).rejects.toEqual(refused("deleted"));
      await expect(claimAll(store)).rejects.toEqual(refused("deleted"));
      writeFileSync(log, "");
      await expect(enqueue(store)).rejects.toEqual(refused("replaced"));
      rmSync(log);
      renameSync(`${place.file}.old`, log);
      expect(await claimAll(store)).toHaveLength(1);
    });

    it("ends a bounded number of events with a call, over all listeners", async () => {
      let now = 1_000_000;
      const store = openStore({ clock: { now: () => now } });
      const names = ["a", "b", "c"];
      await enqueue(store, ...names.flatMap((name) => Array.from({ length: 300 }, () => storedEvent(name))));
      const listeners = new Map(names.map((name) => [name, { most: 300, windowMs: 1_000 }]));
      const claimed = await store.claim({ limit: 900, leaseMs: 10, listeners });
      expect(claimed).toHaveLength(900);
      now += 2_000;
      const windows = new Map(names.map((name) => [name, { windowMs: 1_000, blocksKey: false }]));
      const expired: number[] = [];
      while (expired.at(-1) !== 0) expired.push((await store.expire(windows)).length);
      expect(Math.max(...expired)).toBeLessThanOrEqual(500);
      expect(expired.reduce((sum, each) => sum + each, 0)).toBe(900);
      const pruned: number[] = [];
      while (pruned.at(-1) !== 0) pruned.push(await store.prune({ delivered: now + 1, dead: now + 1 }));
      expect(Math.max(...pruned)).toBeLessThanOrEqual(500);
      expect(["hookproof_outbox", "hookproof_outbox_bodies"].map(count)).toEqual([0, 0]);
      expect(await store.stats()).toEqual([]);
    });

    it("gives its own code where what the file holds cannot be read", async () => {
      const store = openStore();
      await enqueue(store, storedEvent("lst_1"));
      for (const { lease } of await claimAll(store))
        await store.fail(lease, {
          reason: "refused",
          code: "REQUEST_REFUSED",
          attempt: ATTEMPT,
          blocksKey: false,
        });
      connect().exec("UPDATE hookproof_outbox SET history = 'no JSON'");
      // One row that cannot be read keeps none of the others from being shown.
      const { value } = await store.deadLetters()[Symbol.asyncIterator]().next();
      expect(value).toMatchObject({ code: "REQUEST_REFUSED", attempts: [] });
      const good = { number: 2, startedAt: 1, durationMs: 1 };
      const texts = { ...good, number: { toString: 1 } };
      const history = JSON.stringify([null, 1, "a", [], {}, { ...good, code: {} }, texts, good]);
      connect().exec(`UPDATE hookproof_outbox SET history = '${history}'`);
      const [event] = await store.find(value?.event.id ?? "");
      expect(event?.attempts).toEqual([good]);
      connect().exec("DROP TABLE hookproof_outbox_bodies");
      await expect(store.deadLetters()[Symbol.asyncIterator]().next()).rejects.toMatchObject({
        code: "OUTBOX_UNAVAILABLE",
      });
    });

    it("keeps no count and no body of what was dropped", async () => {
      const store = openStore();
      await enqueue(store, storedEvent("lst_1"), storedEvent("lst_1"));
      for (const { lease } of await claimAll(store))
        await store.fail(lease, {
          reason: "refused",
          code: "REQUEST_REFUSED",
          attempt: ATTEMPT,
          blocksKey: false,
        });
      expect(await store.stats()).toMatchObject([{ dead: 2 }]);
      expect(await store.drop({}, { limit: 1 })).toBe(1);
      expect(await store.stats()).toMatchObject([{ pending: 0, dead: 1 }]);
      expect(["hookproof_outbox", "hookproof_outbox_bodies"].map(count)).toEqual([1, 1]);
    });
  });
}

/** Timers that keep this process alive. */
const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
