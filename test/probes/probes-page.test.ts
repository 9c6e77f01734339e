import { resolve } from "node:path";
import { expect, it } from "vitest";
import { probesPage } from "./probes-page.js";

it("docs/probes.md is what the battery says", async () => {
  await expect(probesPage()).toMatchFileSnapshot(resolve(import.meta.dirname, "../../docs/probes.md"));
});
