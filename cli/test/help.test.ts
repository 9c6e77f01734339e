import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { commandHelp, groupHelp, overview } from "../src/command-line/help.js";
import { COMMANDS, GROUPS, SECTIONS } from "../src/command-line/registry.js";
import type { Terminal } from "../src/io.js";
import { run } from "../src/main.js";

const paint = (_colour: string, text: string) => text;

describe("help", () => {
  it.each([40, 80, 120])("fits %i columns, for every command", async (width) => {
    const commands = await Promise.all(Object.values(COMMANDS).map(({ load }) => load()));
    const look = { width, paint };
    const texts = [
      overview(look),
      ...Object.keys(GROUPS).map((group) => groupHelp(group, look)),
      ...commands.map((command) => commandHelp(command, look)),
    ];
    // What has no space in it, such as a URL, cannot be broken.
    const tooWide = texts
      .flatMap((text) => text.split("\n"))
      .filter(
        (line) =>
          line.length > width && /\S {1,2}\S/.test(line.replace(/ \\$/, "").replace(/"[^"]*"|'[^']*'/g, "x")),
      );
    expect(tooWide).toEqual([]);
  });

  it("has every command in the overview, under one heading", () => {
    const words = SECTIONS.flatMap(([, listed]) => listed);
    const all = new Set(Object.keys(COMMANDS).map((name) => name.split(" ")[0] ?? name));
    expect([...words].sort()).toEqual([...all].sort());
  });

  it.each([
    [
      ["help", "send"],
      ["send", "--help"],
    ],
    [
      ["--help", "send"],
      ["send", "-h"],
    ],
    [
      ["help", "keys", "rotate"],
      ["keys", "rotate", "--help"],
    ],
    [["keys"], ["keys", "--help"]],
    [["keys"], ["help", "keys"]],
    [[], ["help"]],
  ])("hookproof %j is hookproof %j", async (one, other) => {
    const [seen, same] = [await outputOf(one), await outputOf(other)];
    expect(seen).toEqual(same);
    expect(seen.code).toBe(0);
    expect(seen.stdout).toContain("hookproof");
  });

  it("is JSON with --json, and so is the version", async () => {
    for (const [words, members] of [
      [["help", "--json"], ["commands"]],
      [["keys", "--json"], ["commands"]],
      [
        ["--json", "help", "jwks", "check"],
        ["usage", "flags", "examples", "exits"],
      ],
      [
        ["send", "--help", "--json"],
        ["usage", "flags", "examples", "exits"],
      ],
      [["--version", "--json"], ["version"]],
    ] as const) {
      const { stdout, code } = await outputOf(words);
      expect(code).toBe(0);
      expect(stdout.trim().split("\n")).toHaveLength(1);
      expect(Object.keys(JSON.parse(stdout))).toEqual(
        expect.arrayContaining(["v", "type", "ok", ...members]),
      );
    }
  });

  it("has bold headings where colour is on, and takes the terminal's width", async () => {
    const coloured = await outputOf(["keys", "--color"]);
    expect(coloured.stdout).toContain("\u001b[1mCommands:\u001b[22m");
    expect((await outputOf(["keys"], { CLICOLOR_FORCE: "1" })).stdout).toBe(coloured.stdout);
    expect((await outputOf(["keys", "--no-color"], { FORCE_COLOR: "1" })).stdout).not.toContain("\u001b");
    const narrow = await outputOf(["help"], {}, 40);
    expect(Math.max(...narrow.stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(40);
  });
});

describe("the words of a command line", () => {
  it.each([
    [["diagnose"], "Did you mean hookproof verify?"],
    [["probe"], "Did you mean hookproof test?"],
    [["check"], "Did you mean hookproof verify?"],
    [["version"], "Did you mean hookproof --version?"],
    [["logs"], "Did you mean hookproof events list?"],
    [["config"], "Did you mean hookproof profile explain?"],
    [["help", "flags"], "Did you mean hookproof --help?"],
    [["events", "search"], "hookproof events list <text> searches them."],
    [["sned"], "Did you mean send?"],
    [["help", "sned"], "Did you mean send?"],
    [["keys", "lst"], "Did you mean keys list?"],
    [["constructor"], "hookproof --help"],
  ])("%j is refused with %s", async (words, hint) => {
    const { code, stderr } = await outputOf(words);
    expect(code).toBe(2);
    expect(stderr).toContain(hint);
  });

  it("flags of every command may come before it", async () => {
    const words = ["explain", "TIMED_OUT"];
    const after = await outputOf([...words, "--json", "--timeout", "5s"]);
    expect(JSON.parse(after.stdout)).toMatchObject({ type: "explanation", name: "TIMED_OUT" });
    expect(await outputOf(["--json", "--timeout", "5s", ...words])).toEqual(after);
    expect(await outputOf(["--timeout=5s", "-q", "--json", ...words])).toEqual(after);
    const unknown = await outputOf(["--jsn", ...words]);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("Unknown flag --jsn")]);
  });
});

async function outputOf(argv: readonly string[], env: Record<string, string> = {}, columns?: number) {
  const [stdout, stderr] = [stream(columns), stream(columns)];
  const io = { stdin: new PassThrough(), stdout: stdout.terminal, stderr: stderr.terminal, env };
  const code = await run(argv, { ...io, stopSignal: new AbortController().signal });
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

function stream(columns: number | undefined): { terminal: Terminal; text(): string } {
  const terminal: Terminal = new PassThrough();
  if (columns !== undefined) terminal.columns = columns;
  return { terminal, text: () => String((terminal as PassThrough).read() ?? "") };
}
