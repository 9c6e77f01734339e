import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect } from "vitest";
import { itWith } from "../../test/kit/needs.js";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";

/** U+FFFD in a text of the command line or the environment: the user's own, or what Node has put for other bytes. */

const BIN = resolve(import.meta.dirname, "../bin/hookproof.cjs");
const LISTENER = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";
const SECRET = "a-secret-of-more-than-thirty-two-characters";
const LINUX: [what: string, isThere: boolean] = [
  "Linux, which shows the bytes",
  process.platform === "linux",
];

/** Runs a line of sh with the words `$HP`, `$SEND` and printf's bytes; gives the exit code and what it said. */
function outcome(line: string): [number | null, string] {
  const folder = temporaryFolder("typed-characters");
  writeFileSync(join(folder, "secret"), SECRET, { mode: 0o600 });
  const send = `"${process.execPath}" "${BIN}" send ${LISTENER} --dry-run -vv`;
  const { status, stdout, stderr } = spawnSync("sh", ["-c", line.replace("SEND", send)], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOOKPROOF_HOME: join(folder, "home"), NO_COLOR: "1" },
    encoding: "utf8",
  });
  return [status, stdout + stderr];
}

const CHARACTER = "$(printf '\\357\\277\\275')";
const LATIN_1 = "$(printf '\\351')";
const KEYED = "--secret-file secret";

describe("U+FFFD", () => {
  itWith(...LINUX).each([
    ["in --data", `SEND ${KEYED} --data "{\\"a\\":\\"x${CHARACTER}\\"}"`],
    ["in --data=", `SEND ${KEYED} --data="{\\"a\\":\\"x${CHARACTER}\\"}"`],
    ["in -d", `SEND ${KEYED} -d "{\\"a\\":\\"x${CHARACTER}\\"}"`],
    ["in --set", `SEND ${KEYED} --data '{}' --set "a=x${CHARACTER}"`],
    ["in HOOKPROOF_SECRET", `HOOKPROOF_SECRET="${SECRET}${CHARACTER}" SEND --data '{"a":"x"}'`],
  ])("that was typed is sent: %s", (_where, line) => {
    const [exit, said] = outcome(line);
    expect([exit, said]).toEqual([0, expect.stringContaining("POST ")]);
    if (!line.includes("_SECRET")) expect(said).toContain('{"a":"x\uFFFD"}');
  });

  itWith(...LINUX).each([
    ["in --data", `SEND ${KEYED} --data "{\\"a\\":\\"x${LATIN_1}\\"}"`, "--data"],
    ["in --data=", `SEND ${KEYED} --data="{\\"a\\":\\"x${LATIN_1}\\"}"`, "--data"],
    ["next to a typed one", `SEND ${KEYED} --data "{\\"a\\":\\"${CHARACTER}${LATIN_1}\\"}"`, "--data"],
    ["in --set", `SEND ${KEYED} --data '{}' --set "a=x${LATIN_1}"`, "--set"],
    ["in HOOKPROOF_SECRET", `HOOKPROOF_SECRET="${SECRET}${LATIN_1}" SEND --data '{}'`, "HOOKPROOF_SECRET"],
  ])("that stands for other bytes is refused: %s", (_where, line, name) => {
    const [exit, said] = outcome(line);
    expect([exit, said]).toEqual([
      3,
      expect.stringContaining(`error[TEXT_ENCODING]  ${name} has bytes that are not UTF-8.`),
    ]);
  });
});
