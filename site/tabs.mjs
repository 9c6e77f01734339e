// Puts what is said in several ways into panels, of which public/tabs.js shows one: package managers, languages.
// Without that script all panels stand below each other.

/** What stands for the end of a line in `data-code`. */
const LINE_END = "\u007f";

/** A block of code as the page has it. */
const BLOCK =
  /<div class="expressive-code">(?:(?!<div class="expressive-code">)[\s\S])*?<\/figure>\s*<\/div>/g;

/** Sections that are nothing but the same program in one language after another. */
const LANGUAGES = /^(?:Python|PHP|Go|Ruby|Java|C#|JavaScript|TypeScript|Shell|Rust)$/;

/** Commands of npm in the words of the other package managers. */
const MANAGERS = {
  npm: (line) => line,
  pnpm: (line) => line.replace(/^npm (?:install|i)\b/, "pnpm add"),
  yarn: (line) =>
    line.replace(/^npm (?:install|i) -g\b/, "yarn global add").replace(/^npm (?:install|i)\b/, "yarn add"),
};

/** The HTML of a page with its tabs. */
export function inTabs(html) {
  return languagesInTabs(html.replace(BLOCK, managersInTabs));
}

function managersInTabs(block) {
  const lines = (/data-code="([^"]*)"/.exec(block)?.[1] ?? "").split(LINE_END);
  if (!lines.every((line) => /^npm (?:install|i) (?!\.\/)/.test(line))) return block;
  const panels = Object.entries(MANAGERS).map(([name, inItsWords]) => {
    if (name === "npm") return panel(name, block);
    const said = lines.map(inItsWords);
    let at = 0;
    const other = block
      .replace(/(data-code=")[^"]*"/, (_, before) => `${before}${said.join(LINE_END)}"`)
      .replace(
        /(<div class="ec-line"><div class="code">).*?(<\/div><\/div>)/gs,
        (_, open, close) => `${open}<span class="said">${said[at++]}</span>${close}`,
      );
    // The search finds the page by the words of npm.
    return panel(name, `<div data-pagefind-ignore>${other}</div>`);
  });
  return tabs("Package manager", panels);
}

/** Runs of sections that are a heading with a language's name and one block of code. */
function languagesInTabs(html) {
  const parts = html.split(/(?=<div class="sl-heading-wrapper level-h2">|<h2[ >])/);
  const languageOf = (part) => {
    const [, title = ""] = /^(?:<div[^>]*>)?<h2[^>]*>([^<]*)<\/h2>/.exec(part) ?? [];
    return LANGUAGES.test(title) && part.match(BLOCK)?.length === 1 ? title : undefined;
  };
  let shown = "";
  for (let at = 0; at < parts.length; ) {
    let end = at;
    while (end < parts.length && languageOf(parts[end])) end++;
    // What follows the block of the last language is not a part of it.
    if (end - at < 2) {
      shown += parts[at++];
      continue;
    }
    const run = parts.slice(at, end);
    const panels = run.map((part) => panel(languageOf(part), untilBlockEnds(part)));
    shown += tabs("Language", panels) + run.at(-1).slice(untilBlockEnds(run.at(-1)).length);
    at = end;
  }
  return shown;
}

function untilBlockEnds(part) {
  const [block] = part.match(BLOCK);
  return part.slice(0, part.indexOf(block) + block.length);
}

function panel(name, html) {
  return `<div data-tab="${name}">${html}</div>`;
}

function tabs(label, panels) {
  return `<div class="tabs" data-tabs="${label}">${panels.join("")}</div>`;
}
