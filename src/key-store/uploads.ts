// Ways to bring a key set to its host.
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { lstat, mkdir, mkdtemp, open, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { HookproofError } from "../core/errors.js";

/**
 * Brings the document of a key set to its host, and rejects if that failed. The signal aborts after a minute, and when
 * the caller stops.
 */
export type KeySetUpload = (document: string, signal: AbortSignal) => Promise<void>;

/** What an argument of a command is replaced with: the path of a file that holds the document. */
const FILE_PLACE = "{file}";
/** How much of what a command says on standard error is passed on. */
const SHOWN_ERROR = 300;
/** How long a command that is told to end may take to clean up, and one that has ended to say its last words, in ms. */
const GRACE_MS = 1_000;

/**
 * Writes the document to a file of a static host. Readers see the old file or the new one, and never a part: it is
 * written next to the old one and renamed. Folders that are missing are made.
 *
 * @example
 * ```ts
 * import { fileUpload } from "hookproof/node";
 *
 * const upload = fileUpload("/srv/www/.well-known/jwks.json");
 * ```
 */
export function fileUpload(path: string): KeySetUpload {
  if (typeof path !== "string" || path === "") throw new TypeError("path must be the name of a file");
  return async (document) => {
    const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
    try {
      await mkdir(dirname(path), { recursive: true });
      const handle = await open(temporary, "wx", 0o644);
      try {
        await handle.chmod(0o644); // a public file, whatever the umask of who publishes it
        await handle.writeFile(document);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await requireReplaceable(path);
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {}); // the reason of the failure is what counts
      throw failed(
        `${path} cannot be written (${(error as NodeJS.ErrnoException).code ?? "unknown"})`,
        error,
      );
    }
  };
}

/** Refuses what a new file must not stand in for, such as a device; a folder is refused by the system. */
async function requireReplaceable(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found && !found.isFile() && !found.isSymbolicLink() && !found.isDirectory())
    throw Object.assign(new Error(`${path} is no file`), { code: "it is no file" });
}

/**
 * Runs a program that uploads the document. It is given on standard input, and as a file whose path stands for
 * `{file}` in the arguments. No shell reads the line. An exit code other than 0 is a failure. What the program has
 * started and left behind in its process group ends with it; a signal ends the whole group (on Windows the program).
 *
 * @throws {TypeError} without a program
 *
 * @example
 * ```ts
 * import { commandUpload } from "hookproof/node";
 *
 * const upload = commandUpload("rsync", ["{file}", "web-1:/srv/www/.well-known/jwks.json"]);
 * ```
 */
export function commandUpload(program: string, args: readonly string[] = []): KeySetUpload {
  if (typeof program !== "string" || program === "") throw new TypeError("program must name a program");
  return async (document, signal) => {
    const folder = await mkdtemp(join(tmpdir(), "hookproof-jwks-"));
    try {
      const file = join(folder, "jwks.json");
      await writeFile(file, document, { mode: 0o644 });
      const words = args.map((word) => word.replaceAll(FILE_PLACE, file));
      await run(program, words, document, signal);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
}

function run(
  program: string,
  words: readonly string[],
  document: string,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return Promise.reject(stopped(program, signal));
  return new Promise((resolve, reject) => {
    // A group of its own, so that what the program starts can be ended with it.
    const detached = process.platform !== "win32";
    const child = spawn(program, words, { shell: false, stdio: ["pipe", "ignore", "pipe"], detached });
    let said = "";
    let grace: NodeJS.Timeout | undefined;
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-SHOWN_ERROR);
    });
    const stop = () => {
      kill(child, "SIGTERM");
      grace = setTimeout(() => {
        kill(child, "SIGKILL");
        end(() => reject(stopped(program, signal)));
      }, GRACE_MS);
    };
    const end = (settle: () => void) => {
      clearTimeout(grace);
      signal.removeEventListener("abort", stop);
      child.stderr.destroy(); // whoever else holds its other end is not waited for
      settle();
    };
    signal.addEventListener("abort", stop, { once: true });
    child.once("error", (error: NodeJS.ErrnoException) =>
      end(() => reject(failed(`${program} cannot be run (${error.code ?? error.name})`, error))),
    );
    child.once("exit", (code, killedBy) => {
      kill(child, "SIGKILL");
      if (signal.aborted) return end(() => reject(stopped(program, signal)));
      if (code === 0) return end(resolve);
      const fail = () => {
        const reason = said.trim() === "" ? "" : `: ${said.trim()}`;
        end(() => reject(failed(`${program} ended with ${code ?? killedBy}${reason}`)));
      };
      child.once("close", fail);
      grace = setTimeout(fail, GRACE_MS);
    });
    // A program that reads no standard input closes it.
    child.stdin.on("error", () => {});
    child.stdin.end(document);
  });
}

/** Signals all of the group that the program leads, which may have ended itself. */
function kill({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch {
    // Nothing of it is left.
  }
}

function stopped(program: string, signal: AbortSignal): HookproofError {
  return failed(`${program} was stopped before it had finished`, signal.reason);
}

function failed(reason: string, cause?: unknown): HookproofError {
  return new HookproofError("KEY_SET_UPLOAD_FAILED", `${reason}.`, { cause });
}
