import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { MUTANTS } from "./mutants.mjs";
import { generatedPages } from "./pages.js";
import { REPLAY_MUTANTS } from "./replay-mutants.mjs";
import { SCHEME_MUTANTS } from "./scheme-mutants.mjs";

const root = new URL("../../", import.meta.url);
/** Without what the formatter changes: the widths of tables. */
const plain = (text: string) => text.replace(/ {2,}/g, " ").replace(/-{3,}/g, "---");

it.each([...generatedPages(root)])("%s says what was measured", (path, text) => {
  expect(plain(readFileSync(new URL(path, root), "utf8"))).toBe(plain(text));
});

it("every mutant is a change of the code of today", () => {
  const gone = [...MUTANTS, ...REPLAY_MUTANTS, ...SCHEME_MUTANTS].filter(
    ({ file, text }) => !readFileSync(new URL(file, root), "utf8").includes(text),
  );
  expect(gone.map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
});

it("every mutant of the page was looked for under the name that it has", () => {
  for (const [path, text] of generatedPages(root)) expect(text, path).not.toContain("not looked for yet");
});
