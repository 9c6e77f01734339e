// Every advice is run, has nothing to run, or is counted as open; and fewer are open with time.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { allAdvice } from "./advice.js";
import { advicePage } from "./advice-page.js";
import { runBy } from "./run-by.js";

/** Advice with code or a command that no test runs yet. This number only falls. */
const MAX_OPEN = 4;

it("docs/advice.md is fresh (npm run generate)", async () => {
  const page = new URL("../../../docs/advice.md", import.meta.url);
  expect(readFileSync(page, "utf8")).toBe(await advicePage());
});

it("no more advice has code that no test runs", async () => {
  const open = (await allAdvice()).filter((advice) => runBy(advice).state === "open");
  expect(open.length, open.map(({ id, fix }) => `${id}: ${fix}`).join("\n")).toBeLessThanOrEqual(MAX_OPEN);
});
