// The user's folders, and files that only their owner can read.
import { isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import {
  chmodSync,
  createReadStream,
  fstatSync,
  lstatSync,
  mkdirSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { chmod, link, open, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { CliError, EXIT } from "../failure.js";
import { textOf, withoutMark } from "../input/text.js";
import type { Io } from "../io.js";
import { wordOf } from "../shell-word.js";
import { isOnReadOnlyMount } from "./mounts.js";

/** The user's data folder: history, sessions of local listeners, secrets and keys. */
export function dataFolder(io: Io): string {
  const { env } = io;
  if (env.HOOKPROOF_HOME) return env.HOOKPROOF_HOME;
  if (env.XDG_DATA_HOME) return join(env.XDG_DATA_HOME, "hookproof");
  if (process.platform === "win32" && env.LOCALAPPDATA) return join(env.LOCALAPPDATA, "hookproof");
  return join(homeFolder(io), ".local", "share", "hookproof");
}

/** The folder of the user's own configuration; next to the data where HOOKPROOF_HOME names one place for all. */
export function configFolder(io: Io): string {
  const { env } = io;
  if (env.HOOKPROOF_HOME) return env.HOOKPROOF_HOME;
  if (env.XDG_CONFIG_HOME) return join(env.XDG_CONFIG_HOME, "hookproof");
  if (process.platform === "win32" && env.APPDATA) return join(env.APPDATA, "hookproof");
  return join(homeFolder(io), ".config", "hookproof");
}

function homeFolder({ env }: Io): string {
  const home = env.HOME ?? systemHome();
  if (home && isAbsolute(home)) return home;
  throw new CliError(EXIT.setup, "HOME_MISSING", "There is no home folder for configuration and data.", {
    hint: "Set HOME, or HOOKPROOF_HOME to a folder of its own.",
  });
}

function systemHome(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}

/** Creates a folder that only its owner can enter. */
export function privateFolder(path: string): string {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    chmodSync(path, 0o700);
    return path;
  } catch (error) {
    throw folderUnwritable(path, error);
  }
}

/** Writes a file that only its owner can read: first next to the old file, then renamed to it. */
export async function writePrivateFile(path: string, content: string): Promise<void> {
  await placePrivateFile(path, content, rename);
}

/** Writes such a file only where there is none yet, at one stroke; whether it did. */
export async function createPrivateFile(path: string, content: string): Promise<boolean> {
  let isThere = false;
  await placePrivateFile(path, content, async (from, to) => {
    try {
      await link(from, to);
    } catch (error) {
      isThere = (error as NodeJS.ErrnoException).code === "EEXIST";
      if (!isThere) await rename(from, to); // a file system without links
    }
    await rm(from, { force: true });
  });
  return !isThere;
}

async function placePrivateFile(
  path: string,
  content: string,
  place: (from: string, to: string) => Promise<void>,
): Promise<void> {
  privateFolder(dirname(path));
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    // Never into what is there already: it could be somebody else's file, or a link to one.
    const handle = await open(temporary, "wx", 0o600);
    try {
      await handle.writeFile(content);
    } finally {
      await handle.close();
    }
    await chmod(temporary, 0o600);
    await place(temporary, path);
  } catch (error) {
    throw folderUnwritable(path, error);
  }
}

function folderUnwritable(path: string, error: unknown): CliError {
  return new CliError(EXIT.setup, "FOLDER_UNWRITABLE", `${path} cannot be written: ${reasonOf(error)}.`, {
    hint: "Set HOOKPROOF_HOME to a folder that you may write to.",
  });
}

/** Refuses a file with a secret that other users can read or replace; `otherwise` is another way to give it. */
export function requirePrivate(path: string, otherwise = ""): void {
  const stats = requireOwned(path);
  const isWide = stats.isFile() && (stats.mode & 0o077) !== 0;
  if (isWide && !isMountedSecret(path, stats)) requireMode(path, stats, otherwise);
}

/** Refuses a file whose mode lets others in. */
export function requireMode(path: string, { mode }: Stats, otherwise = ""): void {
  if (process.platform === "win32" || (mode & 0o077) === 0) return;
  throw new CliError(EXIT.setup, "FILE_MODE_TOO_WIDE", `${path} can be read by others.`, {
    hint: `chmod 600 ${wordOf(path)}${otherwise}`,
  });
}

/** Where Docker and Kubernetes mount secrets, whatever the image. */
const SECRET_MOUNTS = /^\/(?:var\/)?run\/secrets\//;

/**
 * Whether a container's platform put the file there: its mode cannot be changed from inside, and nobody in the
 * container can replace it. The file is on a read-only mount, or root's in one of the usual folders for secrets.
 */
export function isMountedSecret(path: string, { uid, mode }: Stats): boolean {
  if (uid === 0 && (mode & 0o022) === 0 && SECRET_MOUNTS.test(resolve(path))) return true;
  return isOnReadOnlyMount(path);
}

/** Refuses a file or folder of another user: its owner can replace the content, whatever the mode. Root is trusted. */
export function requireOwned(path: string): Stats {
  let stats: Stats;
  try {
    stats = statSync(path);
  } catch (error) {
    throw unreadable(path, error);
  }
  // A pipe, such as <(pass show secret), is not checked.
  if (stats.isFile() || stats.isDirectory()) requireOwner(path, stats);
  return stats;
}

/** Refuses what belongs to another user than this one and root. */
export function requireOwner(path: string, { uid }: Stats): void {
  if (process.platform === "win32" || uid === 0 || uid === process.getuid?.()) return;
  throw new CliError(
    EXIT.setup,
    "FILE_OWNER_OTHER",
    `${path} belongs to another user (uid ${uid}), who can replace its content.`,
    { hint: "Make your own copy, or a new secret. Use chown only after reading the file." },
  );
}

const LONGEST_PATH = 4_096;

/**
 * The real path of a file or folder, which need not be there yet; undefined where it is outside of `folder`, by its
 * name or by a link. A name on the network is not looked at: that alone would sign this user in there.
 */
export function pathInside(folder: string, path: string): string | undefined {
  // Longer than any path of a system, and each folder of it would be looked for.
  if (path.length > LONGEST_PATH) return undefined;
  const absolute = resolve(path);
  if (absolute.startsWith("\\\\") && !isBelow(resolve(folder), absolute)) return undefined;
  const [within, real] = [realPath(resolve(folder)), realPath(absolute)];
  return within !== undefined && real !== undefined && isBelow(within, real) ? real : undefined;
}

function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !/^\.\.[/\\]/.test(way) && !isAbsolute(way);
}

