// One server of the receive bench, in a process of its own: node receive-server.mjs <kind> <file>
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import BetterSqlite3 from "better-sqlite3";
import express from "express";
import { toNodeListener } from "hookproof/node";
import { createReceiver, memoryReplayStore } from "hookproof/receiver";
import { sqliteReplayStore } from "hookproof/replay";
import { receivedByHand, reservingStore } from "./received-by-hand.mjs";

const [kind, file] = process.argv.slice(2);
const secret = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const path = "/api/v1/webhooks/incoming/lst_bench";

function openSqlite() {
  const db = new BetterSqlite3(file);
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = NORMAL");
  return db;
}

const sqliteStore = () => sqliteReplayStore({ db: openSqlite() });

function hookproof(replayStore) {
  const receiver = createReceiver({
    listener: {
      id: "lst_bench",
      baseUrl: "https://tenant.example.com",
      auth: { method: "hmac", secret },
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

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

/** The ids of the last week in a Map: whether one is new. */
function idsInMemory() {
  const processed = new Map();
  return (id, now) => {
    for (const [old, expiresAt] of processed) {
      if (expiresAt > now) break;
      processed.delete(old);
    }
    if (processed.has(id)) return false;
    processed.set(id, now + WEEK_MS);
    return true;
  };
}

/**
 * The same in a table, with a write of its own for each request; or with two, as whoever tells a request that is under
 * way from one that was done has to make.
 */
function idsInSqlite({ twice }) {
  const db = openSqlite();
  db.exec(
    "CREATE TABLE processed (id TEXT PRIMARY KEY, expires_at INTEGER NOT NULL, is_done INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID",
  );
  const end = db.prepare("UPDATE processed SET is_done = 1 WHERE id = ?");
  const insert = db.prepare("INSERT OR IGNORE INTO processed (id, expires_at) VALUES (?, ?)");
  const sweep = db.prepare("DELETE FROM processed WHERE expires_at <= ?");
  let sweepAt = 0;
  return (id, now) => {
    if (now >= sweepAt) {
      sweep.run(now);
      sweepAt = now + 60_000;
    }
    const isNew = insert.run(id, now + WEEK_MS).changes === 1;
    if (isNew && twice) end.run(id);
    return isNew;
  };
}

/** The least that keeps forgeries and copies out: a bound, the time, one HMAC, the ids, and the payload parsed. */
function byHand(isNew) {
  const answer = (res, status, body) => {
    res.statusCode = status;
    res.setHeader("Content-Type", "application/json");
    res.end(body);
  };
  const statusOf = ({ method, url, headers }, body) => {
    if (url !== path || method !== "POST") return 404;
    const { "webhook-timestamp": time, "webhook-event-id": id, "webhook-signature": given } = headers;
    if (!time || !id || !given || headers["content-type"] !== "application/json") return 400;
    const now = Date.now();
    if (!(Math.abs(now / 1000 - Number(time)) <= 300)) return 400;
    const expected = createHmac("sha256", secret).update(`${time}.${id}.`).update(body).digest();
    const signature = Buffer.from(given, "base64url");
    if (signature.length !== 32 || !timingSafeEqual(signature, expected)) return 401;
    try {
      JSON.parse(body.toString());
    } catch {
      return 400;
    }
    return isNew(id, now) ? 200 : 409;
  };
  return (req, res) => {
    const chunks = [];
    let length = 0;
    req.on("data", (chunk) => {
      length += chunk.length;
      if (length <= 65_536) chunks.push(chunk);
    });
    req.on("end", () =>
      answer(
        res,
        length > 65_536 ? 413 : statusOf(req, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)),
        "{}",
      ),
    );
  };
}

const kinds = {
  "bare express": () =>
    inExpress(express.raw({ type: "*/*" }), (req, res) => res.json({ bytes: req.body.length })),
  "bare node:http": () => (req, res) => {
    const chunks = [];
    req.on("data", (chunk) => chunks.push(chunk));
    req.on("end", () => res.end(JSON.stringify({ bytes: Buffer.concat(chunks).length })));
  },
  "by hand in express, SQLite": () => inExpress(byHand(idsInSqlite({ twice: false }))),
  "by hand in express, SQLite, two writes": () => inExpress(byHand(idsInSqlite({ twice: true }))),
  "by hand on node:http, memory": () => byHand(idsInMemory()),
  "by hand to the same promises, memory": () =>
    receivedByHand({
      path,
      secret,
      store: reservingStore(),
      isActive: () => true,
      run: async () => {},
      onVerdict: () => {},
    }),
  "hookproof in express, memory": () => inExpress(hookproof(memoryReplayStore())),
  "hookproof in express, SQLite": () => inExpress(hookproof(sqliteStore())),
  "hookproof on node:http, memory": () => hookproof(memoryReplayStore()),
  "hookproof on node:http, SQLite": () => hookproof(sqliteStore()),
};

const server = createServer(kinds[kind]());
server.listen(0, "127.0.0.1", () => process.send(server.address().port));
process.on("message", () => process.send(process.cpuUsage()));
process.once("disconnect", () => process.exit());
