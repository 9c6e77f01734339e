import type { Readable, Writable } from "node:stream";

/** A stream that may be a terminal. */
export type Terminal = Writable & { isTTY?: boolean; columns?: number };

/** Everything a command touches of the world around it, so that tests can stand in for it. */
export interface Io {
  readonly stdin: Readable & { isTTY?: boolean };
  readonly stdout: Terminal;
  readonly stderr: Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Fires when the user or the system asks the process to stop. */
  readonly stopSignal: AbortSignal;
}

/** All of standard input as bytes. */
export async function readStdin(io: Io): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of io.stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks);
}
