import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file system of its own, of so many MiB, in memory. */
export interface SmallDisk {
  readonly folder: string;
  /** Takes all the room that is left. */
  fill(): void;
  /** Gives it back. */
  free(): void;
  /** Once nothing of it is open. */
  remove(): void;
}

/** Mounts it; `undefined` where this process may not (see `itWith`). */
export function smallDisk(sizeMiB: number): SmallDisk | undefined {
  const folder = mkdtempSync(join(tmpdir(), "hookproof-disk-"));
  const options = ["-t", "tmpfs", "-o", `size=${sizeMiB}m`, "tmpfs", folder];
  if (spawnSync("mount", options, { stdio: "ignore" }).status !== 0) {
    rmdirSync(folder);
    return undefined;
  }
  chmodSync(folder, 0o777);
  const filler = join(folder, "filler");
  return {
    folder,
    fill() {
      const file = openSync(filler, "w");
      // The room that is left for less than a page is no room.
      for (const size of [1_048_576, 4_096]) {
        const zeros = Buffer.alloc(size);
        try {
          while (writeSync(file, zeros) === size);
        } catch {} // it is full
      }
      closeSync(file);
    },
    free: () => rmSync(filler, { force: true }),
    remove() {
      // A process that was just killed may still hold it.
      execFileSync("umount", ["--lazy", folder]);
      rmdirSync(folder);
    },
  };
}
