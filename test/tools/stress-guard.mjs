// @ts-check
// Keeps processors busy beside a stressed run, and ends the run when whoever has started both is gone.
import { Worker } from "node:worker_threads";
import { killTree } from "./process-tree.mjs";

/** @type {number | undefined} */
let leader;

process.on("message", (message) => {
  leader = /** @type {{ leader?: number }} */ (message).leader;
});
// However the other end went: the channel closes with its process.
process.on("disconnect", () => {
  if (leader !== undefined) killTree(leader);
  process.kill(process.pid, "SIGKILL");
});
// The group of a terminal gets its signals all at once; the other end says when it is time.
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) process.on(signal, () => {});

for (let started = 0; started < Number(process.argv[2]); started += 1) {
  new Worker("for (;;);", { eval: true });
}
