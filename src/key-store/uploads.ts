import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, open, rename, rm, writeFile } from "node:fs/promises";
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

/**
 * Writes the document to a file of a static host. Readers see the old file or the new one, and never a part: it is
 * written beside the old one and renamed. Folders that are missing are made.
 *
 * @example
 * ```ts
 * import { fileUpload } from "hookproof/node";
 *
 * const upload = fileUpload("/srv/www/.well-known/jwks.json");
 * ```
 */
export function fileUpload(path: string): KeySetUpload {
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

/**
 * Runs a program that uploads the document. It is given on standard input, and as a file whose path stands for
 * `{file}` in the arguments. No shell reads the line. An exit code other than 0 is a failure.
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
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { shell: false, stdio: ["pipe", "ignore", "pipe"], signal });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-SHOWN_ERROR);
    });
    child.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        failed(
          signal.aborted
            ? `${program} was stopped before it had finished`
            : `${program} cannot be run (${error.code ?? error.name})`,
          error,
        ),
      ),
    );
    child.once("close", (code, killedBy) => {
      if (code === 0) return resolve();
      const reason = said.trim() === "" ? "" : `: ${said.trim()}`;
      reject(failed(`${program} ended with ${code ?? killedBy}${reason}`));
    });
    // A program that reads no standard input closes it.
    child.stdin.on("error", () => {});
    child.stdin.end(document);
  });
}

function failed(reason: string, cause?: unknown): HookproofError {
  return new HookproofError("KEY_SET_UPLOAD_FAILED", `${reason}.`, { cause });
}
