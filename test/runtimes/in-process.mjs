// Runs the suite in Node, Bun or Deno: <runtime> in-process.mjs <listener url>
import { readFileSync } from "node:fs";
import process from "node:process";
import { runSuite } from "./suite.mjs";

const vectors = JSON.parse(readFileSync(new URL("../../vectors/protocol.json", import.meta.url), "utf8"));
console.log(JSON.stringify(await runSuite({ vectors, listenerUrl: process.argv[2] })));
process.exit();
