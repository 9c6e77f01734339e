import { spawnSync } from "node:child_process";

/**
 * Whether an outside tool that some tests need is on this machine: it is if the command ends with status 0.
 * For `itWith` and `describeWith`, which say what was skipped for want of it.
 */
export function hasTool(command: string, ...args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: "ignore" }).status === 0;
}

/** Whether all of some programs are on the path: `bash and openssl`. */
export function hasTools(names: string): boolean {
  return names.split(" and ").every((name) => hasTool("sh", "-c", `command -v ${name}`));
}
