// What does a key set host cost beside a server with a fixed body, and verifying with a warm key set beside bare jose?
import { spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, createServer, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEvent, jwtSigner, signRequest } from "hookproof";
import { createKeySet, exportKeySet, remoteKeys } from "hookproof/jwks";
import { openKeyStore, toJwksListener } from "hookproof/node";
import { createReceiver } from "hookproof/receiver";
import { compactVerify, jwtVerify } from "jose";
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
  for (const alg of ALGORITHMS) await measureVerify(alg, createKeySet(keys), ours.url);
  bare.child.disconnect();
  ours.child.disconnect();
  rmSync(store, { recursive: true, force: true });
}

async function measureVerify(alg, keySet, url) {
  const baseUrl = "https://tenant.example.com";
  const listener = `${baseUrl}/api/v1/webhooks/incoming/lst_bench`;
  const event = createEvent({ text: "x".repeat(1000) }, { eventId: randomUUID() });
  const { headers, body } = await signRequest({
    url: listener,
    signer: jwtSigner(() => keySet.signingKey(alg)),
    event,
  });
  const token = headers.Authorization.replace("Bearer ", "");
  const warm = remoteKeys(url, { allowInsecureLoopback: true });
  const { kid } = await keySet.signingKey(alg);
  const { key } = await warm.resolve(kid, alg);
  const receiver = createReceiver({
    listener: { id: "lst_bench", baseUrl, auth: { method: "jwt", keys: warm } },
  });
  const request = { method: "POST", url: listener, headers, body };
  const verdict = await receiver.verify(request);
  if (!verdict.ok) throw new Error(`the bench's own request is refused: ${verdict.code}`);
  const results = await interleaved({
    "bare jose, same claims": async () => {
      const { payload } = await jwtVerify(token, key, {
        algorithms: [alg],
        audience: listener,
        subject: baseUrl,
      });
      const hash = createHash("sha256").update(body).digest("base64url");
      return payload.htm === "POST" && payload.jti === event.id && payload.htb_s256 === hash;
    },
    "remoteKeys + compactVerify": async () => {
      const found = await warm.resolve(kid, alg);
      return compactVerify(token, found.key, { algorithms: [alg] });
    },
    "receiver.verify, whole request": () => receiver.verify(request),
  });
  report({
    question: `Verifying ${alg} with a warm key set, for a body of 1 KB`,
    results,
    ratios: [{ of: "remoteKeys + compactVerify", to: "bare jose, same claims", goal: 0.9 }],
  });
}
