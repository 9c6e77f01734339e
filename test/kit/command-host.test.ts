import { describe, expect, it } from "vitest";
import { simpleCommand } from "./command-host.js";
import { openStage, requireBuild } from "./transcript.js";

describe("a command line that needs no shell", () => {
  it.each([
    ["hookproof", [], ""],
    ["hookproof send :4400 --data '{\"a\": 1}'", ["send", ":4400", "--data", '{"a": 1}'], ""],
    ['hookproof sign --data "it\'s" -H a:\'b c\'"d"', ["sign", "--data", "it's", "-H", "a:b cd"], ""],
    ["hookproof complete-words ''", ["complete-words", ""], ""],
    ["hookproof send \\\n  --quiet", ["send", "--quiet"], ""],
    ["hookproof keys list | tail -1", ["keys", "list"], " tail -1"],
  ])("is %j", (command, words, filter) => {
    expect(simpleCommand(command)).toEqual({ words, filter });
  });

  it.each([
    "curl :4400",
    "A=b hookproof send",
    "hookproof send > file",
    "hookproof send 2>&1 | tail -1",
    "hookproof send; echo $?",
    "hookproof listen &",
    "hookproof send --data $n",
    'hookproof send --data "$n"',
    'hookproof send --data "a\\"b"',
    'hookproof send --data "$(cat file)"',
    "hookproof verify ~/a.http",
    "hookproof verify *.http",
    "hookproof verify {a,b}.http",
    "hookproof send 'a\n\nhookproof send",
    "hookproof send\nhookproof send",
    // They may notice who reads them, and how long.
    "hookproof events list | head -1",
    "hookproof events list | tail -9 | head -1",
    "hookproof events list | grep -q a",
    "hookproof events export last | hookproof verify -",
  ])("is not %j", (command) => {
    expect(simpleCommand(command)).toBeUndefined();
  });
});

it("a stage shows of a command in its host what it shows of its process", { timeout: 60_000 }, async () => {
  requireBuild();
  const stage = await openStage();
  try {
    for (const command of [
      "hookproof explain BODY_NOT_JSON",
      "hookproof explain BODY_NOT_JSON | tail -1",
      "hookproof inspect -",
      "hookproof send :4400 --data 1 --secret-file missing.txt",
      "hookproof send --no-such-flag | grep nothing",
    ])
      expect({ command, seen: await stage.runInOne(command) }).toEqual({
        command,
        seen: await stage.run(command),
      });
  } finally {
    await stage.close();
  }
});
