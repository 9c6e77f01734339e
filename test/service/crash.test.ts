import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createEvent, hmacSigner, signRequest, type WebhookEvent } from "hookproof";
import { waitFor } from "hookproof/testing";
import { createService, type Service } from "hookproof-service";
import { afterEach, beforeEach, expect, it } from "vitest";
import { exchange } from "../kit/loopback.js";
import { runningProcesses } from "../kit/processes.js";
import { endedRuns, ownAutomation } from "./own-automation.js";

let folder: string;
const started: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hookproof-service-"));
});
afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** The built service in a process of its own, as a client sees it. */
async function startProcess(db: string): Promise<Pick<Service, "url" | "token"> & { kill(): Promise<void> }> {
  const file = join(import.meta.dirname, "automation-process.mjs");
  const child = spawn(process.execPath, [file, db], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  started.push(child);
  const [line] = await once(createInterface(child.stdout as NodeJS.ReadableStream), "line");
  const { url, token } = JSON.parse(line);
  return {
    url,
    token: async () => token,
    async kill() {
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
  };
}

/** The processes that evaluate expressions, as far as they are not dead and only not buried yet. */
function evaluators(isWanted: (process: { pid: number; parent: number }) => boolean) {
  return runningProcesses()
    .filter(({ command }) => command.includes("cel-process.js"))
    .filter(isWanted);
}

const STEPS = [
  { name: "first", templates: { id: "{{ ctx.trigger.n }}" } },
  // Long enough to be in the middle of it.
  { name: "slow", templates: { all: "{{ ctx.trigger.list.all(a, ctx.trigger.list.all(b, a == b)) }}" } },
  { name: "last", templates: { id: "{{ ctx.first.id }}" } },
];
const LIST = new Array(100).fill(1);

it("finishes after SIGKILL every run whose event it had accepted, and each once", async () => {
  const db = join(folder, "service.db");
  let child = await startProcess(db);
  const own = await ownAutomation(child, { steps: STEPS });
  const path = new URL(own.listenerUrl).pathname;
  const signer = hmacSigner({ secret: own.signingSecret });
  const send = async (base: string, event: WebhookEvent) => {
    const url = `${base}${path}`;
    return (await exchange(url, await signRequest({ url, signer, event })))[0];
  };

  const accepted: WebhookEvent[] = [];
  for (const round of [0, 1]) {
    if (round > 0) child = await startProcess(db);
    for (let n = 0; n < 6; n++) {
      const event = createEvent({ n: round * 6 + n, list: LIST });
      expect(await send(child.url, event)).toBe(200);
      accepted.push(event);
    }
    await child.kill();
  }

  const told: string[] = [];
  const service = await createService({ db, onRun: (run) => told.push(run.eventId) });
  try {
    const runs = await endedRuns(service, own.id, accepted.length);
    expect(runs.map(({ eventId }) => eventId).sort()).toEqual(accepted.map(({ id }) => id).sort());
    for (const run of runs) {
      const { n } = JSON.parse(run.body);
      expect(run).toMatchObject({
        status: "RUN_STATUS_SUCCEEDED",
        steps: [{ result: { id: n } }, { result: { all: true } }, { result: { id: n } }],
      });
    }
    // The kill came in the middle: something was left, and of that nothing is told twice.
    expect(told.length).toBeGreaterThan(0);
    expect(new Set(told).size).toBe(told.length);
    for (const event of accepted) expect(await send(service.url, event)).toBe(409);
    expect(await endedRuns(service, own.id, accepted.length)).toEqual(runs);
  } finally {
    await service.stop();
  }
});

it("goes on behind the last step that was done, after a stop in the middle of a run", async () => {
  const db = join(folder, "service.db");
  const first = await createService({ db });
  const own = await ownAutomation(first, { steps: STEPS });
  const url = own.listenerUrl;
  const signer = hmacSigner({ secret: own.signingSecret });
  const events = Array.from({ length: 3 }, (_, n) => createEvent({ n, list: LIST }));
  for (const event of events) {
    const [status] = await exchange(url, await signRequest({ url, signer, event }));
    expect(status).toBe(200);
  }
  await first.stop();

  const second = await createService({ db });
  const runs = await endedRuns(second, own.id, events.length);
  expect(runs.map(({ status }) => status)).toEqual(events.map(() => "RUN_STATUS_SUCCEEDED"));
  expect(runs.map(({ steps }) => steps.map(({ name }) => name))).toEqual(
    events.map(() => ["first", "slow", "last"]),
  );
  await second.stop();
});

it("leaves no process behind when it is killed in the middle of an expression", async () => {
  const child = await startProcess(join(folder, "service.db"));
  const endless = "ctx.trigger.list.all(a, ctx.trigger.list.all(b, ctx.trigger.list.all(c, a == b)))";
  const own = await ownAutomation(child, { steps: [{ name: "a", condition: endless }] });
  const url = own.listenerUrl;
  const signer = hmacSigner({ secret: own.signingSecret });
  const event = createEvent({ list: LIST });
  const [helper] = evaluators(({ parent }) => parent === started[0]?.pid);
  expect(helper).toBeDefined();
  expect((await exchange(url, await signRequest({ url, signer, event })))[0]).toBe(200);
  await child.kill();
  await waitFor(() => evaluators(({ pid }) => pid === helper?.pid).length === 0, { timeoutMs: 60_000 });
});
