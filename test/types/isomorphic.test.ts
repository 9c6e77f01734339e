import { describe, expect, it } from "vitest";
import { complaintsOfModules, optionsOf, programOf } from "../kit/compile.js";

const options = optionsOf("tsconfig.json");

function judge(text: string): string[] {
  return complaintsOfModules(programOf({ "src/core/stray.ts": text }, options));
}

describe("isomorphic code", () => {
  it("compiles with what every runtime has", () => {
    const fair = `import { sha256Base64url } from "#hash";
      import { utf8 } from "./bytes.js";
      export const digest = () => sha256Base64url(utf8(new URL("https://example.com").href));`;
    expect(judge(fair)).toEqual([]);
  });

  it.each([
    ["process", "export const home = process.env.HOME;"],
    ["process by globalThis", "export const home = globalThis.process.env;"],
    ["Buffer", 'export const bytes = Buffer.from("a");'],
    ["setImmediate", "setImmediate(() => {});"],
    ["require", 'export const fs = require("fs");'],
    ["node:fs", 'import { readFileSync } from "node:fs";\nexport const text = readFileSync("a");'],
    ["node:fs for its side effects", 'import "node:fs";'],
    ["node:crypto by import()", 'export const crypto = await import("node:crypto");'],
  ])("does not compile with %s", (_, text) => {
    expect(judge(text)).not.toEqual([]);
  });
});
