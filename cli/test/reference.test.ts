import { readdirSync, readFileSync } from "node:fs";
import { errorCodes, mistakes } from "hookproof/diagnose";
import { selectProbes } from "hookproof/probes";
import { describe, expect, it } from "vitest";
import { COMMANDS, SECTIONS } from "../src/command-line/registry.js";
import { configSchema } from "../src/config/settings.js";
import { explainableNames, findExplanation, findExplanations } from "../src/explain/find-explanation.js";
import { probesOf, schemeMistakes } from "../src/schemes/chosen-scheme.js";
import { SCHEME_NAMES } from "../src/schemes/schemes.js";
import { errorPage } from "./kit/error-page.js";
import { referencePage } from "./kit/reference.js";
import { SIGNERS } from "./kit/signers.js";
import { snippetPage } from "./kit/snippet-page.js";

const ROOT = new URL("../../", import.meta.url);

describe("what is made from the tables", () => {
  it("docs/cli.md is fresh (npm run generate)", async () => {
    expect(readFileSync(new URL("docs/cli.md", ROOT), "utf8")).toBe(await referencePage());
  });

  it("docs/cli.md lists each command once, in the groups of --help", () => {
    const [list = ""] = readFileSync(new URL("docs/cli.md", ROOT), "utf8").split("\n## ");
    const linked = [...list.matchAll(/^- \[([a-z ]+)\]\(#[a-z-]+\): ./gm)].map(([, name]) => name);
    expect(linked.toSorted()).toEqual(Object.keys(COMMANDS).toSorted());
    expect([...list.matchAll(/^\*\*(.+)\*\*$/gm)].map(([, heading]) => heading)).toEqual(
      SECTIONS.map(([heading]) => heading),
    );
  });

  it("docs/errors.md is fresh (npm run generate)", async () => {
    expect(readFileSync(new URL("docs/errors.md", ROOT), "utf8")).toBe(await errorPage());
  });

  it("docs/snippets.md is fresh, and so are the programs that sign (npm run generate)", () => {
    expect(readFileSync(new URL("docs/snippets.md", ROOT), "utf8")).toBe(snippetPage());
    for (const [example, snippet] of SIGNERS)
      expect(readFileSync(new URL(`cli/snippets/${snippet}`, ROOT), "utf8")).toBe(
        readFileSync(new URL(`examples/signature/${example}`, ROOT), "utf8"),
      );
  });

  it("hookproof.schema.json is fresh", () => {
    expect(JSON.parse(readFileSync(new URL("cli/hookproof.schema.json", ROOT), "utf8"))).toEqual(
      configSchema(),
    );
  });

  it("every command has two examples that call it, and is called what the registry calls it", async () => {
    for (const [name, { load, summary }] of Object.entries(COMMANDS)) {
      const command = await load();
      expect(summary, name).toMatch(/^[a-z].{1,78}[^.]$/);
      expect(command.name).toBe(name);
      expect(command.examples.length, name).toBeGreaterThanOrEqual(2);
      for (const [line] of command.examples) expect(line).toContain(`hookproof ${name}`);
    }
  });

  it("every mistake, error code and exit code is explained under its own name", async () => {
    const names = [...(await mistakes()).map(({ id }) => id), ...errorCodes()];
    for (const name of names) expect((await findExplanation(name))?.name).toBe(name);
    expect((await findExplanation("body-not-json"))?.kind).toBe("mistake");
    expect(await findExplanation("BODY_NOT_JSON")).toMatchObject({ kind: "code", status: 400 });
    expect(await findExplanation("exit-7")).toMatchObject({ kind: "exit", name: "7" });
  });

  it("every mistake and probe of every scheme is explained, under its scheme", async () => {
    for (const scheme of SCHEME_NAMES) {
      const ids = [...(await schemeMistakes(scheme)), ...(await probesOf(scheme))].map(({ id }) => id);
      expect(ids.length, scheme).toBeGreaterThan(20);
      for (const id of ids) {
        const [found] = await findExplanations(id, scheme);
        expect(found, `${scheme}: ${id}`).toMatchObject({ name: id, scheme });
        expect(
          found?.explanation.every((text) => text.length > 10),
          id,
        ).toBe(true);
      }
    }
    for (const { id } of selectProbes({})) expect((await findExplanations(id)).at(-1)?.name).toBe(id);
    expect((await findExplanations("SIGNATURE_MISMATCH", "set"))[0]?.kind).toBe("code");
    expect(new Set(await explainableNames())).toContain("digest-in-hex");
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
