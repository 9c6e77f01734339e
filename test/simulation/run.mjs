// @ts-check
// Bundles the simulator with the library's source, so that it starts at once, and runs it: npm run simulate.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { bundle } from "./bundle.mjs";

const file = await bundle();
// What a world comes to depends on this part: a long search goes on only with the same one.
const [core = ""] = readFileSync(await bundle(undefined, "core", "simulate"), "utf8").split(
  "\n//# sourceMappingURL",
);
const CODE = createHash("sha256").update(core).digest("base64url").slice(0, 12);
const COMMIT = spawnSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).stdout?.trim();
const { status } = spawnSync(process.execPath, ["--enable-source-maps", file, ...process.argv.slice(2)], {
  stdio: "inherit",
  env: { ...process.env, CODE, COMMIT },
});
process.exit(status ?? 1);
