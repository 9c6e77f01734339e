import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { simpleCommand, takesHost } from "./command-host.js";
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

describe("a command of bash in which a host can run hookproof", () => {
  it.each([
    "A=b hookproof send > file 2>&1",
    "umask 077; hookproof send || echo $? >&2 && hookproof events list",
    'a=$(hookproof secret show); echo "$a"',
    "hookproof sign --curl | hookproof verify -",
  ])("is %j", (command) => expect(takesHost(command)).toBe(true));

  it.each([
    "ls",
    "hookproof events list | head -1",
    "set -o pipefail; hookproof events list | tail -1",
    "hookproof events list | grep -q a",
    "hookproof listen & hookproof send",
    "hookproof listen > said &",
    "hookproof listen &\nhookproof send",
    "exec hookproof send",
    "NODE_EXTRA_CA_CERTS=missing.pem hookproof doctor",
    "hookproof send > /dev/full",
  ])("is not %j", (command) => expect(takesHost(command)).toBe(false));
});

/** What `hookproof` of bash was told to print by its host. */
const saidIn = (folder: string) =>
  readdirSync(join(folder, "bin")).filter((name) => name.endsWith(".out")).length;

it("bash shows of commands in a host what it shows of their processes", async () => {
  requireBuild();
  const stage = await openStage();
  const commands: [command: string, said: number][] = [
    ["HOOKPROOF_HOME= HOME= hookproof events list", 1],
    ["hookproof explain BODY_NOT_JSON > a.txt; hookproof no-such 2>> a.txt || echo $?; cat a.txt", 2],
    ["mkdir -p sub; cd sub; hookproof profile show | tail -2; cd ..; hookproof explain ''", 2],
    ['umask 027; hookproof keys generate --kid k --store "$PWD/$RANDOM" -q; stat -c %a [0-9]*/*', 1],
    // As in the completion of bash.
    ["f() { local IFS=$'\\n'; hookproof complete-words help service c; }; f", 1],
    [
      `A="é
 "x"" hookproof send :4400 --data "$(printf 'ü\n\n')" --secret-file 'miß ing'; echo`,
      1,
    ],
    // A process, as it has something to read.
    ["echo e30 | hookproof inspect -", 0],
  ];
  try {
    for (const [command, said] of commands) {
      const before = saidIn(stage.folder);
      const seen = await stage.runInOne(command);
      expect(saidIn(stage.folder) - before, command).toBe(said);
      await stage.run("rm -rf [0-9]* a.txt sub shown");
      expect({ command, seen }).toEqual({ command, seen: await stage.run(command) });
      await stage.run("rm -rf [0-9]* a.txt sub shown");
    }
  } finally {
    await stage.close();
  }
});

it("a stage shows of a command in its host what it shows of its process", async () => {
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
