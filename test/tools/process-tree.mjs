// @ts-check
// Signals for a process group, and for what its leader has started in groups of its own.
import { readdirSync, readFileSync } from "node:fs";

/**
 * Sends a signal to a process group. One that is gone needs none.
 *
 * @param {number} leader
 * @param {NodeJS.Signals} signal
 * @returns {boolean} whether there was anybody
 */
export function signalGroup(leader, signal) {
  try {
    return process.kill(-leader, signal);
  } catch {
    return false;
  }
}

/**
 * Kills a process group, the stopped ones in it too, and other processes.
 *
 * @param {number} leader
 * @param {readonly number[]} others
 */
export function killTree(leader, others = descendants(leader)) {
  signalGroup(leader, "SIGKILL");
  for (const pid of others) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // it has ended meanwhile
    }
  }
}

/** Whether this machine tells who has started whom. */
export const seesDescendants = process.platform === "linux";

/**
 * What a process has started, and what that has started, whatever groups they are in; as far as /proc tells.
 *
 * @param {number} of
 * @returns {number[]}
 */
export function descendants(of) {
  if (!seesDescendants) return [];
  /** @type {Map<number, number[]>} */
  const children = new Map();
  for (const name of readdirSync("/proc")) {
    const parent = /^\d+$/.test(name) ? parentOf(name) : undefined;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  /** @param {number} pid @returns {number[]} */
  const below = (pid) => (children.get(pid) ?? []).flatMap((child) => [child, ...below(child)]);
  return below(of);
}

/**
 * @param {string} pid
 * @returns {number | undefined}
 */
function parentOf(pid) {
  try {
    return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    return undefined; // it has ended meanwhile
  }
}
