// One server of the receive bench, in a process of its own: node receive-server.mjs <kind> <file>
import { createServer } from "node:http";
import BetterSqlite3 from "better-sqlite3";
import express from "express";
import { toNodeListener } from "hookproof/node";
import { createReceiver, memoryReplayStore } from "hookproof/receiver";
import { sqliteReplayStore } from "hookproof/replay";

const [kind, file] = process.argv.slice(2);
const path = "/api/v1/webhooks/incoming/lst_bench";

function sqliteStore() {
  const db = new BetterSqlite3(file);
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = NORMAL");
  return sqliteReplayStore({ db });
}

function hookproof(replayStore) {
  const receiver = createReceiver({
    listener: {
      id: "lst_bench",
      baseUrl: "https://tenant.example.com",
      auth: { method: "hmac", secret: "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE" },
    },
    replayStore,
  });
  return toNodeListener(receiver, async () => {});
}

function inExpress(...handlers) {
  const app = express();
  app.disable("x-powered-by");
  app.post(path, ...handlers);
  return app;
}

const kinds = {
  "bare express": () =>
    inExpress(express.raw({ type: "*/*" }), (req, res) => res.json({ bytes: req.body.length })),
  "bare node:http": () => (req, res) => {
    const chunks = [];
    req.on("data", (chunk) => chunks.push(chunk));
    req.on("end", () => res.end(JSON.stringify({ bytes: Buffer.concat(chunks).length })));
  },
  "hookproof in express, memory": () => inExpress(hookproof(memoryReplayStore())),
  "hookproof in express, SQLite": () => inExpress(hookproof(sqliteStore())),
  "hookproof on node:http, memory": () => hookproof(memoryReplayStore()),
  "hookproof on node:http, SQLite": () => hookproof(sqliteStore()),
};

const server = createServer(kinds[kind]());
server.listen(0, "127.0.0.1", () => process.send(server.address().port));
process.once("disconnect", () => process.exit());
