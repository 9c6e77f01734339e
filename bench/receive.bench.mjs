// How much of a bare server's rate is left once every request is verified and its id remembered?
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newEventId, signHmac } from "hookproof";
import { interleaved, report } from "./support.mjs";

const CONNECTIONS = 32;
const PER_CALL = 256;
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
  return {
    async work() {
      let left = PER_CALL;
      await Promise.all(
        connections.map(async ({ send }) => {
          while (left-- > 0) await send();
        }),
      );
    },
    stop() {
      for (const { close } of connections) close();
      child.disconnect();
    },
  };
}

const kinds = [
  "bare node:http",
  "bare express",
  "hookproof on node:http, memory",
  "hookproof on node:http, SQLite",
  "hookproof in express, memory",
  "hookproof in express, SQLite",
];
const servers = await Promise.all(kinds.map(async (kind) => [kind, await startServer(kind)]));
try {
  report({
    question: "receive and verify, HMAC over 1 KB, 32 connections",
    results: await interleaved(Object.fromEntries(servers.map(([kind, { work }]) => [kind, work])), {
      rounds: 11,
      roundMs: 400,
      perCall: PER_CALL,
    }),
    ratios: kinds.slice(2).map((of) => ({ of, to: "bare express", goal: 0.8 })),
  });
} finally {
  for (const [, server] of servers) server.stop();
  rmSync(folder, { recursive: true });
}
