import { defineCollection } from "astro:content";
import { docsSchema } from "@astrojs/starlight/schema";
import { allPages, summaryOf, withSiteLinks } from "../pages.mjs";
import { settings } from "../settings.mjs";

/** What stands for the end of a line in `data-code`. */
const LINE_END = "\u007f";

/** Every page of docs/, with its links turned to the site's. */
async function load({ store, parseData, renderMarkdown }) {
  store.clear();
  const { base, files, edit } = settings();
  const pages = allPages();
  for (const page of pages.values()) {
    const { id, title, file } = page;
    const data = await parseData({
      id,
      data: { title, description: summaryOf(page), editUrl: edit ? `${edit}/${file}` : false },
    });
    const body = withSiteLinks(page, pages, { base, files });
    const { html, metadata } = await renderMarkdown(body);
    const shown = withCommandsToCopy(inScrollingBoxes(readAloud(withoutBareLinks(html))));
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
