// The corpus: inputs that once broke a parser, one file each, and what is known of them by the file's name.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FOLDER = new URL("corpus/", import.meta.url);

/** The inputs that are kept for a parser. */
export function corpusOf(parser: string): { name: string; bytes: Buffer }[] {
  const folder = new URL(`${parser}/`, FOLDER);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .map((name) => ({ name, bytes: readFileSync(new URL(name, folder)) }));
}

/** The parsers that have a corpus. */
export function parsersWithCorpus(): string[] {
  return existsSync(FOLDER) ? readdirSync(FOLDER).sort() : [];
}

/** Keeps an input, and gives the file that it is in. */
export function keep(parser: string, input: Uint8Array): string {
  const folder = new URL(`${parser}/`, FOLDER);
  mkdirSync(folder, { recursive: true });
  const file = new URL(createHash("sha256").update(input).digest("hex").slice(0, 12), folder);
  writeFileSync(file, input);
  return fileURLToPath(file);
}