/** The real path, from the nearest folder that is there; undefined for a link that leads nowhere, as it may later. */
function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    if (isLink(path)) return undefined;
    const folder = dirname(path);
    const real = folder === path ? path : realPath(folder);
    return real && join(real, basename(path));
  }
}

/** Whether a path is a link, wherever it leads. */
export function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

/** The refusal of a file that cannot be read, with the reason. */
export function unreadable(path: string, error: unknown): CliError {
  return new CliError(EXIT.setup, "FILE_UNREADABLE", `${path} cannot be read: ${reasonOf(error)}.`);
}

/** Why, by the system's own code: the library's words, which test/core/file-reasons.test.ts holds, and some more. */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: "this user may not",
  EBADF: "it is not open for reading",
  EBUSY: "another program holds it",
  EDQUOT: "this user's share of the disk is used up",
  EEXIST: "something else is there already",
  EFBIG: "it is too large",
  EIO: "the disk failed",
  EISDIR: "it is a folder",
  ELOOP: "its links lead in a circle",
  EMFILE: "this process has too many files open",
  ENAMETOOLONG: "its name is too long",
  ENFILE: "this machine has too many files open",
  ENOENT: "there is no such file or folder",
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of the path is no folder",
  ENXIO: "it is no file",
  EPERM: "this user may not",
  EROFS: "its file system can only be read",
  ERR_FS_EISDIR: "it is a folder",
  ERR_INVALID_ARG_VALUE: "its name has a character that no file has",
};

/** Whether a code is the system's word on a file. */
export function isOfFile(code: string | undefined): boolean {
  return Object.hasOwn(REASONS, code ?? "");
}

