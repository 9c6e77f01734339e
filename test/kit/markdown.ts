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
