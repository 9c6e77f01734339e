import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { openSqlite } from "hookproof/node";
import { createOutbox } from "hookproof/outbox";
import { sqliteStore } from "hookproof/outbox/sqlite";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { SECRET } from "../../test/kit/probes/listeners.js";
import { endsWithThis } from "../../test/kit/processes.js";
import { requireBuild } from "../../test/kit/transcript.js";
import { LISTENER } from "./kit/other-program.js";

const BIN = resolve(import.meta.dirname, "../bin/hookproof.cjs");
const folder = mkdtempSync(join(tmpdir(), "hookproof-interrupted-"));
const env = { HOME: folder, HOOKPROOF_HOME: folder, HOOKPROOF_SECRET: SECRET };
beforeAll(requireBuild);
afterAll(() => rmSync(folder, { recursive: true }));

/** Starts a command, lets `use` act on what it printed first, then ends it as Ctrl-C does; `then` acts after that. */
async function interrupted(
  words: readonly string[],
  use: (first: string) => Promise<unknown>,
  then = () => {},
) {
  const child = spawn(process.execPath, [BIN, ...words], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  endsWithThis(child);
  const copy = child.stdout.pipe(new PassThrough());
  const printed = text(copy);
  const said = text(child.stderr);
  const ended = once(child, "exit");
  const early = async () => [`ended with ${await ended}: ${await said}`];
  const [first] = await Promise.race([once(createInterface({ input: child.stdout }), "line"), early()]);
  await use(String(first));
  child.kill("SIGINT");
  then();
  const [exit] = await ended;
  return { exit, last: (await printed).trim().split("\n").at(-1) ?? "", said: await said };
}

const urlIn = (line: string): string => (line.startsWith("{") ? JSON.parse(line).url : line);

/** Two requests, one of them for what is not there. */
const ask = async (first: string) => {
  for (const url of [urlIn(first), `${urlIn(first)}/none`]) await (await fetch(url)).text();
};

/** A command that serves until Ctrl-C, what it counts of the two requests, and how it says so. */
const SERVERS = [
  [
    ["listen", "--port", "0", "--no-ui"],
    { requests: 2, statuses: { 404: 1, 405: 1 } },
    /^2 requests, 1 x 405, 1 x 404$/m,
  ],
  [["jwks", "serve", "--port", "0"], { requests: 1 }, /^1 request for the key set$/m],
  [
    ["service", "start", "--port", "0", "--no-ui", "--db", "s.db"],
    { requests: 2, statuses: expect.any(Object) },
    /^2 requests(, \d x \d{3})+$/m,
  ],
] as const;

describe("what is interrupted leaves the sum so far", () => {
  it.each(SERVERS)("%j", async (words, counts, sentence) => {
    const inWords = await interrupted(words, ask);
    expect([inWords.exit, inWords.said]).toEqual([0, expect.stringMatching(sentence)]);
    const inJson = await interrupted([...words, "--json"], ask);
    expect(inJson.exit).toBe(0);
    expect(JSON.parse(inJson.last)).toEqual({ v: 1, type: "served", ok: true, ...counts });
  });

  it.each([
    [[], /^1 delivered, 0 duplicates, 0 dead letters\nInterrupted with 2 events in the outbox\.\n$/],
    [["--json"], { delivered: 1, incomplete: "Interrupted with 2 events in the outbox." }],
  ] as const)("outbox work --drain %j", async (flags, expected) => {
    const name = `drained${flags.length}.db`;
    const app = await busyApplication();
    const config = { profiles: { offboarding: { target: app.url } } };
    writeFileSync(join(folder, "hookproof.config.json"), JSON.stringify(config), { mode: 0o600 });
    const store = sqliteStore({ open: () => openSqlite(join(folder, name)) });
    const outbox = createOutbox({ store, listeners: { offboarding: LISTENER }, quiet: true });
    await outbox.enqueue([1, 2, 3].map((n) => ({ listener: "offboarding" as const, payload: { n } })));
    await store.close();
    const words = [
      "outbox",
      "work",
      "--drain",
      "--concurrency",
      "1",
      "--outbox",
      name,
      "--allow-origin",
      new URL(app.url).origin,
      ...flags,
    ];
    const { exit, last, said } = await interrupted(words, () => app.isBusy, app.fail);
    expect(exit).toBe(130);
    if (expected instanceof RegExp) expect(said).toMatch(expected);
    else
      expect(JSON.parse(last)).toEqual({
        v: 1,
        type: "worked",
        ok: false,
        duplicate: 0,
        dead: 0,
        ...expected,
      });
  });
});

/** An application that takes one event and holds the next; `fail` lets it answer 503 to that one and to all others. */
async function busyApplication() {
  let requests = 0;
  const busy = later();
  const failed = later();
  const server = createServer(async (request, response) => {
    request.resume();
    requests++;
    if (requests === 1) return void response.end();
    busy.resolve();
    await failed.promise;
    response.writeHead(503).end();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/api/v1/webhooks/incoming/lst_1`;
  return { url, isBusy: busy.promise, fail: () => failed.resolve() };
}

/** A promise that is resolved from outside. */
function later() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
