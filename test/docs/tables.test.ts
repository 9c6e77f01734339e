// Padding makes every row of a table change with its longest cell, and a page three times as long.
import { join, relative } from "node:path";
import { expect, it } from "vitest";
import { markdownIn, proseLines, ROOT } from "../kit/markdown.js";

/** Pages that others wrote, or that a tool makes. */
const FOREIGN = ["docs/specification.md", "docs/api/"];

it("no table in Markdown is padded", () => {
  const pages = ["", "docs", "cli", "service", "examples", "site", "bench", "vectors"].flatMap((folder) =>
    folder === ""
      ? ["README.md", "ARCHITECTURE.md", "SECURITY.md", "CHANGELOG.md"].map((name) => join(ROOT, name))
      : markdownIn(folder),
  );
  expect(pages.length).toBeGreaterThan(50);
  const padded = pages
    .filter((page) => !FOREIGN.some((foreign) => relative(ROOT, page).startsWith(foreign)))
    .flatMap((page) =>
      proseLines(page)
        .filter((line) => /^\s*\|(?:.*[^|\s] {2,}\||.*\| {2,}[^|\s]|.*-{4,})/.test(line))
        .map((line) => `${relative(ROOT, page)}: ${line.slice(0, 60)}`),
    );
  expect(padded).toEqual([]);
});
