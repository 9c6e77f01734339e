import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { countOf } from "../../src/core/shown.js";

const SOURCE = join(import.meta.dirname, "../../src");
const sources = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => readFileSync(join(SOURCE, name), "utf8"));

it("says 1 byte, and 0 or 2 bytes", () => {
  expect([0, 1, 2].map((count) => countOf(count, "byte"))).toEqual(["0 bytes", "1 byte", "2 bytes"]);
});

it("no text puts a number that may be 1 before a plural", () => {
  const nouns = sources.flatMap((text) =>
    [...text.matchAll(/countOf\(.+?, "([a-z ]+)"\)/g)].map(([, noun]) => noun),
  );
  expect(new Set(nouns).size).toBeGreaterThan(2);
  const plural = new RegExp(`\\$\\{[a-z][^}]*(?:length|size)\\} (?:${nouns.join("|")})s\\b.*`, "g");
  // What is refused as too large, and an event's own text for people who debug.
  const neverOne = /a listener takes at most|bytes\] \}/;
  const found = sources.flatMap((text) => text.match(plural) ?? []);
  expect(found.filter((text) => !neverOne.test(text))).toEqual([]);
});