/** Why the system refused a file, in words; its own code where there are none. */
export function reasonOf(error: unknown): string {
  const { code, message } = Object(error) as { code?: string; message?: string };
  return REASONS[code ?? ""] ?? code ?? message ?? "unknown";
}

/** Nothing that is read here is larger; some files of a system never end. */
const MAX_BYTES = 128 * 1024 * 1024;

/** The bytes of a file, or a refusal that names the file. */
export async function readBytes(path: string): Promise<Buffer> {
  try {
    if (statSync(path).isFile()) return await bytesOf(createReadStream(path));
    const { readOther } = await import("../input/pipe.js"); // no start waits for it
    return await bytesOf(readOther(path));
  } catch (error) {
    throw error instanceof TooLarge ? tooLarge(path) : unreadable(path, error);
  }
}

class TooLarge extends Error {}

async function bytesOf(stream: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk as Uint8Array);
    length += bytes.length;
    if (length > MAX_BYTES) throw new TooLarge();
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

function tooLarge(name: string): CliError {
  return new CliError(
    EXIT.setup,
    "FILE_UNREADABLE",
    `${name} cannot be read: it has more than ${MAX_BYTES / 1024 / 1024} MiB.`,
  );
}

/** Refuses a folder as standard input (`< folder`), which Node reads as if nothing were in it. */
export function requireInput({ stdin }: Io): void {
  const { fd } = stdin as { fd?: unknown };
  if (typeof fd !== "number" || !fstatSync(fd).isDirectory()) return;
  throw unreadable(STANDARD_INPUT, { code: "EISDIR" });
}

/** All of standard input. */
async function readInput(io: Io): Promise<Buffer> {
  requireInput(io);
  try {
    return await bytesOf(io.stdin);
  } catch (error) {
    throw error instanceof TooLarge ? tooLarge(STANDARD_INPUT) : unreadable(STANDARD_INPUT, error);
  }
}

/** The text of a file without a byte order mark, or a refusal that names the file. */
export async function readTextFile(path: string): Promise<string> {
  return textOf(await readBytes(path), path);
}

/** The bytes of a file in PEM, as a text is read: without a byte order mark, and not in UTF-16. */
export async function readPemFile(path: string): Promise<Buffer> {
  return withoutMark(await readBytes(path), path);
}

/** The text of a file, or of standard input where the file is `-`. */
export async function readText(io: Io, path: string): Promise<string> {
  return path === "-" ? textOf(await readInput(io), STANDARD_INPUT) : readTextFile(path);
}

/** What begins a sequence of ASN.1, which every key in DER and PKCS#12 is. */
const SEQUENCE = 0x30;

/** The text of a file with a private key, or of standard input (`-`) where `io` is given; the key's bytes are given as base64. */
export async function readKeyFile(path: string, io?: Io): Promise<string> {
  const [name, bytes] =
    io && path === "-" ? [STANDARD_INPUT, await readInput(io)] : [path, await readBytes(path)];
  const isDer = bytes[0] === SEQUENCE && bytes.subarray(0, 8).some((byte) => byte < 9);
  // A key store of Java, and the octets of a bare key: the reader of keys says what they are.
  const isNoText = /^(?:feedfeed|cececece)/.test(bytes.toString("hex", 0, 4)) || isBare(bytes);
  return isDer || isNoText ? bytes.toString("base64") : textOf(bytes, name);
}

function isBare(bytes: Buffer): boolean {
  return [32, 64].includes(bytes.length) && !isUtf8(bytes);
}

/** The bytes of JSON or of a request, in a file or standard input (`-`), without a byte order mark in front. */
export async function readUnmarked(io: Io, path: string): Promise<Buffer> {
  return path === "-"
    ? withoutMark(await readInput(io), STANDARD_INPUT)
    : withoutMark(await readBytes(path), path);
}

/** The bytes of a file or of standard input, whatever they are. */
export function readAll(io: Io, path: string): Promise<Buffer> {
  return path === "-" ? readInput(io) : readBytes(path);
}

const STANDARD_INPUT = "Standard input";

/** The refusal of a file that cannot be written, with the reason. */
export function unwritable(path: string, error: unknown): CliError {
  return new CliError(EXIT.setup, "FILE_UNWRITABLE", `${path} cannot be written: ${reasonOf(error)}.`);
}
