import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { generated } from "../generate.mjs";

it("the files made of openapi.yaml are fresh: npm run generate", async () => {
  const files = Object.entries(await generated());
  expect(files).not.toEqual([]);
  for (const [path, text] of files) {
    expect(readFileSync(new URL(`../${path}`, import.meta.url), "utf8"), path).toBe(text);
  }
});
