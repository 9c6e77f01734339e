import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CliError, EXIT } from "./failure.js";
import { dataFolder, writePrivateFile } from "./folders.js";
import type { Io } from "./io.js";

/** What a local listener leaves for `:port` targets while it runs. */
export interface Session {
  /** The listener's whole URL. */
  readonly url: string;
  readonly method: "hmac" | "jwt";
  /** The secret of an HMAC listener; the file is readable by its owner only. */
  readonly secret?: string;
}

function sessionFile(io: Io, port: number): string {
  return join(dataFolder(io), "sessions", `${port}.json`);
}

/** Leaves a listener's session; gives the function that takes it away again. */
export async function writeSession(io: Io, port: number, session: Session): Promise<() => void> {
  const file = sessionFile(io, port);
  await writePrivateFile(file, `${JSON.stringify({ v: 1, ...session })}\n`);
  return () => rmSync(file, { force: true });
}

/** The session of the local listener on a port. */
export function readSession(io: Io, port: number): Session {
  try {
    return JSON.parse(readFileSync(sessionFile(io, port), "utf8")) as Session;
  } catch {
    throw new CliError(
      EXIT.setup,
      "SESSION_MISSING",
      `No local listener has left its session for port ${port}.`,
      {
        hint: `Start one with: hookproof listen --port ${port}`,
      },
    );
  }
}
