import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { generatedPages } from "./pages.js";

const root = new URL("../../", import.meta.url);
/** Without what the formatter changes: the widths of tables. */
const plain = (text: string) => text.replace(/ {2,}/g, " ").replace(/-{3,}/g, "---");

it.each([...generatedPages(root)])("%s says what was measured", (path, text) => {
  expect(plain(readFileSync(new URL(path, root), "utf8"))).toBe(plain(text));
});
