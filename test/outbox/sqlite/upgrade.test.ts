import { readFileSync } from "node:fs";
import { sqliteStore } from "hookproof/outbox/sqlite";
import type { OutboxStore } from "hookproof/outbox/store";
import { expect, it } from "vitest";
import { describeOn, fileOfEachTest, SQLITE_DRIVERS } from "./files.js";

const TABLES = readFileSync(new URL("tables-1.sql", import.meta.url), "utf8");

const place = fileOfEachTest();

for (const [driver, openFile] of Object.entries(SQLITE_DRIVERS)) {
  describeOn(driver)(`tables of version 1 on ${driver}`, () => {
    const open = (file = place.file) => {
      const db = openFile(file);
      place.opened.push(db);
      return db;
    };
    const openStore = (file = place.file) => {
      const store = sqliteStore({ open: () => openFile(file) });
      place.opened.push(store);
      return store;
    };
    const texts = async (store: OutboxStore, ...listeners: string[]) => {
      const shares = listeners.map((name) => [name, { most: 10, windowMs: 1e12 }] as const);
      const claimed = await store.claim({ limit: 20, leaseMs: 60_000, listeners: new Map(shares) });
      return claimed.map(({ event }) => JSON.parse(new TextDecoder().decode(event.body)).text).sort();
    };
    /** Columns and indexes by table. */
    const shape = (file?: string) => {
      const db = open(file);
      const tables = db
        .prepare("SELECT name FROM sqlite_master WHERE type IN ('table', 'index') ORDER BY name")
        .all() as { name: string }[];
      return tables.map(({ name }) => [name, db.prepare(`PRAGMA table_info(${name})`).all()]);
    };

    it("become what a new outbox has", () => {
      open().exec(TABLES);
      openStore();
      openStore(`${place.file}-new`);
      expect(shape()).toEqual(shape(`${place.file}-new`));
    });

    it("lose nothing: what waits is claimed, what is dead can be brought back", async () => {
      const db = open();
      db.exec(TABLES);
      const store = openStore();
      const stats = await store.stats();
      expect(
        stats.map(({ listener, pending, inFlight, delivered, dead }) => [
          listener,
          pending + inFlight,
          delivered,
          dead,
        ]),
      ).toEqual([
        ["billing", 1, 0, 0],
        ["gone", 1, 0, 0],
        ["orders", 7, 1, 2],
        ["paused", 1, 0, 0],
      ]);
      const past = Date.now() - 1;
      db.exec(`UPDATE hookproof_outbox SET visible_at = ${past}, lease_until = min(lease_until, ${past});
        UPDATE hookproof_outbox_listeners SET rest_until = ${past} WHERE listener = 'billing'`);
      expect(await texts(store, "orders", "billing")).toEqual(
        ["retried", "leased", "first of key", "for two", "for two", "at a time"].sort(),
      );
      await store.resume("paused");
      await store.changed("gone");
      expect(await texts(store, "paused", "gone")).toEqual(["of a paused one", "of a stranger"]);
      expect(await store.redrive({}, 1e12)).toEqual({ redriven: 2, pastWindow: 0 });
      expect(await texts(store, "orders")).toEqual(["behind", "dead"]);
    });
  });
}
