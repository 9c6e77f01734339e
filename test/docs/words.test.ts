// The words that people read, in pages and in what programs print: an English cadence, the same everywhere.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { markdownIn, ROOT } from "../kit/markdown.js";

/** What is not written, and what is said in its place. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:mend|mends|mended|mending)\b/i, "fix"],
  [/(?<!\bare )\bfor good\b/i, "permanently"],
  [/\bwhoever\b/i, "anyone who, or no matter who"],
  [/\banew\b/i, "again"],
  [/\bbeside\b/i, "next to"],
  [/\bonly who\b|; who (?:is|has|can)\b/i, "only someone who, or anyone who"],
];

const pages = [...markdownIn("."), ...markdownIn("docs")]
  .map((page) => relative(ROOT, page))
  .filter((page, index, all) => /^(?:[A-Z]+\.md|docs\/)/.test(page) && all.indexOf(page) === index);

/** A page without its blocks, what stands in code, and where its links lead. */
const proseOf = (page: string) =>
  readFileSync(join(ROOT, page), "utf8")
    .replace(/^```[\s\S]*?^```$/gm, "")
    .replace(/`[^`\n]+`|\]\([^)\s]+\)/g, "");

/** Every text in a source: what it prints, and what stands in it by a template or as markup. */
function textsIn(path: string): string[] {
  const file = ts.createSourceFile(path, readFileSync(join(ROOT, path), "utf8"), ts.ScriptTarget.ESNext);
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node) || ts.isJsxText(node))
      texts.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return texts;
}

describe("the words of what is printed and shown", () => {
  it.each(WORDS)("%s stands in no text of the sources: %s", (word, instead) => {
    const sources = ["src", "cli/src", "service/src", "service/inspector"].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
        .filter((name) => /\.tsx?$/.test(name))
        .map((name) => join(folder, name)),
    );
    expect(sources.length).toBeGreaterThan(700);
    const found = sources
      .filter((path) => word.test(readFileSync(join(ROOT, path), "utf8")))
      .flatMap((path) =>
        textsIn(path)
          .filter((text) => word.test(text))
          .map((text) => `${path}: ${text.slice(0, 120)} (say: ${instead})`),
      );
    expect(found).toEqual([]);
  });
});

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

describe("the words of what is copied and of the API's reference", () => {
  const examples = readdirSync(join(ROOT, "examples"), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:m?[jt]s|py|sql|ya?ml|java|md)$/.test(name) && !name.includes("node_modules"))
    .map((name) => join("examples", name));

  it.each(WORDS)("%s is not written: %s", (word, instead) => {
    expect(examples.length).toBeGreaterThan(30);
    const found = ["service/openapi.yaml", ...examples].flatMap((file) =>
      readFileSync(join(ROOT, file), "utf8")
        .split("\n")
        .filter((line) => word.test(line))
        .map((line) => `${file}: ${line.slice(0, 120)} (say: ${instead})`),
    );
    expect(found).toEqual([]);
  });
});
