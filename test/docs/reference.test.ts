import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };

const folder = new URL("../../docs/api/", import.meta.url);
const pageOf = (name: string) => readFileSync(new URL(name, folder), "utf8");
const pages = readdirSync(folder).filter((name) => name !== "README.md");

it("every field of a public type has a sentence", () => {
  const empty = pages.flatMap((name) =>
    pageOf(name)
      .split("\n")
      .filter((line) => /\|\s+-?\s*\|$/.test(line) && !/^\|[\s|:-]+$/.test(line))
      .map((line) => `${name}: ${line}`),
  );
  expect(empty).toEqual([]);
});

it("the first page has every entry of the package with its purpose", () => {
  const entries = Object.keys(manifest.exports).filter((entry) => !entry.endsWith(".json"));
  const rows = pageOf("README.md").match(/^\| \[`hookproof.*$/gm) ?? [];
  expect(rows.map((row) => /`([^`]+)`/.exec(row)?.[1])).toEqual(
    entries.map((entry) => entry.replace(/^\./, "hookproof")),
  );
  expect(rows.filter((row) => !/\.md\) \| [A-Z][^|]{20,}\. \|/.test(row))).toEqual([]);
});

it.each([
  ["hookproof.md", "createSender"],
  ["outbox.md", "createOutbox"],
  ["receiver.md", "createReceiver"],
  ["diagnose.md", "diagnose"],
])("%s begins with %s", (name, first) => {
  expect(/^### (\w+)/m.exec(pageOf(name))?.[1]).toBe(first);
});
