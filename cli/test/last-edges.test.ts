import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { Readable, Writable } from "node:stream";
import { afterAll, expect, it } from "vitest";
import { describeWith } from "../../test/kit/needs.js";
import { hasTool } from "../../test/kit/outside-tool.js";
import { COMMANDS } from "../src/command-line/registry.js";
import { run } from "../src/main.js";

const folder = mkdtempSync(join(tmpdir(), "hookproof-edges-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Begins a command in this process. */
function begin(argv: readonly string[]) {
  let text = "";
  const sink = () =>
    new Writable({
      write(chunk, _encoding, done) {
        text += String(chunk);
        done();
      },
    });
  const stop = new AbortController();
  const exit = run(argv, {
    stdin: Readable.from([]),
    stdout: sink(),
    stderr: sink(),
    env: { HOOKPROOF_HOME: folder, NO_COLOR: "1" },
    stopSignal: stop.signal,
  });
  return { exit, stop: () => stop.abort(), text: () => text };
}

async function outcome(...argv: string[]): Promise<[number, string]> {
  const { exit, text } = begin(argv);
  return [await exit, text()];
}

it.each([
  ["503", 5],
  ["409", 0],
])("listen --respond %s: the id of an event that was refused stays free", async (status, code) => {
  const secret = join(folder, `secret-${status}`);
  writeFileSync(secret, "a-secret-of-more-than-thirty-two-characters", { mode: 0o600 });
  const argv = ["listen", "--port", "0", "--respond", status, "--secret-file", secret, "--no-ui"];
  const listening = begin(argv);
  const url = await expect
    .poll(() => /http:\S+incoming\/lst_local/.exec(listening.text())?.[0])
    .toBeTruthy()
    .then(() => /http:\S+incoming\/lst_local/.exec(listening.text())?.[0] ?? "");
  const id = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
  const send = () =>
    outcome("send", url, "--secret-file", secret, "--event-id", id, "--data", "{}", "--retries", "0");
  const seen = [(await send())[0], (await send())[0]];
  listening.stop();
  await listening.exit;
  expect(seen, listening.text()).toEqual([code, code]);
  expect(listening.text()).toContain(`2 x ${status}`);
});

it("outbox create leaves a file of something else as it is, however short", async () => {
  for (const content of ["x", "SQLite", "a text that is longer than the header of SQLite\n".repeat(100)]) {
    const file = join(folder, "notes.txt");
    writeFileSync(file, content);
    const [code, text] = await outcome("outbox", "create", "--outbox", file);
    expect([code, text]).toEqual([3, expect.stringContaining("cannot be opened: file is not a database")]);
    expect(readFileSync(file, "utf8")).toBe(content);
  }
  const empty = join(folder, "empty.db");
  writeFileSync(empty, "");
  expect((await outcome("outbox", "create", "--outbox", empty))[0]).toBe(0);
  expect((await outcome("outbox", "create", "--outbox", empty))[0]).toBe(0);
});

/** Every example that has no place for a word of one's own. */
async function examples(): Promise<string[]> {
  const commands = await Promise.all(Object.values(COMMANDS).map(({ load }) => load()));
  const lines = commands.flatMap((command) => (command.examples ?? []).map(([line]) => line));
  return lines.filter((line) => !/[<>]/.test(line));
}

for (const [shell, ...flags] of [
  ["zsh", "-f", "-c"],
  ["bash", "-c"],
  ["fish", "--no-config", "-c"],
] as const)
  describeWith(shell, hasTool(shell, "--version"))(`in ${shell}`, () => {
    it("the examples are read as they are printed", async () => {
      for (const name of ["hookproof", "jq", "curl", "npx"])
        writeFileSync(join(folder, name), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
      const env = { ...process.env, HOME: folder, PATH: `${folder}${delimiter}${process.env.PATH}` };
      const lines = await examples();
      expect(lines.length).toBeGreaterThan(80);
      for (const line of lines) {
        const { stderr } = spawnSync(shell, [...flags, line], { cwd: folder, env, encoding: "utf8" });
        expect(stderr.replace(/^.*(?:command not found|Unknown command).*$/gm, ""), line).not.toMatch(
          /no matches|parse|syntax|wildcard|expected/i,
        );
      }
    });
  });

it("what an example writes is read by the next one as what it is", async () => {
  const lines = await examples();
  const written = lines.flatMap((line) => /--out (\S+)/.exec(line)?.[1] ?? []);
  const bodies = lines.flatMap((line) => /@(\S+\.json)/.exec(line)?.[1] ?? []);
  expect(written.filter((file) => bodies.includes(file))).toEqual([]);
});
