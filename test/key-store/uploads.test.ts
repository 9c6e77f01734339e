// What an upload says when it fails, and what it leaves behind.
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { commandUpload, fileUpload } from "hookproof/node";
import { expect, it } from "vitest";
import { describeWith, POSIX } from "../kit/needs.js";
import { runningProcesses } from "../kit/processes.js";
import { temporaryFolder } from "../kit/temporary-folder.js";

const { signal } = new AbortController();

it.each([
  [
    "the end of a long complaint",
    "console.error('a'.repeat(200) + 'b'.repeat(299)); process.exitCode = 1",
    `1: ${"b".repeat(299)}`,
  ],
  ["nothing of blanks", "console.error('  '); process.exitCode = 1", "1"],
  ["what killed it", "process.kill(process.pid, 'SIGKILL')", "SIGKILL"],
])("a command that fails says %s", async (_, script, end) => {
  const fails = commandUpload(process.execPath, ["-e", script])("x", signal);
  await expect(fails).rejects.toMatchObject({ message: `${process.execPath} ended with ${end}.` });
});

it("a command may leave its standard input unread", async () => {
  await commandUpload(process.execPath, ["-e", "process.stdin.destroy()"])("x".repeat(1_000_000), signal);
});

const isRunning = (pid: number) => runningProcesses().some((one) => one.pid === pid && one.command !== "");

describeWith(...POSIX)("what a command leaves in the background", () => {
  // The helper holds standard error open, and names itself in a file.
  const helper = 'sh -c \'echo $$ > "$1"; exec sleep 300\' - "$0" & while [ ! -s "$0" ]; do :; done;';
  const helperOf = (file: string) => Number(readFileSync(file, "utf8"));

  it.each([
    ["is not waited for, and ends with it", "exit 0", undefined],
    ["nor where it fails", "echo full >&2; exit 1", "sh ended with 1: full."],
  ])("%s", async (_, end, message) => {
    const file = join(temporaryFolder("upload"), "pid");
    const upload = commandUpload("sh", ["-c", `${helper} ${end}`, file])("x", signal);
    if (message === undefined) await upload;
    else await expect(upload).rejects.toMatchObject({ message });
    await expect.poll(() => isRunning(helperOf(file))).toBe(false);
  });

  it("ends with a signal, even if the command itself heeds none", async () => {
    const file = join(temporaryFolder("upload"), "pid");
    const stop = new AbortController();
    const upload = commandUpload("sh", ["-c", `trap "" TERM; ${helper} wait; sleep 300`, file])(
      "x",
      stop.signal,
    );
    const rejects = expect(upload).rejects.toMatchObject({
      code: "KEY_SET_UPLOAD_FAILED",
      message: "sh was stopped before it had finished.",
    });
    await expect.poll(() => existsSync(file) && helperOf(file)).toBeTruthy();
    stop.abort();
    await rejects;
    await expect.poll(() => isRunning(helperOf(file))).toBe(false);
  });

  it("is not begun after the signal", async () => {
    const file = join(temporaryFolder("upload"), "pid");
    const upload = commandUpload("sh", ["-c", `${helper} exit 0`, file])("x", AbortSignal.abort());
    await expect(upload).rejects.toThrow("was stopped before it had finished");
    expect(existsSync(file)).toBe(false);
  });
});

it.each(["", undefined, 5])("%j is no command", (program) => {
  expect(() => commandUpload(program as string)).toThrow(new TypeError("program must name a program"));
});

it("a file that cannot be put in its place leaves nothing next to it", async () => {
  const folder = temporaryFolder("upload");
  const path = join(folder, "jwks.json");
  mkdirSync(join(path, "full"), { recursive: true });
  await expect(fileUpload(path)("x", signal)).rejects.toThrow(/cannot be written \(E[A-Z]+\)/);
  expect(readdirSync(folder)).toEqual(["jwks.json"]);
});
