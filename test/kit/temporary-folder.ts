import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A folder of a test's own, which goes when the test is over. */
export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `hookproof-${name}-`));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
