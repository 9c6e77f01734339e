import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { shellWords } from "../../cli/src/capture/read-curl.js";
import { GLOBAL_FLAGS } from "../../cli/src/command.js";
import { parseCommand } from "../../cli/src/command-line/parse.js";
import { COMMANDS } from "../../cli/src/command-line/registry.js";
import { mcp } from "../../cli/src/commands/mcp.js";
import { findExplanation } from "../../cli/src/explain/find-explanation.js";
import { TOOLS } from "../../cli/src/mcp/serve-tools.js";
import { fencedBlocks, ROOT } from "../kit/markdown.js";

/**
 * The pages that an assistant reads say what is there. blocks.test.ts parses their `sh` blocks and doc-examples.test.ts
 * compiles their `ts` blocks, as those of every page.
 */
const PAGES = ["docs/skill.md", "docs/guides/assistants.md", "llms.txt"];
const text = (page: string) => readFileSync(join(ROOT, page), "utf8");
const codesIn = (page: string) =>
  [
    ...text(page)
      .replace(/^```[\s\S]*?^```$/gm, "")
      .matchAll(/`([^`\n]+)`/g),
  ].map(([, code = ""]) => code);

it.each(PAGES)("%s names commands and flags that exist", async (page) => {
  const commands = await Promise.all(Object.values(COMMANDS).map(({ load }) => load()));
  const flags = new Set([...commands.map(({ flags }) => flags), GLOBAL_FLAGS].flatMap(Object.keys));
  const wrong: string[] = [];
  for (const code of codesIn(page)) {
    for (const [, flag = ""] of code.matchAll(/(?:^|\s)--([a-z-]+)/g)) if (!flags.has(flag)) wrong.push(code);
    if (!code.startsWith("hookproof ")) continue;
    const words = shellWords(code).slice(1);
    const name = [words.slice(0, 2).join(" "), words[0] ?? ""].find((one) => Object.hasOwn(COMMANDS, one));
    const command = await COMMANDS[name ?? ""]?.load();
    if (!name || !command) wrong.push(code);
    else if (words.length > name.split(" ").length)
      parseCommand(command, words.slice(name.split(" ").length));
  }
  expect(wrong).toEqual([]);
});

it("the skill page asks for JSON everywhere, and names mistakes and imports that exist", async () => {
  const page = join(ROOT, "docs/skill.md");
  const calls = fencedBlocks(page)
    .filter(({ language }) => language === "sh")
    .flatMap((block) => block.text.split("\n"))
    .filter((line) => line.startsWith("hookproof "));
  expect(calls.length).toBeGreaterThan(8);
  expect(calls.filter((line) => !line.replace(/#.*/, "").includes(" --json"))).toEqual([]);
  const mistakes = [...text("docs/skill.md").matchAll(/^\| `([a-z0-9-]+)`/gm)].map(([, id = ""]) => id);
  expect(mistakes.length).toBeGreaterThan(3);
  for (const id of mistakes) expect((await findExplanation(id))?.kind, id).toBe("mistake");
  const [program] = fencedBlocks(page).filter(({ language }) => language === "ts");
  const imports = [...(program?.text ?? "").matchAll(/^import \{ (.+) \} from "(.+)";$/gm)];
  expect(imports.length).toBeGreaterThan(5);
  for (const [, names = "", from = ""] of imports) {
    const exported = Object.keys((await import(from)) as object);
    expect(exported, from).toEqual(expect.arrayContaining(names.split(", ")));
  }
});

it("the guide has every tool with what it needs, and every flag", () => {
  const rows = text("docs/guides/assistants.md").matchAll(
    /^\| `([a-z]+_[a-z_]+)` +\| (?:`--allow ([a-z]+)`)? *\|/gm,
  );
  const needs = Object.fromEntries([...rows].map(([, name = "", need]) => [name, need]));
  expect(needs).toEqual(Object.fromEntries(TOOLS.map((tool) => [tool.name, tool.needs])));
  for (const flag of ["allow", "to", "outbox"]) {
    expect(Object.keys(mcp.flags)).toContain(flag);
    expect(text("docs/guides/assistants.md")).toMatch(new RegExp(`^\\| \`--${flag} `, "m"));
  }
  const [block] = fencedBlocks(join(ROOT, "docs/guides/assistants.md")).filter(
    ({ language }) => language === "json",
  );
  const { mcpServers } = JSON.parse(block?.text ?? "") as { mcpServers: { hookproof: { args: string[] } } };
  const { args } = mcpServers.hookproof;
  const [name, ...words] = args.slice(args.indexOf("hookproof") + 1);
  expect(name).toBe("mcp");
  expect(parseCommand(mcp, words).kind).toBe("run");
});
