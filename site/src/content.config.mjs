import { defineCollection } from "astro:content";
import { docsSchema } from "@astrojs/starlight/schema";
import { allPages, EVIDENCE, groupsOfPages, summaryOf, withSiteLinks } from "../pages.mjs";
import { settings } from "../settings.mjs";
import { inTabs } from "../tabs.mjs";

/** What stands for the end of a line in `data-code`. */
const LINE_END = "\u007f";

/** Every page of docs/, with its links turned to the site's. */
async function load({ store, parseData, renderMarkdown }) {
  store.clear();
  const { base, files, edit } = settings();
  const pages = allPages();
  const evidence = groupsOfPages().find(({ label }) => label === EVIDENCE)?.pages ?? [];
  const unsearched = new Set(evidence.map((page) => page.file));
  for (const page of pages.values()) {
    const { id, title, file } = page;
    const data = await parseData({
      id,
      data: {
        title,
        description: summaryOf(page),
        editUrl: edit ? `${edit}/${file}` : false,
        pagefind: !unsearched.has(file),
      },
    });
    const body = withSiteLinks(page, pages, { base, files });
    const { html, metadata } = await renderMarkdown(body);
    const boxed = inScrollingBoxes(readAloud(withoutBareLinks(html)));
    const shown = inTabs(inTerminalColours(withCommandsToCopy(boxed)));
    store.set({ id, data, body, rendered: { html: inSearch(id, shown), metadata } });
  }
}

/** Who searches wants a guide first. */
function inSearch(id, html) {
  return id.startsWith("guides/") ? `<div data-pagefind-weight="2">${html}</div>` : html;
}

/** Addresses that stand in the text are examples, such as http://127.0.0.1:4420; Markdown would make links of them. */
function withoutBareLinks(html) {
  return html.replace(/<a href="http[^"]*">((?:https?:|www)[^<]*)<\/a>/gi, "$1");
}

/** What a screen reader would stumble over: headers without a word, boxes to tick without a label. */
function readAloud(html) {
  return html
    .replace(/<th([^>]*)><\/th>/g, "<td$1></td>")
    .replaceAll('<input type="checkbox"', '<input type="checkbox" aria-hidden="true"');
}

/** Tables and code in boxes of their own, so that what is wide scrolls and not the page (public/scroll.js). */
function inScrollingBoxes(html) {
  return html
    .replace(/<(?:table|pre)[ >]/g, '<div class="scroll">$&')
    .replace(/<\/(?:table|pre)>/g, "$&</div>");
}

/**
 * What a command prints, in a terminal's colours: what went well, what did not, and what to type next. The command itself
 * keeps those of the shell.
 */
function inTerminalColours(html) {
  return html.replace(/<pre data-language="console">[\s\S]*?<\/pre>/g, (block) => {
    let isCommand = false;
    return block.replace(
      /(<div class="ec-line"><div class="code">)(.*?)(<\/div><\/div>)/gs,
      (line, open, marked, close) => {
        const text = marked.replace(/<[^>]+>/g, "");
        isCommand = text.startsWith("$ ") || isCommand;
        if (isCommand) {
          isCommand = text.trimEnd().endsWith("\\");
          return line;
        }
        const kind = /^\s*(?:\d\d:\d\d:\d\d\s+)?(✔|✖|error\[|next:)/.exec(text)?.[1];
        const name = { "✔": "well", "✖": "badly", "error[": "badly", "next:": "next" }[kind] ?? "said";
        return `${open}<span class="${name}">${text}</span>${close}`;
      },
    );
  });
}

/** The copy button of a transcript gives its commands, without the prompts and what they print. */
function withCommandsToCopy(html) {
  const transcript = /(data-language="console"(?:(?!<pre)[\s\S])*?data-code=")([^"]*)"/g;
  return html.replace(transcript, (_, before, code) => {
    const lines = code.split(LINE_END);
    const commands = lines.filter(
      (line, index) => line.startsWith("$ ") || (lines[index - 1]?.endsWith("\\") && index > 0),
    );
    return `${before}${commands.map((line) => line.replace(/^[$>] /, "")).join(LINE_END)}"`;
  });
}

export const collections = {
  docs: defineCollection({ loader: { name: "docs", load }, schema: docsSchema() }),
};
