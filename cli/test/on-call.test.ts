// Whoever is woken gets from the alert to the cause by what docs/guides/on-call.md says, word for word.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { hmacSigner } from "hookproof";
import { openSqlite } from "hookproof/node";
import { createOutbox, type Outbox } from "hookproof/outbox";
import { sqliteStore } from "hookproof/outbox/sqlite";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { heldPort } from "../../test/kit/held-port.mjs";
import { started } from "../../test/kit/local-server.js";
import { itWith } from "../../test/kit/needs.js";
import { hasTool } from "../../test/kit/outside-tool.js";
import { receiverServer, SECRET } from "../../test/kit/receiver-server.js";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { requireBuild } from "../../test/kit/transcript.js";
import { AT_POSTGRESQL, commandsOfPage, machine } from "./kit/on-call.js";
import { ATTEMPT } from "./kit/other-program.js";

const HOUR = 3_600_000;
const OTHER = "dGhlIG90aGVyIHNpZGUgaGFzIHRoaXMgb25lIGluIGl0cw";

beforeAll(requireBuild);

type Receiver = Awaited<ReturnType<typeof receiverServer>>;
type Answers = Parameters<typeof receiverServer>[0];
const receiving = async (options?: Answers) => (await started(receiverServer(options))) as Receiver;
const answering = (status: number) =>
  receiving({ intercept: (_request, response) => response.writeHead(status).end(`status ${status}`) });

/** The file of an application, and what it does with its outbox so long ago. */
async function stored(
  ago: number,
  work: (outbox: Outbox, store: ReturnType<typeof sqliteStore>) => Promise<unknown>,
) {
  const file = join(temporaryFolder("on-call"), "app.db");
  const store = sqliteStore({ open: () => openSqlite(file), clock: { now: () => Date.now() - ago } });
  const signer = hmacSigner({ secret: SECRET });
  const listener = { url: "http://127.0.0.1:1/api/v1/webhooks/incoming/lst_1", signer };
  const outbox = createOutbox({ store, listeners: { right: listener, offbording: listener } });
  await work(outbox, store);
  await store.close();
  return file;
}

const storing = (ago = 0, count = 1, more: object = {}) =>
  stored(ago, (outbox) =>
    outbox.enqueue(Array.from({ length: count }, (_, n) => ({ listener: "right", payload: { n }, ...more }))),
  );

it("no worker: one that ends at once says why, and what is due can be delivered by hand", async () => {
  const { url, runs } = await receiving();
  const file = await storing();
  const { walk, start } = await machine(file, { right: url });
  expect(await start("env -u HOOKPROOF_SECRET hookproof outbox work")).toMatch(/SECRET[\s\S]*\? 3$/);
  await walk("HookproofNoWorker", {}, [["hookproof outbox work --drain", /1 delivered/]]);
  expect(runs.size).toBe(1);
});

itWith("curl", hasTool("curl", "--version"))(
  "the store cannot be used: the worker has the database's own words",
  async () => {
    const { url } = await receiving();
    const file = await storing();
    const holder = openSqlite(file);
    holder.exec("DROP TABLE hookproof_outbox_bodies");
    onTestFinished(() => void holder.close());
    const { worker, fires, walk } = await machine(file, { right: url });
    await worker();
    await fires("HookproofStoreUnavailable");
    await walk("HookproofStoreUnavailable", {}, [
      ["curl -s http://127.0.0.1:9464/readyz", /no such table: .*hookproof_outbox_bodies/],
    ]);
    await walk("HookproofNoWorker", {}, [["curl -s http://127.0.0.1:9464/readyz", /cannot be used/]]);
  },
);

itWith("curl", hasTool("curl", "--version"))(
  "the file's log was removed: the worker says so before it acknowledges anything",
  async () => {
    const { url } = await receiving();
    const file = await storing();
    const { worker, fires, walk } = await machine(file, { right: url });
    await worker();
    await expect.poll(() => existsSync(`${file}-wal`)).toBe(true);
    rmSync(`${file}-wal`);
    await fires("HookproofStoreUnavailable");
    await walk("HookproofStoreUnavailable", {}, [
      ["curl -s http://127.0.0.1:9464/readyz", /was deleted while it was open: .*app\.db-wal/],
    ]);
  },
);

it("the window closes: the last answer is shown", async () => {
  const { url } = await answering(500);
  const file = await storing(5.5 * 24 * HOUR);
  const { worker, fires, walk, start } = await machine(file, { right: url });
  await worker();
  await fires("HookproofWindowCloses");
  const attempted = () => start("hookproof outbox list --json");
  await expect.poll(attempted).toContain('"status":500');
  await walk("HookproofWindowCloses", { name: "right" }, [
    ["hookproof outbox list --listener <name>", /right .* 500/],
  ]);
});

it("events wait: a pause shows who paused it, and why", async () => {
  const { url } = await receiving();
  const file = await stored(HOUR, async (outbox) => {
    await outbox.enqueue({ listener: "right", payload: {} });
    await outbox.pause("right", { reason: "moving house" });
  });
  const { worker, fires, walk } = await machine(file, { right: url });
  await worker();
  await fires("HookproofEventsWait");
  await walk("HookproofEventsWait", {}, [
    ["hookproof outbox status", /right +paused since .*: moving house/],
  ]);
  await walk("HookproofListenerDown", { name: "right" }, [["hookproof outbox resume <name>", /right/]]);
});

