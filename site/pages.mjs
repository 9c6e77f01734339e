// The pages of the site, read from docs/ and its index; nothing is kept twice.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix, resolve } from "node:path";

export const ROOT = resolve(import.meta.dirname, "..");

/** What a link of Markdown looks like, and an image. */
const LINK = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^()\s]+(?:\([^()\s]*\)[^()\s]*)?)\)/g;
const CODE_OR_LINK = new RegExp(`^\`\`\`[^]*?^\`\`\`$|(?<!\`)\`[^\`\\n]+\`|${LINK.source}`, "gm");

/**
 * Groups of pages in the order of docs/README.md: each heading with the pages that its lines link to. An entry's page
 * stands below the list of all entries, in the order of use.
 */
export function groupsOfPages() {
  const seen = new Set();
  const [, ...sections] = read("docs/README.md").split(/^## /m);
  return sections.map((section) => {
    const files = linkedPages("docs/README.md", section).flatMap((file) =>
      file === "docs/api/README.md" ? [file, ...linkedPages(file, read(file))] : [file],
    );
    const pages = files.filter((file) => !seen.has(file) && seen.add(file)).map(pageOf);
    return { label: section.slice(0, section.indexOf("\n")), pages };
  });
}

/** The heading of docs/README.md whose pages are in neither menu nor search: one page lists them. */
export const EVIDENCE = "Evidence";

/** The groups that the menu has. */
export function groupsOfMenu() {
  return groupsOfPages().filter(({ label }) => label !== EVIDENCE);
}

/** Every page by its file, and the parts of a long one by their anchor too; those that the index leaves out, such as the changelog, stand last. */
export function allPages() {
  const listed = groupsOfPages().flatMap(({ pages }) => pages);
  const others = [
    ...readdirSync(ROOT),
    ...readdirSync(join(ROOT, "docs/api")).map((name) => `docs/api/${name}`),
  ]
    .filter((file) => file.endsWith(".md") && file !== "README.md")
    .map(pageOf);
  return new Map(
    [...listed, ...others].flatMap((page) => inParts(page).map((one) => [one.key, one])).reverse(),
  );
}

/** Pages that are long because they list everything: each command, language and code gets a page of its own. */
const LONG = new Map([
  ["docs/cli.md", 2],
  ["docs/snippets.md", 2],
  ["docs/errors.md", 3],
]);

/** The page, and where it is a long one the pages of its parts, to which it then leads. */
function inParts(page) {
  const level = LONG.get(page.file);
  if (level === undefined) return [{ ...page, key: page.file }];
  const mark = `${"#".repeat(level)} `;
  const fences = /^```[\s\S]*?^```$/gm;
  const inCode = [...page.text.matchAll(fences)].map(({ index, 0: { length } }) => [index, index + length]);
  const starts = [...page.text.matchAll(/^#{1,3} .*$/gm)].filter(
    ({ index }) => !inCode.some(([from, to]) => index > from && index < to),
  );
  const parts = [];
  let overview = page.text.slice(0, starts[0]?.index);
  // A list of the parts that leads to headings of this page would lead nowhere.
  overview = overview.replace(/^- \[[^\]]*\]\(#.*\)\n/gm, "");
  // What says more than a part's name leads to it already.
  const said = overview;
  for (const [place, start] of starts.entries()) {
    const rest = page.text.slice(start.index, starts[place + 1]?.index);
    if (start[0].startsWith(mark)) {
      const heading = start[0].slice(mark.length);
      const title = plain(heading);
      const key = `${page.file}#${anchorOf(title)}`;
      const text = `\n[${page.title}](${posix.basename(page.file)})\n${rest.slice(start[0].length)}`;
      parts.push({ ...page, key, title, text, id: `${page.id}/${anchorOf(title)}` });
      if (!said.includes(`](#${anchorOf(title)})`)) overview += `- [${heading}](#${anchorOf(title)})\n`;
    } else if (start[0].lastIndexOf("#", level) >= level) {
      // A smaller heading of the part, which is a page now.
      parts.at(-1).text += rest.replace(/^#+/, (marks) => marks.slice(level - 1));
    } else overview += `\n${rest.trimEnd()}\n\n`;
  }
  return [{ ...page, key: page.file, text: overview }, ...parts];
}

/** The anchor that a heading has, as code hosts and the site make it. */
function anchorOf(title) {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}

function linkedPages(from, text) {
  return [...text.matchAll(LINK)]
    .map(([, , , target]) => posix.join(posix.dirname(from), target.replace(/#.*/, "")))
    .filter((file) => file.endsWith(".md") && existsSync(join(ROOT, file)));
}

/** A page: its file, its address below the site's root, its title and its text without it. */
function pageOf(file) {
  const id = file
    .replace(/^docs\//, "")
    .replace(/(?:\/README)?\.md$/, "")
    .toLowerCase();
  const [, title, text] = /^# (.+)\n([\s\S]*)$/.exec(read(file));
  return { file, id, title: plain(title), text };
}

/** The first paragraph, for search machines and previews. */
export function summaryOf({ text, title }) {
  const paragraph = text.split(/\n\n+/).find((one) => /^\s*[\p{L}`[*]/u.test(one)) ?? title;
  const words = plain(paragraph).replaceAll("\n", " ").trim();
  return words.length <= 160 ? words : `${words.slice(0, words.lastIndexOf(" ", 158))} …`;
}

function plain(markdown) {
  return markdown.replace(LINK, "$2").replace(/[`*]/g, "");
}

/**
 * A page's text with its links as the site needs them: to the pages, to the pictures, and into the repository where
 * that is known (`files`, such as https://github.com/<owner>/<name>/blob/v1.2.3). Where it is not, the words stay.
 */
export function withSiteLinks({ file, text }, pages, { base, files }) {
  return text.replace(CODE_OR_LINK, replaced);

  function replaced(link, image, words, target) {
    if (target === undefined || /^[a-z]+:/.test(target)) return link;
    const [path, anchor] = target.split("#");
    const part = pages.get(`${path === "" ? file : posix.join(posix.dirname(file), path)}#${anchor}`);
    if (part) return `[${words}](${base}${part.id}/)`;
    if (path === "") return link;
    const place = posix.join(posix.dirname(file), path);
    if (image) return `![${words}](${base}${place.replace(/^docs\//, "")})`;
    const page = /^(?:docs\/)?README\.md$/.test(place) ? { id: "" } : pages.get(place);
    if (page) return `[${words}](${base}${page.id && `${page.id}/`}${anchor ? `#${anchor}` : ""})`;
    return files ? `[${words}](${files}/${place}${anchor ? `#${anchor}` : ""})` : words;
  }
}

function read(file) {
  return readFileSync(join(ROOT, file), "utf8");
}
