import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ReceivedRequest } from "hookproof/receiver";
import { afterAll, describe, expect, it } from "vitest";
import { betterSqlite3 } from "../kit/better-sqlite3.js";
import { exchange } from "../kit/loopback.js";
import { itWith } from "../kit/needs.js";
import type { StorePlace } from "../kit/open-replay-store.js";
import { type TestPostgres, testPostgres } from "../kit/postgres.js";
import { type TestRedis, testRedis } from "../kit/redis.js";
import { signedRequest } from "../kit/signed-request.js";
import type { CopiesProcessOptions, CopiesReport, RunOutcome } from "./copies-process.js";

/** The reservation of the process that is killed; the others have the default, so that load never ends theirs. */
const KILLED_RESERVATION_MS = 500;

/** One store's receiver in one server process. */
interface Server {
  readonly child: ChildProcess;
  readonly url: string;
}

interface PreparedPlace {
  readonly name: string;
  readonly place: StorePlace;
  drop(): unknown;
}

async function sqlitePlace(kind: "better-sqlite3" | "libsql"): Promise<PreparedPlace> {
  const folder = mkdtempSync(join(tmpdir(), "hookproof-copies-"));
  const where = join(folder, "ids.db");
  return { name: kind, place: { kind, where }, drop: () => rmSync(folder, { recursive: true }) };
}

async function postgresPlace({ url, schema }: TestPostgres): Promise<PreparedPlace> {
  const { name, drop } = await schema();
  return { name: "PostgreSQL", place: { kind: "postgres", where: url, space: name }, drop };
}

function redisPlace({ url, keyPrefix }: TestRedis): PreparedPlace {
  const { prefix, drop } = keyPrefix();
  return { name: "Redis", place: { kind: "redis", where: url, space: prefix }, drop };
}

/** Starts a process, with a server for each of the places. */
async function startServers(options: CopiesProcessOptions): Promise<Server[]> {
  const script = join(import.meta.dirname, "copies-process.ts");
  const execArgv = ["--import", "tsx", "--conditions=source"];
  const child = fork(script, [JSON.stringify(options)], { execArgv });
  const urls = await new Promise<readonly string[]>((resolve, reject) => {
    child.once("exit", () => reject(new Error("the server process ended before it listened")));
    child.once("message", (report: CopiesReport) => report.event === "listening" && resolve(report.urls));
  });
  return urls.map((url) => ({ child, url }));
}