it("events wait: for a name that no worker has, the worker says so", async () => {
  const { url } = await receiving();
  const file = await stored(HOUR, (outbox) => outbox.enqueue({ listener: "offbording", payload: {} }));
  const { worker, fires, walk } = await machine(file, { right: url });
  const { said } = await worker();
  await fires("HookproofEventsWait");
  expect(said()).toContain("The outbox has no such listener");
  await walk("HookproofEventsWait", {}, [["hookproof outbox status", /offbording +1 /]]);
});

it("events wait: one of a key waits behind a dead one until somebody decides", async () => {
  const { url, runs } = await receiving();
  const ids: string[] = [];
  const file = await stored(HOUR, async (outbox, store) => {
    for (let n = 0; n < 2; n++) {
      const { eventId } = await outbox.enqueue({ listener: "right", orderingKey: "u_1", payload: { n } });
      ids.push(eventId);
    }
    const listeners = new Map([["right", { most: 1, windowMs: 604_800_000 }]]);
    const [claimed] = await store.claim({ limit: 1, leaseMs: 60_000, listeners });
    const lease = claimed?.lease ?? expect.fail("nothing was claimed");
    await store.fail(lease, {
      reason: "refused",
      code: "REQUEST_REFUSED",
      attempt: ATTEMPT,
      blocksKey: true,
    });
  });
  const [dead = "", waiting = ""] = ids;
  const { worker, fires, walk, start } = await machine(file, { right: url });
  await worker();
  await fires("HookproofEventsWait");
  const behind = new RegExp(`waits behind ${dead}, dead since`);
  await walk("HookproofEventsWait", { name: "right", id: waiting }, [
    ["hookproof outbox list --listener <name>", behind],
    ["hookproof outbox attempts <id>", behind],
  ]);
  await walk("HookproofEventsWait", { id: dead }, [
    ["hookproof outbox drop <id>", /would be/],
    ["hookproof outbox redrive <id> --place kept", /1 dead letter would be/],
  ]);
  await start(`hookproof outbox redrive ${dead} --place kept --yes`); // as somebody at a terminal says yes
  await expect.poll(() => [...runs.keys()]).toEqual([dead, waiting]);
});

it("a listener refuses: the fingerprint, and what the listener accepts instead", async () => {
  const { url } = await receiving({ auth: { method: "hmac", secret: OTHER } });
  const file = await storing();
  const { worker, fires, walk, start } = await machine(file, { right: url });
  await start(`printf %s '${SECRET}' | hookproof secret set --profile right --secret-file -`);
  await worker();
  await fires("HookproofListenerRefuses");
  await walk("HookproofListenerRefuses", { name: "right", url }, [
    ["hookproof explain 401", /secret/],
    ["hookproof secret show --profile <name>", /[0-9a-f]{8}/],
    ["hookproof test <url>", /secret/],
  ]);
});

it("a listener refuses: as the clock of the worker's machine is off, which the worker says", async () => {
  const { url } = await receiving({ clock: { now: () => Date.now() - 55 * HOUR } });
  const file = await storing();
  const { worker, fires, walk } = await machine(file, { right: url });
  const { said } = await worker();
  await fires("HookproofListenerRefuses");
  expect(said()).toMatch(/clock/);
  await walk("HookproofListenerRefuses", { name: "right", url }, [
    ["hookproof doctor <url>", /clock/i],
    ["hookproof outbox list --listener <name>", /right .* 400/],
  ]);
});

it("dead letters: what was refused, why, and how to bring it back", async () => {
  let broken = true;
  const { url, runs } = await receiving({
    intercept: (request, response, receive) =>
      broken ? response.writeHead(400).end('{"code":"BODY_NOT_JSON"}') : receive(request, response),
  });
  const file = await storing();
  const { worker, fires, walk, start } = await machine(file, { right: url });
  await worker();
  await fires("HookproofDeadLetters");
  await walk("HookproofDeadLetters", { name: "right", code: "REQUEST_REFUSED" }, [
    ["hookproof outbox dead --listener <name>", /REQUEST_REFUSED/],
    ["hookproof explain <code>", /400/],
    ["hookproof outbox redrive --listener <name> --dry-run", /1/],
  ]);
  broken = false;
  expect(await start("hookproof outbox redrive --listener right --yes")).toMatch(/^1 dead letter redriven/m);
  await expect.poll(() => runs.size).toBe(1);
});

it("a listener is down: the doctor says what of the way to it fails", async () => {
  const port = await heldPort();
  const url = `http://127.0.0.1:${port}/api/v1/webhooks/incoming/lst_1`;
  const file = await storing(0, 30);
  const { worker, fires, walk } = await machine(file, { right: url });
  await worker();
  await fires("HookproofListenerDown");
  await walk("HookproofListenerDown", { name: "right", url }, [
    ["hookproof doctor <url>", /refused|ECONNREFUSED/],
    ['hookproof outbox pause <name> --reason "..."', /right/],
    ["hookproof outbox resume <name>", /right/],
  ]);
});

it("a story here or on PostgreSQL runs each command of the page", () => {
  const stories = readFileSync(import.meta.filename, "utf8");
  const untold = commandsOfPage().filter((one) => !stories.includes(one) && !AT_POSTGRESQL.includes(one));
  expect(untold).toEqual([]);
});
