// What a running listener writes down so that `:4400` can be sent to.
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CliError, EXIT } from "../failure.js";
import { dataFolder, isLink, writePrivateFile } from "../files/files.js";
import type { Io } from "../io.js";
import type { Output } from "../output.js";
import type { SchemeSettings } from "../schemes/schemes.js";
import { readLoneFile } from "./own-file.js";

/** What a local listener writes down for `:port` targets while it runs. */
export interface Session {
  /** The listener's whole URL. */
  readonly url: string;
  readonly method: "hmac" | "jwt";
  /** The scheme that it receives by, where it is not the service's own. */
  readonly scheme?: SchemeSettings;
  /** The secret of an HMAC listener; the file is readable by its owner only. */
  readonly secret?: string;
  /** Where the keys of a JWT listener are: a URL, or the whole path of a file. */
  readonly jwks?: string;
  /** The inspector's page with its token. */
  readonly inspector?: string;
}

function sessionFile(io: Io, port: number): string {
  return join(dataFolder(io), "sessions", `${port}.json`);
}

/**
 * Writes a listener's session file; returns the function that removes it. A listener whose file cannot be written
 * runs all the same.
 */
export async function writeSession(
  io: Io,
  out: Pick<Output, "warn">,
  port: number,
  session: Session,
): Promise<() => void> {
  try {
    const file = sessionFile(io, port);
    await writePrivateFile(file, `${JSON.stringify({ v: 1, ...session })}\n`);
    return () => rmSync(file, { force: true });
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    out.warn(`${error.message} Commands will not find this listener as :${port}.`);
    return () => {};
  }
}

/** The session of the local listener with exactly this URL, if there is one. */
export function findSession(io: Io, url: string): (Session & { readonly port: number }) | undefined {
  const port = /^https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):([0-9]{1,5})\//.exec(url)?.[1];
  if (port === undefined) return undefined;
  try {
    const session = readSession(io, Number(port));
    return session.url === url ? { port: Number(port), ...session } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a local listener has written its session for a port. */
export function isListening(io: Io, port: number): boolean {
  try {
    return existsSync(sessionFile(io, port));
  } catch {
    return false;
  }
}

/** The ports of the local listeners that have written a session. */
export function sessionPorts(io: Io): number[] {
  const folder = join(dataFolder(io), "sessions");
  const files = existsSync(folder) ? readdirSync(folder) : [];
  return files.map((file) => Number(/^([0-9]+)\.json$/.exec(file)?.[1])).filter((port) => port > 0);
}

/** The session of the local listener on a port. */
export function readSession(io: Io, port: number): Session {
  try {
    const file = sessionFile(io, port);
    if (!existsSync(file) && !isLink(file)) throw new Error("no session");
    return JSON.parse(readLoneFile(file)) as Session;
  } catch (error) {
    if (error instanceof CliError && error.code !== "HOME_MISSING") throw error;
    throw new CliError(EXIT.setup, "SESSION_MISSING", `No hookproof listener is running on port ${port}.`, {
      hint: `Start one with: hookproof listen --port ${port}`,
    });
  }
}
