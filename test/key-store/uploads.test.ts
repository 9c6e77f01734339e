// What an upload says when it fails, and what it leaves behind.
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { commandUpload, fileUpload } from "hookproof/node";
import { expect, it } from "vitest";
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

it.each(["", undefined, 5])("%j is no command", (program) => {
  expect(() => commandUpload(program as string)).toThrow(new TypeError("program must name a program"));
});

it("a file that cannot be put in its place leaves nothing beside it", async () => {
  const folder = temporaryFolder("upload");
  const path = join(folder, "jwks.json");
  mkdirSync(join(path, "full"), { recursive: true });
  await expect(fileUpload(path)("x", signal)).rejects.toThrow(/cannot be written \(E[A-Z]+\)/);
  expect(readdirSync(folder)).toEqual(["jwks.json"]);
});
