// Machines of the hosts bench: network namespaces, and between them a network that is late and loses packets. The
// kernel's own netem is not everywhere, so hosts-network.py is the network.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** What this machine lacks for it; `undefined` if nothing. */
export function lackingForMachines() {
  if (process.getuid?.() !== 0) return "root";
  if (!existsSync("/dev/net/tun")) return "/dev/net/tun";
  if (spawnSync("python3", ["--version"]).status !== 0) return "python3";
  const name = `probe${process.pid}`;
  if (spawnSync("ip", ["netns", "add", name]).status !== 0) return "network namespaces by `ip netns`";
  execFileSync("ip", ["netns", "del", name]);
  return undefined;
}

/**
 * Starts a machine for each address, on one network.
 *
 * @param {Record<string, string>} addresses by the machine's name, a letter
 * @param {{ delayMs: number, lostOf10000: number }} network of each packet, one way
 */
export async function startMachines(addresses, { delayMs, lostOf10000 }) {
  /** Of the namespace and of its network card. */
  const nameOf = (machine) => `h${process.pid}${machine}`;
  const ip = (...args) => execFileSync("ip", args);
  const cards = Object.entries(addresses).map(([machine, address]) => `${nameOf(machine)}=${address}`);
  const script = fileURLToPath(new URL("hosts-network.py", import.meta.url));
  const network = spawn("python3", [script, String(delayMs), String(lostOf10000), ...cards], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const said = createInterface({ input: network.stdout })[Symbol.asyncIterator]();
  await said.next();
  const processes = [];
  const killAll = (machine) => {
    const pids = execFileSync("ip", ["netns", "pids", nameOf(machine)], { encoding: "utf8" }).split("\n");
    for (const pid of pids.filter(Boolean)) {
      try {
        process.kill(Number(pid), "SIGKILL");
      } catch {} // it has ended by itself
    }
  };
  let areUp = true;
  const takeDown = () => {
    if (!areUp) return;
    areUp = false;
    for (const machine of Object.keys(addresses)) killAll(machine);
    for (const machine of Object.keys(addresses)) ip("netns", "del", nameOf(machine));
  };
  // A bench that fails or is interrupted must not leave its machines behind.
  process.once("exit", takeDown);
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
  for (const [machine, address] of Object.entries(addresses)) {
    const name = nameOf(machine);
    ip("netns", "add", name);
    ip("link", "set", name, "netns", name);
    ip("-n", name, "addr", "add", `${address}/24`, "dev", name);
    ip("-n", name, "link", "set", name, "up");
    ip("-n", name, "link", "set", "lo", "up");
  }
  return {
    /** Runs a program on a machine. */
    start(machine, command, options = {}) {
      const child = spawn("ip", ["netns", "exec", nameOf(machine), ...command], options);
      processes.push(child);
      return child;
    },
    /** Lets an address lead to a machine, from now on. */
    lead(address, machine) {
      ip("-n", nameOf(machine), "addr", "add", `${address}/32`, "dev", "lo");
      network.stdin.write(`lead ${address} ${nameOf(machine)}\n`);
    },
    /** Takes a machine's cable and its power away. */
    cut(machine) {
      network.stdin.write(`cut ${nameOf(machine)}\n`);
      killAll(machine);
    },
    /** Ends all of it, and tells how many packets there were and what share of them was lost. */
    async stop() {
      network.stdin.end();
      const { value } = await said.next();
      await once(network, "close");
      takeDown();
      await Promise.all(processes.map((child) => child.exitCode ?? child.signalCode ?? once(child, "close")));
      process.off("exit", takeDown);
      const [packets, lost] = value.split(" ").map(Number);
      return { packets, lostShare: lost / packets };
    },
  };
}
