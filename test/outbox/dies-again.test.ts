// Encrypted dead letters under new ids: what dies meanwhile is left where it is. PostgreSQL's list is in horizon-dead.test.ts.
import { memoryStore } from "hookproof/outbox";
import { sqliteStore } from "hookproof/outbox/sqlite";
import type { OutboxEvent, OutboxStore } from "hookproof/outbox/store";
import { afterEach, expect, it } from "vitest";
import { aesGcmEncryption } from "../../src/outbox/body-encryption.js";
import { redriveAll } from "../../src/outbox/control.js";
import { fileOfEachTest, itOn, SQLITE_DRIVERS, storedEvent } from "./sqlite/files.js";

const place = fileOfEachTest();
const closed: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closed.splice(0)) await close();
});

const engines = [
  { name: "memory", its: it, open: (): OutboxStore<never> => memoryStore() },
  ...Object.entries(SQLITE_DRIVERS).map(([driver, open]) => ({
    name: `SQLite, ${driver}`,
    its: itOn(driver),
    open: () => sqliteStore({ open: () => open(place.file) }) as OutboxStore<never>,
  })),
];

/** More than a page of any engine. */
const LETTERS = 501;

/** Stores events and has them die, all in one moment. */
async function bury(store: OutboxStore<never>, events: readonly OutboxEvent[]): Promise<void> {
  await store.enqueue(events);
  const [window, share] = [
    { windowMs: 0, blocksKey: false },
    { most: LETTERS, windowMs: 60_000 },
  ];
  await store.claim({ limit: LETTERS, leaseMs: 1, listeners: new Map([["a", share]]) });
  for (let left = events.length; left > 0; ) left -= (await store.expire(new Map([["a", window]]))).length;
}

for (const { name, its, open } of engines)
  its(`encrypted events under new ids are taken once, whatever dies again: ${name}`, async () => {
    const store = open();
    closed.unshift(() => store.close());
    await bury(
      store,
      Array.from({ length: LETTERS }, () => storedEvent("a")),
    );
    const made: OutboxEvent[] = [];
    const dying: OutboxStore<never> = {
      ...store,
      async enqueue(events) {
        made.push(...events);
        if (made.length > LETTERS) throw new Error("it goes on with what has just died");
        if (made.length % 250 === 0) await bury(store, made.slice(-250));
      },
      drop: async () => 1,
    };
    const encryption = aesGcmEncryption([{ id: "k", key: new Uint8Array(32).fill(7) }]);
    const context = { store: dying, encryption, windowMs: async () => 60_000 };
    const { redriven } = await redriveAll(context, { listener: "a" }, { newIds: true });
    expect(redriven).toBe(LETTERS);
    expect(new Set(made.map(({ id }) => id)).size).toBe(LETTERS);
  });
