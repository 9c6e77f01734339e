import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { configSchema } from "../src/config/schema.js";
import { findExplanation } from "../src/explanations/find-explanation.js";
import { COMMANDS } from "../src/registry.js";
import { errorPage } from "./support/error-page.js";
import { referencePage } from "./support/reference.js";

const ROOT = new URL("../../", import.meta.url);

describe("what is made from the tables", () => {
  it("docs/cli.md is fresh (npm run generate)", async () => {
    expect(readFileSync(new URL("docs/cli.md", ROOT), "utf8")).toBe(await referencePage());
  });

  it("docs/errors.md is fresh (npm run generate)", () => {
    expect(readFileSync(new URL("docs/errors.md", ROOT), "utf8")).toBe(errorPage());
  });

  it("hookproof.schema.json is fresh", () => {
    expect(JSON.parse(readFileSync(new URL("cli/hookproof.schema.json", ROOT), "utf8"))).toEqual(
      configSchema(),
    );
  });

  it("every command has two examples that call it, and is called what the registry calls it", async () => {
    for (const [name, { load }] of Object.entries(COMMANDS)) {
      const command = await load();
      expect(command.name).toBe(name);
      expect(command.examples.length, name).toBeGreaterThanOrEqual(2);
      for (const [line] of command.examples) expect(line).toContain(`hookproof ${name}`);
    }
  });

  it("every code that the command line can print is explained", () => {
    const codes = sourcesIn(new URL("cli/src/", ROOT)).flatMap((text) =>
      [...text.matchAll(/CliError\(\s*[^,;]*?,\s*"([A-Z_]+)"/g)].map(([, code]) => code ?? ""),
    );
    expect(new Set(codes).size).toBeGreaterThan(15);
    expect(codes.filter((code) => !findExplanation(code))).toEqual([]);
  });
});

function sourcesIn(folder: URL): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => readFileSync(new URL(file, folder), "utf8"));
}
