import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { itWith } from "../../test/kit/needs.js";
import { hasTool } from "../../test/kit/outside-tool.js";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { manPages } from "../man-pages.js";
import manifest from "../package.json" with { type: "json" };
import { COMMANDS } from "../src/command-line/registry.js";

const RELEASE = { version: "1.2.3", date: "2026-01-15" };
const mandoc = hasTool("mandoc", "-T", "ascii", "/dev/null");

/** The pages as files; a path of each by its name. */
async function written(): Promise<Map<string, string>> {
  const folder = temporaryFolder("man");
  const pages = await manPages(RELEASE);
  for (const [name, page] of pages) writeFileSync(join(folder, name), page);
  return new Map([...pages.keys()].map((name) => [name, join(folder, name)]));
}

describe("the manual pages", () => {
  it("are those that the package names", async () => {
    const pages = [...(await manPages(RELEASE)).keys()];
    expect(manifest.man).toEqual(pages.map((name) => `./man/${name}`));
    expect(manifest.files).toContain("man");
  });

  itWith("mandoc", mandoc)("have nothing that mandoc complains of", async () => {
    const { stdout } = spawnSync("mandoc", ["-T", "lint", ...(await written()).values()], {
      encoding: "utf8",
    });
    expect(stdout.split("\n").filter((line) => line && !/referenced manual not found/.test(line))).toEqual(
      [],
    );
  });

  itWith("mandoc", mandoc)("show every command, with flags and examples as they are typed", async () => {
    const pages = await written();
    for (const [name, { load }] of Object.entries(COMMANDS)) {
      const path = pages.get(`hookproof-${name.split(" ")[0]}.1`) ?? expect.fail(name);
      // Wide enough that nothing is broken; bold is written as a character over itself.
      const shown = execFileSync("mandoc", ["-T", "utf8", "-O", "width=300", path], {
        encoding: "utf8",
      }).replace(/.[\b]/gu, "");
      const { examples, flags } = await load();
      for (const [line] of examples) expect(shown, name).toContain(`    ${line}\n`);
      for (const [flag, { hidden, negated }] of Object.entries(flags))
        if (!hidden) expect(shown, name).toContain(`--${negated ? "no-" : ""}${flag}`);
    }
  });

  itWith("mandoc", mandoc)("are found by their names, and fit 80 columns", async () => {
    const path = (await written()).get("hookproof-send.1") ?? "";
    const shown = execFileSync("mandoc", ["-T", "utf8", "-O", "width=80", path], { encoding: "utf8" });
    const plain = shown.replace(/.[\b]/gu, "");
    expect(plain).toMatch(/^HOOKPROOF-SEND\(1\) +General Commands Manual|^HOOKPROOF-SEND\(1\) +Hookproof/);
    expect(plain).toContain("hookproof-send - sign one event, or a batch, and send it");
    expect(plain).toMatch(/SYNOPSIS\n +hookproof send \[target\] \[flag \.\.\.\]/);
    const prose = plain.split("\n").filter((line) => !/^ +hookproof |\|/.test(line));
    expect(prose.filter((line) => line.length > 80)).toEqual([]);
  });
});
