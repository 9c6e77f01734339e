import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../kit/markdown.js";

const TEST_FILE = /`((?:(?:cli|service)\/)?test\/[^`\s]+\.[a-z]+)`/g;
const text = (page: string) => readFileSync(join(ROOT, page), "utf8");
const testFilesIn = (words: string) => [...words.matchAll(TEST_FILE)].map(([, file = ""]) => file);

it("each threat of SECURITY.md has an answer, and test files that pin it", () => {
  const rows = text("SECURITY.md")
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("| threat") && !line.startsWith("| --"))
    .map((line) => line.split("|").slice(1, -1));
  expect(rows.length).toBeGreaterThanOrEqual(40);
  const incomplete = rows.filter(([threat = "", answer = "", tests = ""]) => {
    const files = tests.split(",").map((file) => file.trim());
    return (
      !threat.trim() ||
      !answer.trim() ||
      files.join() !==
        testFilesIn(tests)
          .map((file) => `\`${file}\``)
          .join()
    );
  });
  expect(incomplete).toEqual([]);
});

it.each(["SECURITY.md", "docs/decisions.md"])("every test file named in %s is there", (page) => {
  const named = testFilesIn(text(page));
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});
