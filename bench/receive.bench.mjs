// How much of a bare server's rate is left once every request is verified and its id remembered?
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newEventId, signHmac } from "hookproof";
import { quick, report, summary } from "./support.mjs";

const CONNECTIONS = 32;
const secret = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const body = JSON.stringify({ text: "x".repeat(1024 - 11) });
const folder = mkdtempSync(join(tmpdir(), "hookproof-bench-"));

function signedRequest() {
  const eventId = newEventId();
  const timestamp = Math.floor(Date.now() / 1000);
  const signature = signHmac({ secret, timestamp, eventId, body });
  return (
    "POST /api/v1/webhooks/incoming/lst_bench HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n" +
    `Content-Length: ${body.length}\r\nWebhook-Timestamp: ${timestamp}\r\nWebhook-Event-Id: ${eventId}\r\n` +
    `Webhook-Signature: ${signature}\r\n\r\n${body}`
  );
}

/** A connection that has one request under way at a time; answers are short and come in one piece. */
function openConnection(port) {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  let answered = () => {};
  socket.setEncoding("latin1").on("data", (text) => answered(text));
  return {
    send: () =>
      new Promise((resolve, reject) => {
        answered = (text) =>
          text.startsWith("HTTP/1.1 200") ? resolve() : reject(new Error(text.slice(0, 200)));
        socket.write(signedRequest());
      }),
    close: () => socket.destroy(),
  };
}

async function startServer(kind) {
  const child = fork(join(import.meta.dirname, "receive-server.mjs"), [kind, join(folder, `${kind}.db`)]);
  const [port] = await once(child, "message");
  const connections = Array.from({ length: CONNECTIONS }, () => openConnection(port));
  const cpuMicros = async () => {
    child.send("cpu");
    const [{ user, system }] = await once(child, "message");
    return user + system;
  };
  return {
    /** Sends requests for so long: how many were answered in a second, and in a second of the server's processor. */
    async round(ms) {
      const from = { cpu: await cpuMicros(), time: performance.now() };
      let answered = 0;
      await Promise.all(
        connections.map(async ({ send }) => {
          for (; performance.now() - from.time < ms; answered++) await send();
        }),
      );
      const ran = performance.now() - from.time;
      return {
        rate: (answered * 1e3) / ran,
        byProcessor: (answered * 1e6) / ((await cpuMicros()) - from.cpu),
      };
    },
    stop() {
      for (const { close } of connections) close();
      child.disconnect();
    },
  };
}

const BARE = "bare node:http";
const EXPRESS = "bare express";
const kinds = [
  BARE,
  EXPRESS,
  "by hand on node:http, memory",
  "by hand to the same promises, memory",
  "hookproof on node:http, memory",
  "hookproof on node:http, SQLite",
  "by hand in express, SQLite",
  "by hand in express, SQLite, two writes",
  "hookproof in express, memory",
  "hookproof in express, SQLite",
];
const ratios = [
  { of: "by hand on node:http, memory", to: BARE },
  { of: "hookproof on node:http, memory", to: BARE, goal: 0.5 },
  { of: "by hand to the same promises, memory", to: BARE },
  { of: "hookproof on node:http, memory", to: "by hand on node:http, memory" },
  { of: "hookproof on node:http, memory", to: "by hand to the same promises, memory" },
  { of: "hookproof on node:http, SQLite", to: BARE },
  { of: "by hand in express, SQLite", to: EXPRESS },
  { of: "by hand in express, SQLite, two writes", to: EXPRESS },
  { of: "hookproof in express, memory", to: EXPRESS, goal: 0.85 },
  { of: "hookproof in express, SQLite", to: EXPRESS, goal: 0.85 },
  { of: "hookproof in express, SQLite", to: "by hand in express, SQLite, two writes" },
];
const [rounds, roundMs, warmUps] = quick ? [9, 80, 3] : [15, 400, 4];
const servers = await Promise.all(
  kinds.map(async (kind) => ({ kind, measured: [], ...(await startServer(kind)) })),
);
// This process polls while it waits: to wake it would cost the server more than the answer that it is woken for.
let polling = true;
(function poll() {
  if (polling) setImmediate(poll);
})();
try {
  for (let round = -warmUps; round < rounds; round++) {
    for (const { round: work, measured } of servers) {
      const result = await work(roundMs);
      if (round >= 0) measured.push(result);
    }
  }
  const resultsOf = (field) =>
    Object.fromEntries(
      servers.map(({ kind, measured }) => [kind, summary(measured.map((result) => result[field]))]),
    );
  report({
    question: "receive and verify, HMAC over 1 KB, 32 connections, by the server's processor time",
    results: resultsOf("byProcessor"),
    ratios,
  });
  report({
    question: "receive and verify, HMAC over 1 KB, 32 connections, client and server on one machine",
    results: resultsOf("rate"),
    ratios: ratios.map(({ of, to }) => ({ of, to })),
  });
} finally {
  polling = false;
  for (const { stop } of servers) stop();
  rmSync(folder, { recursive: true });
}
