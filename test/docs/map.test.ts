import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../support/markdown.js";

it("every place that the map in ARCHITECTURE.md names is there", () => {
  const page = readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8");
  const [, map = ""] = /^## Task → file\n([\s\S]*?)^## /m.exec(page) ?? [];
  const missing: string[] = [];
  let named = 0;
  for (const row of map
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(2)) {
    let folder = "";
    for (const [, place = ""] of (row.split(" | ")[1] ?? "").matchAll(/`([^`\s]+(?:\/|\.[a-z]+))`/g)) {
      named += 1;
      // After a whole path, one that does not begin at the root is in the same folder.
      const isWhole = existsSync(join(ROOT, place.split("/")[0] ?? "")) && place.includes("/");
      const path = isWhole ? place : join(folder, place);
      folder = path.endsWith("/") ? path : dirname(path);
      if (!isThere(path)) missing.push(`${path} in: ${row}`);
    }
  }
  expect(named).toBeGreaterThan(80);
  expect(missing).toEqual([]);
});

/** Whether there is such a file or folder; `*` in a name stands for any text. */
function isThere(path: string): boolean {
  const [start = "", end] = basename(path).split("*");
  if (end === undefined) return existsSync(join(ROOT, path));
  const names = readdirSync(join(ROOT, dirname(path)));
  return names.some((name) => name.startsWith(start) && name.endsWith(end));
}
