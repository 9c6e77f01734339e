import { readFileSync } from "node:fs";
import { describeCode, errorCodes } from "hookproof/diagnose";
import { CHECKS } from "hookproof/receiver";
import { describe, expect, it } from "vitest";
import { checksPage } from "./checks-page.js";

const read = (page: string) => readFileSync(new URL(`../../docs/${page}`, import.meta.url), "utf8");

describe("the table of checks", () => {
  it("is docs/checks.md (npm run generate)", () => {
    expect(read("checks.md")).toBe(checksPage());
  });

  it("has every code that a listener answers with", () => {
    const answered = errorCodes().filter((code) => describeCode(code)?.status !== undefined);
    const listed = new Set<string>(CHECKS.flatMap(({ codes }) => codes));
    expect([...listed].sort()).toEqual(answered.sort());
  });

  it("names sections and decisions that exist", () => {
    const specification = read("specification.md");
    const decisions = read("decisions.md");
    for (const section of CHECKS.flatMap(({ sections }) => sections)) {
      const found = /^[0-9]/.test(section)
        ? new RegExp(`^#+ ${section.replace(".", "\\.")}[ .]`, "m").test(specification)
        : decisions.includes(`**${section}. `);
      expect(found, section).toBe(true);
    }
  });
});
