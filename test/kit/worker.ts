// What each worker of vitest begins with, read anew for each test file.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
require("./no-dns.cjs");
require("./cheap-scrypt.cjs");

// A worker whose run was killed ends, and with it what its tests have started (processes.ts).
if (process.channel && process.listenerCount("disconnect") === 0)
  process.once("disconnect", () => process.exit(1));
