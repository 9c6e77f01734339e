// Bundles the simulator with the library's source, so that it starts at once, and runs it: npm run simulate.
import { spawnSync } from "node:child_process";
import { bundle } from "./bundle.mjs";

const file = await bundle();
const { status } = spawnSync(process.execPath, ["--enable-source-maps", file, ...process.argv.slice(2)], {
  stdio: "inherit",
});
process.exit(status ?? 1);
