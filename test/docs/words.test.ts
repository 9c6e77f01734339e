// The words of the pages that people read: an English cadence, the same everywhere.
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { markdownIn, ROOT } from "../kit/markdown.js";

/** What is not written, and what is said in its place. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:mend|mends|mended|mending)\b/i, "fix"],
  [/(?<!\bare )\bfor good\b/i, "permanently"],
  [/\bwhoever\b/i, "anyone who, or no matter who"],
  [/\banew\b/i, "again"],
  [/\bbeside\b/i, "next to"],
];

/** What is made from the sources' texts, and the pages of docs/evidence.md. */
const OTHER =
  /^docs\/(?:api\/|(?:advice|checks|cli|decisions|doors|errors|map|mutation|performance|probes|proof|service-conformance|simulation|snippets|soak)\.md)/;

const pages = [...markdownIn("."), ...markdownIn("docs")]
  .map((page) => relative(ROOT, page))
  .filter((page, index, all) => /^(?:[A-Z]+\.md|docs\/)/.test(page) && all.indexOf(page) === index)
  .filter((page) => !OTHER.test(page));

/** A page without its blocks, what stands in code, and where its links lead. */
const proseOf = (page: string) =>
  readFileSync(join(ROOT, page), "utf8")
    .replace(/^```[\s\S]*?^```$/gm, "")
    .replace(/`[^`\n]+`|\]\([^)\s]+\)/g, "");

describe("the words of README and the pages", () => {
  it.each(WORDS)("%s is not written: %s", (word, instead) => {
    expect(pages.length).toBeGreaterThan(50);
    const found = pages.flatMap((page) =>
      proseOf(page)
        .split("\n")
        .filter((line) => word.test(line))
        .map((line) => `${page}: ${line.slice(0, 120)} (say: ${instead})`),
    );
    expect(found).toEqual([]);
  });
});
