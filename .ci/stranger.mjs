// @ts-check
// An ordinary user of this machine with a checkout of their own: Node, npm, what every Debian has, and nothing else; a path
// with blanks and an umlaut, no .git, files that only they can read.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";

const NAME = "hookproof-ci";

/**
 * Makes the user, where this process may, and the checkout of HEAD. Elsewhere the stranger is who runs this.
 *
 * @param {string} work a folder for both
 */
export function stranger(work) {
  const home = join(work, "home");
  const checkout = join(home, "ein Häkchen", "hookproof");
  const bin = join(work, "bin");
  for (const folder of [checkout, bin]) mkdirSync(folder, { recursive: true });
  chmodSync(work, 0o755);
  linkPrograms(bin);

  const user = process.getuid?.() === 0 ? makeUser() : undefined;
  const as = user ? ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups"] : [];
  if (user) execFileSync("chown", ["-R", `${user}:${user}`, home]);
  /** Nothing of this process's environment. */
  const command = (/** @type {string} */ line, /** @type {Record<string, string>} */ env = {}) => [
    ...as,
    ...[
      "env",
      "-i",
      `HOME=${home}`,
      `PATH=${bin}`,
      ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
    ],
    ...["sh", "-c", `umask 077; cd "$0" && ${line}`, checkout],
  ];
  const [file = "", ...args] = command("tar -x");
  execFileSync(file, args, { input: execFileSync("git", ["archive", "HEAD"], { maxBuffer: 2 ** 30 }) });
  return {
    command,
    remove() {
      if (user) spawnSync("userdel", ["--force", NAME], { stdio: "ignore" });
    },
  };
}

/** The id of a user, who is made anew. */
function makeUser() {
  spawnSync("userdel", ["--force", NAME], { stdio: "ignore" }); // of a run that was killed
  execFileSync("useradd", ["--no-create-home", "--user-group", "--shell", "/bin/sh", NAME]);
  return execFileSync("id", ["-u", NAME], { encoding: "utf8" }).trim();
}

/** A folder of Node and the programs that a Debian cannot be without, so that no test leans on another one unseen. */
function linkPrograms(/** @type {string} */ folder) {
  const script = `dpkg-query -W -f='\${Essential} \${Package}\\n' | sed -n 's/^yes //p' | xargs dpkg -L | grep -E '^(/usr)?/s?bin/.'`;
  const essential = execFileSync("bash", ["-c", script], { encoding: "utf8" }).trim().split("\n");
  const others = ["node", "npm", "npx", "sh", "awk"].map((name) =>
    execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim(),
  );
  for (const program of [...others, ...essential]) {
    try {
      symlinkSync(program, join(folder, basename(program)));
    } catch {} // it has another path as well
  }
}
