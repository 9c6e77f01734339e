// A function of listeners that fails, in memory and over SQLite; over PostgreSQL: postgres/failing-lookups.test.ts.
import type { Clock } from "hookproof";
import { openSqlite } from "hookproof/node";
import { memoryStore } from "hookproof/outbox";
import { sqliteStore } from "hookproof/outbox/sqlite";
import type { OutboxStore } from "hookproof/outbox/store";
import { describe, expect, it } from "vitest";
import { LookupFailures } from "../../src/outbox/lookup-failures.js";
import { drainsAndForgets, failsForAll, failsForMany, isAskedEverLater } from "./failing-lookups.js";
import { fileOfEachTest } from "./sqlite/files.js";

const place = fileOfEachTest();

describe.each([
  ["memory", (clock: Clock) => memoryStore({ clock }) as OutboxStore],
  ["SQLite", (clock: Clock) => sqliteStore({ open: () => openSqlite(place.file), clock }) as OutboxStore],
])("a function of listeners, over %s", (_, store) => {
  const open = (clock: Clock) => {
    const opened = store(clock);
    place.opened.push(opened);
    return opened as OutboxStore<never>;
  };

  it("that fails for all is asked 100 times a second at most, and its first answer lets all go", () =>
    failsForAll(open));
  it("that fails for thousands holds up none of the others, and is asked about each ever less", () =>
    failsForMany(open));
  it("that fails for a name is asked about it ever later", () => isAskedEverLater(open));
  it("that fails for the first names is asked about all before a drain ends, and at once after forget", () =>
    drainsAndForgets(open));
});

it("of very many names that it fails for, each comes to its turn: none is asked about before all were", () => {
  const failures = new LookupFailures();
  const { pauseMs } = failures.next({ pauseMs: 60_000, outage: undefined }, 5_000, 20_000);
  expect(pauseMs).toBe(400_000); // 50 a second
});
