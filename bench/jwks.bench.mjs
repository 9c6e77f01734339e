// What does a key set host cost beside a server with a fixed body?
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, createServer, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKeySet, exportKeySet } from "hookproof/jwks";
import { openKeyStore, toJwksListener } from "hookproof/node";
import { interleaved, report } from "./support.mjs";

const ALGORITHMS = ["RS256", "ES256", "EdDSA"];
const [, , role, dir] = process.argv;
if (role === "bare" || role === "ours") await serve();
else await measure();

/** The server's side, in a process of its own. */
async function serve() {
  const keySet = createKeySet(openKeyStore(dir));
  const body = JSON.stringify(await keySet.publicJwks());
  const { headers } = await exportKeySet(keySet);
  const bare = (_request, response) => {
    response.writeHead(200, { ...headers, ETag: '"fixed-by-the-bench-aaa"', "Content-Length": body.length });
    response.end(body);
  };
  const server = createServer(role === "bare" ? bare : toJwksListener(keySet));
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
  process.on("disconnect", () => process.exit());
}

async function start(name, store) {
  const child = spawn(process.execPath, [import.meta.filename, name, store], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const port = await new Promise((resolve) => child.stdout.once("data", (line) => resolve(Number(line))));
  return { child, url: `http://127.0.0.1:${port}/jwks.json` };
}

/** 50 requests at once over kept connections. */
function asker(url) {
  const agent = new Agent({ keepAlive: true, maxSockets: 50 });
  const one = () =>
    new Promise((resolve, reject) => {
      get(url, { agent }, (response) => response.resume().on("end", resolve)).on("error", reject);
    });
  return () => Promise.all(Array.from({ length: 50 }, one));
}

async function measure() {
  const store = mkdtempSync(join(tmpdir(), "hookproof-bench-"));
  const keys = openKeyStore(store);
  for (const alg of ALGORITHMS) await keys.generate({ alg });
  const [bare, ours] = await Promise.all([start("bare", store), start("ours", store)]);
  report({
    question: "Serving a key set of three keys from a store on disk, 50 requests at once",
    results: await interleaved(
      { "bare node:http, fixed body": asker(bare.url), toJwksListener: asker(ours.url) },
      { perCall: 50, roundMs: 400 },
    ),
    ratios: [{ of: "toJwksListener", to: "bare node:http, fixed body", goal: 0.8 }],
  });
  bare.child.disconnect();
  ours.child.disconnect();
  rmSync(store, { recursive: true, force: true });
}