async function kill({ child }: Server): Promise<void> {
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

function send({ url }: Server, request: ReceivedRequest): ReturnType<typeof exchange> {
  return exchange(`${url}${new URL(request.url).pathname}`, request);
}

/**
 * Sends copies of one request to the servers in turn. No run ends before all of them have arrived; `runs` says
 * when each began, and `answers` how often each answer was given.
 */
async function sendCopies(
  servers: readonly Server[],
  request: ReceivedRequest,
  { copies, firstRunIsAccepted = true }: { copies: number; firstRunIsAccepted?: boolean },
): Promise<{ answers: Record<string, number>; runs: readonly number[] }> {
  let arrived = 0;
  let hearLast = () => {};
  // Reports come on another channel than answers; one left unread would be counted among the next copies.
  const allReported = new Promise<void>((resolve) => {
    hearLast = resolve;
  });
  const runs: number[] = [];
  const toEnd: (() => void)[] = [];
  const watched = servers.map(({ child }) => {
    const hear = (report: CopiesReport) => {
      if (report.event === "request") arrived++;
      if (report.event === "run") {
        const isAccepted = runs.push(Date.now()) > 1 || firstRunIsAccepted;
        toEnd.push(() => child.send({ run: report.run, isAccepted } satisfies RunOutcome));
      }
      if (arrived !== copies) return;
      for (const end of toEnd.splice(0)) end();
      hearLast();
    };
    child.on("message", hear);
    return () => child.off("message", hear);
  });

  const answers: Record<string, number> = {};
  const sent = Array.from({ length: copies }, (_, i) => send(servers[i % servers.length] as Server, request));
  for (const [status, body] of await Promise.all(sent)) {
    const { code } = body as { code?: string };
    const answer = code ? `${status} ${code}` : String(status);
    answers[answer] = (answers[answer] ?? 0) + 1;
  }
  await allReported;
  for (const stop of watched) stop();
  return { answers, runs };
}

const [postgres, redis] = await Promise.all([testPostgres(), testRedis()]);
const stores: readonly PreparedPlace[] = [
  { name: "memory", place: { kind: "memory" }, drop() {} },
  ...(betterSqlite3() ? [await sqlitePlace("better-sqlite3")] : []),
  await sqlitePlace("libsql"),
  ...(postgres ? [await postgresPlace(postgres)] : []),
  ...(redis ? [redisPlace(redis)] : []),
];
const places = stores.map(({ place }) => place);
const processes = await Promise.all([startServers({ places }), startServers({ places })]);

afterAll(async () => {
  await Promise.all(processes.map(([server]) => server && kill(server)));
  await Promise.all(stores.map(({ drop }) => drop()));
  await Promise.all([postgres?.stop(), redis?.stop()]);
});

for (const [kind, isThere] of Object.entries({
  "better-sqlite3": betterSqlite3(),
  postgresql: postgres,
  "redis-server": redis,
}))
  if (!isThere) itWith(kind, false)(`copies of one event over HTTP, ids in ${kind}`);

for (const [index, { name, place }] of stores.entries()) {
  const servers = processes.flatMap((process) => process[index] ?? []);
  // Ids in memory are one process's own, and die with it.
  const isShared = place.kind !== "memory";

  describe(`copies of one event over HTTP, ids in ${name}`, () => {
    for (const asked of isShared ? [servers.slice(0, 1), servers] : [servers.slice(0, 1)]) {
      for (const copies of [50, 200]) {
        const sent = `of ${copies} at ${asked.length === 1 ? "one server process" : "two server processes"}`;

        it(`${sent} one runs and is accepted`, async () => {
          expect(await sendCopies(asked, await signedRequest(), { copies })).toEqual({
            runs: [expect.any(Number)],
            answers: { 200: 1, "409 EVENT_DUPLICATE": copies - 1 },
          });
        });

        it(`${sent} another one runs after the first run failed`, async () => {
          const options = { copies, firstRunIsAccepted: false };
          expect(await sendCopies(asked, await signedRequest(), options)).toEqual({
            runs: [expect.any(Number), expect.any(Number)],
            answers: { 200: 1, "503 RUN_FAILED": 1, "409 EVENT_DUPLICATE": copies - 2 },
          });
        });
      }
    }

    if (!isShared) return;
    it("a process killed during its run leaves the event to one of 200 copies", async () => {
      const request = await signedRequest();
      const [holder] = await startServers({ places: [place], reservationMs: KILLED_RESERVATION_MS });
      if (!holder) throw new Error("no server");
      const running = new Promise<string>((resolve) => {
        holder.child.on("message", ({ event }: CopiesReport) => event === "run" && resolve("running"));
      });
      const sentAt = Date.now();
      const answer = send(holder, request).catch(({ code }: NodeJS.ErrnoException) => code);
      expect(await Promise.race([running, answer])).toBe("running");
      await kill(holder);
      expect(await answer).toBe("ECONNRESET");

      const { answers, runs } = await sendCopies(servers, request, { copies: 200 });
      expect(runs).toHaveLength(1);
      expect(answers).toEqual({ 200: 1, "409 EVENT_DUPLICATE": 199 });
      // Not before the dead process's reservation was over.
      expect((runs[0] as number) - sentAt).toBeGreaterThanOrEqual(KILLED_RESERVATION_MS);
      expect((await sendCopies(servers, request, { copies: 2 })).runs).toEqual([]);
    });
  });
}
