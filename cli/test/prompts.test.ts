import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, it } from "vitest";
import { describeWith } from "../../test/kit/needs.js";
import { hasTool } from "../../test/kit/outside-tool.js";
import { ask, askHidden } from "../src/terminal/ask.js";

const BIN = resolve(import.meta.dirname, "../bin/hookproof.cjs");
const IN_TERMINAL = resolve(import.meta.dirname, "kit/in-terminal.py");
const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hookproof-prompts-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describeWith("python3", hasTool("/usr/bin/python3", "--version"))("questions in a real terminal", () => {
  it("init asks for target and method, and takes the default for an empty answer", () => {
    const { shown, exit } = inTerminal(
      ["init"],
      [
        ["Target", ":4499"],
        ["Method", ""],
      ],
    );
    expect(exit).toBe(0);
    expect(shown).toContain("hookproof.config.json  (profile default, hmac, :4499)");
    expect(JSON.parse(readFileSync(join(folder, "hookproof.config.json"), "utf8"))).toMatchObject({
      profiles: { default: { target: ":4499", method: "hmac" } },
    });
  });

  it("secret set takes the secret without showing it", () => {
    const { shown, exit } = inTerminal(["secret", "set"], [["not shown", SECRET]]);
    expect(exit).toBe(0);
    expect(shown).toContain("sha256:02d243df…");
    expect(shown).not.toContain(SECRET.slice(0, 8));
  });

  it("secret env does not show a secret in a terminal", () => {
    inTerminal(["secret", "set"], [["not shown", SECRET]]);
    const { shown, exit } = inTerminal(["secret", "env"], []);
    expect(exit).toBe(2);
    expect(shown).not.toContain(SECRET);
    expect(inTerminal(["secret", "env", "--reveal"], []).shown).toContain(`HOOKPROOF_SECRET='${SECRET}'`);
  });

  it("asks before it removes a secret, and does nothing without a yes", () => {
    inTerminal(["secret", "set"], [["not shown", SECRET]]);
    expect(inTerminal(["secret", "remove"], [["Remove", "n"]]).exit).toBe(130);
    expect(inTerminal(["secret", "show"], []).exit).toBe(0);
    expect(inTerminal(["secret", "remove"], [["Remove", "y"]]).exit).toBe(0);
    expect(inTerminal(["secret", "show"], []).exit).toBe(3);
  });

  it("ends with 130 on Ctrl-C at a question, and asks nothing with --no-input", () => {
    expect(inTerminal(["init"], [["Target", "\u0003"]]).exit).toBe(130);
    const { shown, exit } = inTerminal(["init", "--no-input"], []);
    expect(exit).toBe(2);
    expect(shown).toContain("Use --yes, with --target and --method.");
  });
});

it.each([
  [false, "later"],
  [true, "later"],
  [false, "before it is asked"],
  [true, "before it is asked"],
])("a question ends with a signal that no key has sent (hidden: %s, %s)", async (isHidden, when) => {
  const stop = new AbortController();
  const terminal = () => Object.assign(new PassThrough(), { isTTY: true });
  const io = {
    stdin: terminal(),
    stdout: terminal(),
    stderr: terminal(),
    env: {},
    stopSignal: stop.signal,
  };
  const asker = { io, global: { json: false, input: true } } as unknown as Parameters<typeof ask>[0];
  const asked = isHidden ? askHidden(asker, "Secret") : ask(asker, "Target", ":4400");
  if (when === "later") await expect.poll(() => io.stderr.readableLength).toBeGreaterThan(0);
  stop.abort();
  await expect(asked).rejects.toMatchObject({ code: "ABORTED", exit: 130 });
});

function inTerminal(
  argv: readonly string[],
  dialogue: readonly (readonly [question: string, answer: string])[],
): { shown: string; exit: number | null } {
  const { stdout, status } = spawnSync(
    "/usr/bin/python3",
    [IN_TERMINAL, JSON.stringify(dialogue), process.execPath, BIN, ...argv],
    {
      cwd: folder,
      encoding: "utf8",
      env: { PATH: process.env.PATH, HOME: folder, HOOKPROOF_HOME: join(folder, "data"), LANG: "C.UTF-8" },
      timeout: 600_000,
    },
  );
  return { shown: stdout, exit: status };
}
