// @ts-check
// Lets git run check:fast before each commit of this clone: npm run hooks [-- --remove]
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve } from "node:path";

const MARK = "put here by npm run hooks of Hookproof";
const HOOK = `#!/bin/sh
# Checks what is about to be committed; ${MARK}, removed by npm run hooks -- --remove.
# git commit --no-verify passes it by.
test -f test/tools/check-fast.mjs || exit 0 # a commit from before it
command -v node > /dev/null || { echo "pre-commit: there is no node on the PATH (git commit --no-verify)" >&2; exit 1; }
exec node test/tools/check-fast.mjs
`;

const given = process.argv.slice(2);
if (given.some((argument) => argument !== "--remove")) end(2, "npm run hooks [-- --remove]");

const folder = git("rev-parse", "--git-common-dir");
if (folder === undefined || git("rev-parse", "--show-prefix") !== "") {
  end(0, "This is no checkout of git, so there is no commit to check first.");
}
const hook = resolve(git("rev-parse", "--git-path", "hooks/pre-commit") ?? "");
// Elsewhere it would be a hook of other repositories too (core.hooksPath).
const inside = relative(resolve(folder), hook);
if (inside.startsWith("..") || isAbsolute(inside)) {
  end(
    1,
    `git looks for hooks in ${dirname(hook)} (core.hooksPath), which may serve others: call npm run check:fast there.`,
  );
}
const isOurs = existsSync(hook) && readFileSync(hook, "utf8").includes(MARK);
if (existsSync(hook) && !isOurs)
  end(1, `${hook} is somebody else's and stays: call npm run check:fast in it.`);
if (given.length > 0) {
  rmSync(hook, { force: true });
  end(0, isOurs ? `${hook} is removed.` : "There is none.");
}
mkdirSync(dirname(hook), { recursive: true });
writeFileSync(hook, HOOK);
chmodSync(hook, 0o755);
console.log(`${hook}: npm run check:fast before each commit, in every worktree of this clone.`);

/**
 * @param {string[]} args
 * @returns {string | undefined} what git says, if it does
 */
function git(...args) {
  const { status, stdout } = spawnSync("git", args, { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

/**
 * @param {number} code
 * @param {string} sentence
 * @returns {never}
 */
function end(code, sentence) {
  (code === 0 ? console.log : console.error)(sentence);
  process.exit(code);
}
