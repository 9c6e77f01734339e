import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { ROOT } from "../kit/markdown.js";

/** What a row names as an example of a file to come. */
const NEW = new Set(["src/replay/node/mysql-replay-store.ts"]);

it("ARCHITECTURE.md fits on one screen", () => {
  expect(statSync(join(ROOT, "ARCHITECTURE.md")).size).toBeLessThanOrEqual(4_096);
});

it("every command of docs/tasks.md is one of package.json", () => {
  const page = readFileSync(join(ROOT, "docs/tasks.md"), "utf8");
  const named = [...page.matchAll(/`(?:\w+=\w+ )?npm run ([a-z:-]+)/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !Object.hasOwn(manifest.scripts, name ?? ""))).toEqual([]);
});

it("every place that docs/tasks.md names is there", () => {
  const map = readFileSync(join(ROOT, "docs/tasks.md"), "utf8");
  const missing: string[] = [];
  let named = 0;
  for (const row of map.split("\n").filter((line) => line.startsWith("| "))) {
    for (const column of row.split(" | ").slice(1)) {
      let folder = "";
      for (const [, place = ""] of column.matchAll(/`([^`\s]+(?:\/|\.[a-z]+))`/g)) {
        named += 1;
        // After a whole path, one that does not begin at the root is in the same folder.
        const isWhole =
          existsSync(join(ROOT, place)) ||
          (place.includes("/") && existsSync(join(ROOT, place.split("/")[0] ?? "")));
        const path = isWhole ? place : join(folder, place);
        folder = path.endsWith("/") ? path : dirname(path);
        if (!isThere(path) && !NEW.has(path)) missing.push(`${path} in: ${row}`);
      }
    }
  }
  expect(named).toBeGreaterThan(180);
  expect(missing).toEqual([]);
});

/** Whether there is such a file or folder; `*` in a name stands for any text. */
function isThere(path: string): boolean {
  const [start = "", end] = basename(path).split("*");
  if (end === undefined) return existsSync(join(ROOT, path));
  const names = readdirSync(join(ROOT, dirname(path)));
  return names.some((name) => name.startsWith(start) && name.endsWith(end));
}
