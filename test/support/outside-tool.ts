import { spawnSync } from "node:child_process";

/**
 * Whether an outside tool that some tests need is on this machine: it is if the command ends with status 0.
 * Without it those tests are skipped, and the skip is said aloud; in CI a missing tool is an error, because
 * nobody reads the skips there.
 */
export function hasTool(tool: string, command: string, args: readonly string[]): boolean {
  if (spawnSync(command, args, { stdio: "ignore" }).status === 0) return true;
  const words = `${tool} is missing (tried: ${[command, ...args].join(" ")})`;
  if (process.env.CI) throw new Error(`${words}; in CI every outside tool must be there.`);
  console.warn(`\nSKIPPED: ${words}. The tests that need it did not run.\n`);
  return false;
}
