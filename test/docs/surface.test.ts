// What a user can import, by docs/api, which `npm run check` holds against the code.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../kit/markdown.js";

const folder = join(ROOT, "docs/api");
const doors = readdirSync(folder).filter((page) => page !== "README.md");
const namesOf = (page: string) =>
  [...readFileSync(join(folder, page), "utf8").matchAll(/^### (\w+)/gm)].map(([, name = ""]) => name);
const isDoctor = (page: string) => page === "diagnose.md" || page === "probes.md";

it("no name stands in two doors", () => {
  const all = doors.flatMap(namesOf);
  expect(all.length).toBeGreaterThan(200);
  expect(all.filter((name, place) => all.indexOf(name) !== place)).toEqual([]);
});

it("the library has at most 280 names, and the doctor 45", () => {
  const count = (pages: readonly string[]) => pages.flatMap(namesOf).length;
  expect(count(doors.filter((page) => !isDoctor(page)))).toBeLessThanOrEqual(280);
  expect(count(doors.filter(isDoctor))).toBeLessThanOrEqual(45);
});
