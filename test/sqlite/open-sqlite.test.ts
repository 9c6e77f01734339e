import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqlite } from "hookproof/node";
import { afterAll, beforeAll, expect, it } from "vitest";

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "hookproof-open-")));
});
afterAll(() => rmSync(folder, { recursive: true }));

it("takes every text for a path, and connects nowhere", async () => {
  let asked = 0;
  const server = createServer((_request, response) => {
    asked++;
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.address() as AddressInfo;
  try {
    for (const scheme of ["http", "https", "libsql", "ws", "wss"])
      expect(() => {
        const db = openSqlite(`${scheme}://127.0.0.1:${port}/app.db`, { from: import.meta.url });
        db.exec("CREATE TABLE a (b)");
      }, scheme).toThrow(/cannot be opened: there is no such folder/);
  } finally {
    server.close();
  }
  expect(asked).toBe(0);
});

it("reads no options in a name", () => {
  const file = join(folder, "app.db?mode=memory&cache=shared");
  const db = openSqlite(file);
  db.exec("CREATE TABLE a (b)");
  db.close();
  expect(existsSync(file)).toBe(true);
  expect(() => openSqlite(`file:${join(folder, "other.db")}`)).toThrow(
    /cannot be opened: there is no such folder/,
  );
  expect(existsSync(join(folder, "other.db"))).toBe(false);
});

it.each(["", "a\0b", undefined, null, 1])("refuses %j", (file) => {
  expect(() => openSqlite(file as string)).toThrow("file must be the name of a file, or :memory:");
});
