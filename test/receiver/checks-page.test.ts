import { readFileSync } from "node:fs";
import { describeCode, errorCodes } from "hookproof/diagnose";
import { CHECKS } from "hookproof/receiver";
import { securityEventVerifier } from "hookproof/set";
import { describe, expect, it } from "vitest";
import { checksPage } from "./checks-page.js";

const read = (page: string) => readFileSync(new URL(`../../docs/${page}`, import.meta.url), "utf8");

describe("the table of checks", () => {
  it("is docs/checks.md (npm run generate)", () => {
    expect(read("checks.md")).toBe(checksPage());
  });

  it("has every code that a listener answers with", () => {
    const answered = errorCodes().filter((code) => describeCode(code)?.status !== undefined);
    const keys = { resolve: async () => ({ ok: false, code: "KEY_NOT_FOUND", detail: "" }) as const };
    const other = securityEventVerifier({
      issuer: "https://a.example/",
      audience: "https://b.example/",
      keys,
    });
    const listed = new Set<string>([...CHECKS, ...other.checks].flatMap(({ codes }) => codes));
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
