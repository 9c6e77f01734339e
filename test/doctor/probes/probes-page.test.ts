import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { probesPage } from "./probes-page.js";

it("docs/probes.md is fresh (npm run generate)", () => {
  expect(readFileSync(new URL("../../../docs/probes.md", import.meta.url), "utf8")).toBe(probesPage());
});
