import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { Ajv } from "ajv";
import { parseFixture } from "hookproof-service";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { shellWords } from "../../cli/src/capture/read-curl.js";
import { parseCommand } from "../../cli/src/command-line/parse.js";
import { COMMANDS } from "../../cli/src/command-line/registry.js";
import { complaintsOfModules, optionsOf, programOf } from "../kit/compile.js";
import { fencedBlocks, markdownIn, ROOT } from "../kit/markdown.js";
import { itWith } from "../kit/needs.js";
import { hasTool } from "../kit/outside-tool.js";

/**
 * Their blocks are programs that run: test/doctor/diagnose/frameworks/listeners.test.ts, cli/test/snippets.test.ts,
 * test/examples/orm.test.ts.
 */
const OF_PROGRAMS = ["docs/guides/frameworks.md", "docs/snippets.md", "docs/guides/orm.md"];

const blocks = markdownIn(".")
  .map((page) => [relative(ROOT, page), page] as const)
  .filter(([name]) => !name.startsWith("docs/api/") && !OF_PROGRAMS.includes(name))
  .flatMap(([name, page]) => fencedBlocks(page).map((block) => ({ page: name, ...block })));

const inLanguage = (language: string) => blocks.filter((block) => block.language === language);

describe("every code block of a page is compiled, run or read", () => {
  it("in a language that something reads", () => {
    // ts: test/types/doc-examples.test.ts; mjs: test/packaging/first-pages.test.ts; cjs: test/packaging/commonjs.test.ts; console: transcripts.test.ts; sql: test/outbox/postgres-*.test.ts; java: test/examples/local-service.test.ts; php, go: first-webhook.test.ts; the others are below. A diagram has no language.
    const read = [
      "",
      "ts",
      "mjs",
      "cjs",
      "console",
      "sql",
      "sh",
      "json",
      "yaml",
      "js",
      "python",
      "java",
      "php",
      "go",
    ];
    expect(blocks.filter(({ language }) => !read.includes(language))).toEqual([]);
  });

  it("a program that takes a connection of a pool hears of its loss, itself or by a store, or it would end the process", () => {
    const pages = markdownIn(".").flatMap((page) => fencedBlocks(page).map(({ text }) => ({ page, text })));
    const examples = readdirSync(join(ROOT, "examples")).filter((name) => name.endsWith(".mjs"));
    const programs = [
      ...pages,
      ...examples.map((page) => ({ page, text: readFileSync(join(ROOT, "examples", page), "utf8") })),
    ].filter(({ text }) => /\bpool\.connect\(\)|drizzle\(/.test(text));
    expect(programs.length).toBeGreaterThan(5);
    expect(
      programs
        .filter(
          ({ text }) =>
            !/pool\.on\("connect"|(?:postgresStore|postgresReplayStore)\(|from "\.\/(?:sqlite-)?outbox\.mjs"/.test(
              text,
            ),
        )
        .map(({ page }) => page),
    ).toEqual([]);
  });

  it("sh: every call of hookproof is one that it understands", async () => {
    const refused: string[] = [];
    let calls = 0;
    for (const { page, text } of inLanguage("sh")) {
      for (const call of callsIn(text)) {
        calls += 1;
        const problem = await problemOf(call);
        if (problem) refused.push(`${page}: ${call}: ${problem}`);
      }
    }
    expect(calls).toBeGreaterThan(100);
    expect(refused).toEqual([]);
  });

  itWith("openssl", hasTool("openssl", "version"))(
    "sh: the signature made by hand in vectors/README.md is the one that stands below it",
    () => {
      const [block] = inLanguage("sh").filter(({ page }) => page === "vectors/README.md");
      const printed = execFileSync("bash", ["-c", block?.text ?? ""], { encoding: "utf8" });
      const page = readFileSync(join(ROOT, "vectors/README.md"), "utf8");
      expect(page).toContain(`prints \`${printed.trim()}\``);
    },
  );

  it("json: the configuration fits its schema, and the rest is JSON", () => {
    const fits = new Ajv().compile(JSON.parse(readFileSync(join(ROOT, "cli/hookproof.schema.json"), "utf8")));
    const shown = inLanguage("json").map(({ page, text }) => ({ page, value: JSON.parse(text) as unknown }));
    const configurations = shown.filter(({ page }) => page === "docs/configuration.md");
    expect(configurations).not.toEqual([]);
    for (const { value } of configurations) expect(fits(value), JSON.stringify(fits.errors)).toBe(true);
  });

  it("yaml: fixtures are fixtures, and the workflow gives the action what it takes", async () => {
    const { inputs } = parse(readFileSync(join(ROOT, "action.yml"), "utf8")) as { inputs: object };
    const ofCi = inLanguage("yaml").filter(({ page }) => page === "docs/guides/ci.md");
    const fixtures = inLanguage("yaml").filter((block) => !ofCi.includes(block));
    expect([ofCi, fixtures]).not.toContainEqual([]);
    for (const { text } of ofCi) {
      const { steps } = (parse(text) as { jobs: { probe: { steps: { id?: string; with?: object }[] } } }).jobs
        .probe;
      const given = Object.keys(steps.find(({ id }) => id === "probe")?.with ?? {});
      expect(given).toContain("url");
      expect(Object.keys(inputs)).toEqual(expect.arrayContaining(given));
    }
    for (const { text } of fixtures) expect(await parseFixture(text)).toHaveProperty("users");
  });

  it("js: what is shown compiles, with the names it takes for granted", () => {
    const given = `import { createHmac } from "node:crypto";\nconst secret = "", input = "", payload = {};\n`;
    expect(inLanguage("js")).not.toEqual([]);
    const shown = inLanguage("js").map(({ text }, index) => [
      `test/docs/shown-${index}.ts`,
      `${given}{\n${text}\n}\nvoid [createHmac, secret, input, payload];\n`,
    ]);
    const options = { ...optionsOf("tsconfig.node.json"), noUnusedLocals: false };
    expect(complaintsOfModules(programOf(Object.fromEntries(shown), options))).toEqual([]);
  });

  itWith("python3", hasTool("python3", "--version"))("python: what is shown can be parsed", () => {
    expect(inLanguage("python")).not.toEqual([]);
    for (const { text } of inLanguage("python"))
      execFileSync("python3", ["-c", "import ast, sys; ast.parse(sys.stdin.read())"], { input: text });
  });
});

/** The command lines of hookproof in a script: of each line what follows the name, up to the next command. */
function callsIn(script: string): string[] {
  return script
    .replaceAll("\\\n", " ")
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .flatMap((line) => [...line.matchAll(/(?:^|[|;&(]) *hookproof ((?:'[^']*'|"[^"]*"|[^|;&()<>'"])+)/g)])
    .map(([, call = ""]) => call.trim());
}

/** What the command line would say of a call; `undefined` if it would run. */
async function problemOf(call: string): Promise<string | undefined> {
  const words = shellWords(call);
  const name = [words.slice(0, 2).join(" "), words[0] ?? ""].find((one) => Object.hasOwn(COMMANDS, one));
  const command = await COMMANDS[name ?? ""]?.load();
  if (!name || !command) return "no such command";
  try {
    parseCommand(command, words.slice(name.split(" ").length));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
