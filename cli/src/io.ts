// What a command uses of its process, so that tests can pass their own.
import { fstatSync } from "node:fs";
import type { Readable, Writable } from "node:stream";

/** A stream that may be a terminal. */
export type Terminal = Writable & { isTTY?: boolean; columns?: number };

/** What a command uses of its process, so that a test can pass its own. */
export interface Io {
  readonly stdin: Readable & { isTTY?: boolean };
  readonly stdout: Terminal;
  readonly stderr: Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Fires when the user or the system asks the process to stop. */
  readonly stopSignal: AbortSignal;
}

/** Whether a pipe or a file is standard input. A terminal is not, nor what a program gives its children unasked. */
export function hasPipedInput({ stdin }: Io): boolean {
  const { fd } = stdin as { fd?: unknown };
  if (typeof fd !== "number" || stdin.isTTY) return false;
  try {
    const stats = fstatSync(fd);
    return stats.isFIFO() || stats.isFile();
  } catch {
    return false;
  }
}

/** Resolves when the signal fires. */
export function stopped(stopSignal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (stopSignal.aborted) resolve();
    else stopSignal.addEventListener("abort", () => resolve(), { once: true });
  });
}
