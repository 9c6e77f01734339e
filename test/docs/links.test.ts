import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, it } from "vitest";
import { markdownIn, ROOT } from "../kit/markdown.js";

/** Link targets outside code: `[text](target)` and images. */
const LINK = /\]\(([^()\s]+(?:\([^()\s]*\)[^()\s]*)?)\)/g;

it("every link in the Markdown pages leads to a file, a heading or an https address", () => {
  const pages = [...markdownIn("."), join(ROOT, "llms.txt")];
  const broken: string[] = [];
  let checked = 0;
  for (const page of pages) {
    for (const [, target = ""] of proseOf(page).matchAll(LINK)) {
      checked += 1;
      if (!leadsSomewhere(page, target)) broken.push(`${relative(ROOT, page)}: ${target}`);
    }
  }
  expect(checked).toBeGreaterThan(50);
  expect(broken).toEqual([]);
});

it("README fits a screen: a picture, a program, two commands, where to go next", () => {
  const page = readFileSync(join(ROOT, "README.md"), "utf8");
  expect(page.split("\n").length).toBeLessThan(60);
  expect(page.match(/^!\[/gm)).toHaveLength(1);
  expect(page.match(/^```mjs$/gm)).toHaveLength(1);
});

it("README and docs/README.md lead to every page", () => {
  const targetsOf = (page: string) =>
    [...proseOf(page).matchAll(LINK)].map(([, target = ""]) =>
      resolve(dirname(page), target.split("#")[0] ?? ""),
    );
  const indexes = ["README.md", "docs/README.md"].map((name) => join(ROOT, name));
  const listed = new Set(indexes.flatMap(targetsOf));
  const pages = markdownIn("docs").filter(
    (page) => !page.includes("/docs/api/") || page.endsWith("README.md"),
  );
  expect(pages.filter((page) => !listed.has(page)).map((page) => relative(ROOT, page))).toEqual([]);
});

function leadsSomewhere(page: string, target: string): boolean {
  if (/^[a-z]+:/.test(target)) return URL.canParse(target) && target.startsWith("https://");
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? page : resolve(dirname(page), path);
  if (!existsSync(file)) return false;
  if (anchor === undefined) return true;
  return statSync(file).isFile() && anchorsOf(file).includes(anchor);
}

/** The anchors that GitHub gives a page's headings: lower case, without punctuation, hyphens for spaces. */
function anchorsOf(page: string): string[] {
  const seen = new Map<string, number>();
  const ids = [...readFileSync(page, "utf8").matchAll(/<a id="([^"]+)">/g)].map(([, id = ""]) => id);
  const headings = [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => {
    const anchor = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_\- ]/gu, "")
      .replaceAll(" ", "-");
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  });
  return [...headings, ...ids];
}

/** A page without its code blocks and code spans. */
function proseOf(page: string): string {
  return readFileSync(page, "utf8")
    .replace(/^```[\s\S]*?^```/gm, "")
    .replace(/(?<!\])(`+)[^`\n]*?\1/g, (code) => (code.includes("](") ? "" : code.replaceAll("`", "")));
}
