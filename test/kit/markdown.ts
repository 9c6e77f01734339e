import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The repository's folder. */
export const ROOT = resolve(import.meta.dirname, "../..");

/** Every Markdown page under a folder of the repository, what was installed left out. */
export function markdownIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : markdownIn(path);
    return entry.name.endsWith(".md") ? [join(ROOT, path)] : [];
  });
}

/** A fenced block of a page: what stands behind its fence, and its text. */
export interface FencedBlock {
  readonly language: string;
  readonly text: string;
}

/** The fenced blocks of a Markdown page, in their order. */
export function fencedBlocks(page: string): FencedBlock[] {
  const blocks = readFileSync(page, "utf8").matchAll(/^```(\S*)\n([\s\S]*?)^```$/gm);
  return [...blocks].map(([, language = "", text = ""]) => ({ language, text }));
}

/** The lines of a Markdown table; the first row is its head. */
export function markdownTable([head = [], ...rows]: readonly (readonly string[])[]): string[] {
  const lineOf = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [head, head.map(() => "---"), ...rows].map(lineOf);
}

/** The lines of a page that are outside of its fenced blocks. */
export function proseLines(page: string): string[] {
  return readFileSync(page, "utf8")
    .replace(/^```[\s\S]*?^```$/gm, "")
    .split("\n");
}
