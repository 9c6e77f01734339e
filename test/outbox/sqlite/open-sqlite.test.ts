import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { openSqlite } from "hookproof/node";
import { sqliteStore } from "hookproof/outbox/sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { itWith } from "../../kit/needs.js";
import { newOutboxFile, storedEvent } from "./files.js";

let place: ReturnType<typeof newOutboxFile>;
beforeEach(() => {
  place = newOutboxFile();
});
afterEach(() => place.remove());

it("opens a file by the runtime's own driver or libsql, and makes it for its owner only", async () => {
  const store = sqliteStore({ open: () => openSqlite(place.file) });
  await store.enqueue([storedEvent("lst_1")]);
  for (const end of ["", "-wal"]) expect(statSync(place.file + end).mode & 0o777).toBe(0o600);
  await store.close();
});

itWith("Node 20", Number.parseInt(process.versions.node, 10) < 22)(
  "refuses a driver that would take the process down, before it is loaded",
  () => {
    const folder = join(dirname(place.file), "node_modules", "better-sqlite3");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "name": "better-sqlite3", "version": "13.0.1" }');
    writeFileSync(join(folder, "index.js"), 'throw new Error("it was loaded");');
    const from = pathToFileURL(place.file).href;
    const open = () => openSqlite(place.file, { driver: "better-sqlite3", from });
    expect(open).toThrow(/better-sqlite3 13\.0\.1 crashes on Node 20.*better-sqlite3@12\.9\.0/);
    expect(() => sqliteStore({ open })).toThrow(expect.objectContaining({ code: "OUTBOX_UNAVAILABLE" }));
  },
);

it("names the drivers there are", () => {
  expect(() => openSqlite(place.file, { driver: "sqlite3" as never })).toThrow(/^driver must be/);
});
