// What each worker of vitest begins with, read anew for each test file.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { afterAll } from "vitest";

const require = createRequire(import.meta.url);
require("./no-dns.cjs");
require("./cheap-scrypt.cjs");

// A worker whose run was killed ends, and with it what its tests have started (processes.ts).
if (process.channel && process.listenerCount("disconnect") === 0)
  process.once("disconnect", () => process.exit(1));

/** What this process and the ended ones that it has started have had of the processors; Linux counts in hundredths. */
function processorSeconds(): number {
  try {
    const [, fields = ""] = readFileSync("/proc/self/stat", "utf8").split(") ");
    const times = fields.split(" ").slice(11, 15);
    return times.reduce((sum, time) => sum + Number(time), 0) / 100;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
}

const before = processorSeconds();
// biome-ignore lint/correctness/noEmptyPattern: vitest demands a pattern, and the file comes behind it
afterAll(({}, file) => {
  Object.assign(file.meta, { processorSeconds: processorSeconds() - before }); // for the reporter
});
