// How much of bare express with the same SQLite query is left to each read of the service, and how long is a read on
// its way beside 64 clients?
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createService } from "hookproof-service";
import { interleaved, long, report, reportFigures, summary } from "./support.mjs";

const PER_CALL = 64;
const CONNECTIONS = 16;
const USERS = long ? 1_000_000 : 20_000;
const folder = mkdtempSync(join(tmpdir(), "hookproof-bench-"));
const file = join(folder, "service.db");

const numbers = (count) => Array.from({ length: count }, (_, number) => String(number).padStart(6, "0"));
const fixture = {
  users: numbers(USERS).map((id) => ({ id, displayName: `Name ${id}`, email: `${id}@example.com` })),
  suggestions: [{ id: "cohort", userIds: numbers(USERS) }],
  authConfigs: [{ id: "config", oidc: { issuerId: "https://issuer.example.com", scopes: ["openid"] } }],
  bridges: [{ id: "bridge", credentials: numbers(200).map((id) => ({ id })) }],
  apps: [
    {
      id: "app",
      entitlements: [{ id: "entitlement" }],
      entitlementOwners: [{ roleSlug: "owner", appId: "app", entitlementId: "entitlement" }],
      users: [{ id: "user", owners: numbers(200).map((userId) => ({ roleSlug: "owner", userId })) }],
    },
  ],
};
await (await createService({ db: file, fixture })).stop();

async function start(kind) {
  const child = fork(join(import.meta.dirname, "service-server.mjs"), [kind, file]);
  const [{ port, token }] = await once(child, "message");
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  return {
    ask: (method, path, body, by = agent) =>
      new Promise((resolve, reject) => {
        const sent = request({ port, host: "127.0.0.1", method, path, headers, agent: by }, (answer) => {
          const chunks = [];
          answer.on("data", (chunk) => chunks.push(chunk));
          answer.on("end", () => {
            if (answer.statusCode !== 200) reject(new Error(`${path}: ${answer.statusCode}`));
            else resolve(Buffer.concat(chunks));
          });
        });
        sent.on("error", reject).end(body);
      }),
    stop() {
      agent.destroy();
      child.disconnect();
    },
  };
}

const COHORT = "/api/v1/role-mining/suggestions/cohort/users";
const READS = {
  "get auth config": ["GET", "/api/v1/auth-configs/config"],
  "search cohort": ["POST", COHORT, "{}"],
  "get entitlement owner": ["GET", "/api/v2/apps/app/owners/entitlements/owner/app/entitlement"],
  "search user owners": ["GET", "/api/v2/apps/app/users/user/owners/users"],
  "list credentials": ["GET", "/api/v1/iam/tunnel/bridges/bridge/credentials"],
};

const [ours, bare] = [await start("service"), await start("bare express")];
const manyOf =
  ({ ask }, [method, path, body]) =>
  () =>
    Promise.all(Array.from({ length: PER_CALL }, () => ask(method, path, body)));

const OTHERS = 64;
const PAUSE_MS = 100;

/** The time in milliseconds that 99 of 100 reads stay below, of a client that makes one after another. */
async function mostOfReads() {
  const times = [];
  for (let n = 0; n < 100; n++)
    for (const [method, path, body] of Object.values(READS)) {
      const since = performance.now();
      await ours.ask(method, path, body);
      times.push(performance.now() - since);
    }
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)];
}

/** Clients that read ten times a second each, over a connection of their own, until the returned function is called. */
function others() {
  let areThere = true;
  const agent = new Agent({ keepAlive: true, maxSockets: OTHERS });
  const [method, path] = READS["get auth config"];
  const all = Array.from({ length: OTHERS }, async () => {
    await pause(Math.random() * PAUSE_MS);
    while (areThere) {
      await ours.ask(method, path, undefined, agent);
      await pause(PAUSE_MS);
    }
  });
  return async () => {
    areThere = false;
    await Promise.all(all);
    agent.destroy();
  };
}

/** Alone and beside the others, in turns, so that a slow moment of the machine hits both. */
async function besideOthers() {
  const [alone, beside, ratio] = [[], [], []];
  for (let round = -1; round < 15; round++) {
    const before = await mostOfReads();
    const end = others();
    const after = await mostOfReads();
    await end();
    if (round < 0) continue; // it warms up
    alone.push(before);
    beside.push(after);
    ratio.push(after / before);
  }
  const figure = (all) => {
    const { perSecond: value, low, high } = summary(all);
    return { value, low, high };
  };
  reportFigures({
    question: `reads of one client after another, next to ${OTHERS} clients that read ten times a second each`,
    unit: "ms",
    figures: { "p99, alone": figure(alone), "p99, next to them": figure(beside) },
  });
  reportFigures({
    question: `how much longer a read takes next to ${OTHERS} clients`,
    unit: "times",
    figures: { "p99, next to them to alone": { ...figure(ratio), atMost: 2 } },
  });
}

/** The body that asks for the last page. */
async function lastPage() {
  let body = JSON.stringify({ pageSize: 100 });
  for (;;) {
    const { nextPageToken: pageToken } = JSON.parse(await ours.ask("POST", COHORT, body));
    const next = JSON.stringify({ pageSize: 100, pageToken });
    if (pageToken === "") return body;
    body = next;
  }
}

try {
  await besideOthers();
  for (const [name, read] of Object.entries(READS)) {
    report({
      question: `${name}, ${CONNECTIONS} connections`,
      results: await interleaved(
        { service: manyOf(ours, read), "bare express": manyOf(bare, read) },
        { rounds: 9, roundMs: 300, perCall: PER_CALL },
      ),
      ratios: [{ of: "service", to: "bare express", goal: 0.6 }],
    });
  }
  const first = ["POST", COHORT, JSON.stringify({ pageSize: 100 })];
  report({
    question: `paging through ${USERS} users of a cohort, 100 a page`,
    results: await interleaved(
      { "last page": manyOf(ours, ["POST", COHORT, await lastPage()]), "first page": manyOf(ours, first) },
      { rounds: 9, roundMs: 300, perCall: PER_CALL },
    ),
    ratios: [{ of: "last page", to: "first page", goal: 0.67 }],
  });
} finally {
  ours.stop();
  bare.stop();
  rmSync(folder, { recursive: true });
}
