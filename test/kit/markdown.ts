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

/** The lines of a Markdown table with aligned columns; the first row is its head. */
export function markdownTable(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const lineOf = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const [head = "", ...lines] = rows.map((row) =>
    lineOf(row.map((cell, column) => cell.padEnd(widths[column] ?? 0))),
  );
  return [head, lineOf(widths.map((width) => "-".repeat(width))), ...lines];
}
