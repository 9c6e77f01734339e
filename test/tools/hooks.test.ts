// Proves in scratch repositories that the hook is installed, is run by git, and takes no other's place.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { root } from "../kit/built-package.js";
import { itWith } from "../kit/needs.js";
import { hasTools } from "../kit/outside-tool.js";
import { temporaryFolder } from "../kit/temporary-folder.js";

const itWithGit = itWith("git", hasTools("git"));

function run(cwd: string, command: string, ...args: string[]): { code: number | null; said: string } {
  const { PATH = "" } = process.env;
  const who = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@example.com" };
  const committer = { GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@example.com" };
  const env = {
    PATH,
    HOME: cwd,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CEILING_DIRECTORIES: join(cwd, ".."),
    ...who,
    ...committer,
  };
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: "utf8" });
  return { code: status, said: stdout + stderr };
}

const hooks = (cwd: string, ...args: string[]) =>
  run(cwd, process.execPath, join(root, "test/tools/hooks.mjs"), ...args);

/** A repository whose check:fast only says that it ran, and ends with a code. */
function repository(code: number): string {
  const folder = temporaryFolder("hooks");
  expect(run(folder, "git", "init", "--quiet").code).toBe(0);
  mkdirSync(join(folder, "test/tools"), { recursive: true });
  writeFileSync(join(folder, "test/tools/check-fast.mjs"), `console.log("checked"); process.exit(${code});`);
  run(folder, "git", "add", "--all");
  return folder;
}

const commit = (folder: string) => run(folder, "git", "commit", "--message", "one");

itWithGit("git runs the check before a commit, in another worktree too, until it is removed", () => {
  const folder = repository(0);
  expect(hooks(folder).code).toBe(0);
  expect(hooks(folder).code).toBe(0); // its own may be replaced
  expect(commit(folder)).toMatchObject({ code: 0, said: expect.stringContaining("checked") });

  const other = join(folder, "other");
  expect(run(folder, "git", "worktree", "add", "--quiet", other).code).toBe(0);
  expect(hooks(other).said).toContain(join(folder, ".git/hooks/pre-commit"));
  const empty = run(other, "git", "commit", "--allow-empty", "--message", "two");
  expect(empty).toMatchObject({ code: 0, said: expect.stringContaining("checked") });

  expect(hooks(folder, "--remove").said).toContain("is removed");
  expect(run(folder, "git", "commit", "--allow-empty", "--message", "three").said).not.toContain("checked");
});

itWithGit("a check that fails keeps the commit back", () => {
  const folder = repository(1);
  hooks(folder);
  expect(commit(folder)).toMatchObject({ code: 1, said: "checked\n" });
  expect(run(folder, "git", "log").code).not.toBe(0);
});

itWithGit("another's hook stays, and so does a folder of hooks for several repositories", () => {
  const folder = repository(0);
  const hook = join(folder, ".git/hooks/pre-commit");
  mkdirSync(join(folder, ".git/hooks"), { recursive: true });
  writeFileSync(hook, "#!/bin/sh\n");
  for (const args of [[], ["--remove"]]) {
    expect(hooks(folder, ...args)).toMatchObject({
      code: 1,
      said: expect.stringContaining("somebody else's and stays"),
    });
  }
  expect(readFileSync(hook, "utf8")).toBe("#!/bin/sh\n");

  const shared = temporaryFolder("hooks");
  run(folder, "git", "config", "core.hooksPath", shared);
  expect(hooks(folder)).toMatchObject({
    code: 1,
    said: expect.stringContaining(`${shared} (core.hooksPath)`),
  });
});

itWithGit("a checkout without .git, and one inside another repository, are told so", () => {
  expect(hooks(temporaryFolder("hooks"))).toMatchObject({
    code: 0,
    said: expect.stringContaining("no checkout of git"),
  });
  const inner = join(repository(0), "inner");
  mkdirSync(inner);
  const { PATH = "" } = process.env;
  const tool = join(root, "test/tools/hooks.mjs");
  const { stdout } = spawnSync(process.execPath, [tool], { cwd: inner, env: { PATH }, encoding: "utf8" });
  expect(stdout).toContain("no checkout of git");
});
