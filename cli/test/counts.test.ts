import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { countOf } from "../src/output.js";

const SOURCE = join(import.meta.dirname, "../src");
const sources = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => readFileSync(join(SOURCE, name), "utf8"));

it("says 1 event, and 0 or 2 events", () => {
  expect([0, 1, 2].map((count) => countOf(count, "event"))).toEqual(["0 events", "1 event", "2 events"]);
});

it("no text puts a number before a plural by itself", () => {
  const nouns = sources.flatMap((text) =>
    [...text.matchAll(/countOf\([^()]+, "([a-z ]+)"\)/g)].map(([, noun]) => noun),
  );
  expect(new Set(nouns).size).toBeGreaterThan(8);
  const plural = new RegExp(`\\$\\{[^}]+\\} (?:${nouns.join("|")})s\\b.*`, "g");
  expect(sources.flatMap((text) => text.match(plural) ?? [])).toEqual([]);
});
