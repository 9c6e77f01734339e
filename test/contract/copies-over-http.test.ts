import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { postgresReplayStore, sqliteReplayStore } from "hookproof/node";
import type { ReceivedRequest } from "hookproof/receiver";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { betterSqlite3 } from "../support/better-sqlite3.js";
import { exchange } from "../support/loopback.js";
import { openSqlite, type StorePlace } from "../support/open-replay-store.js";
import { testPostgres } from "../support/postgres.js";
import { testRedis } from "../support/redis.js";
import { signedRequest } from "../support/signed-request.js";
import type { CopiesProcessOptions, CopiesReport, RunOutcome } from "./copies-process.js";

const HANG_GUARD_MS = 60_000;
/** The reservation of the process that is killed; the others have the default, so that load never ends theirs. */
const KILLED_RESERVATION_MS = 500;

interface Server {
  readonly child: ChildProcess;
  readonly url: string;
}

interface PreparedPlace {
  readonly place: StorePlace;
  drop(): unknown;
}

const [postgres, redis] = await Promise.all([testPostgres(), testRedis()]);
afterAll(async () => {
  await Promise.all([postgres?.stop(), redis?.stop()]);
});

async function sqlitePlace(kind: "better-sqlite3" | "libsql"): Promise<PreparedPlace> {
  const folder = mkdtempSync(join(tmpdir(), "hookproof-copies-"));
  const where = join(folder, "ids.db");
  const db = openSqlite(kind, where);
  sqliteReplayStore(db).createTable();
  db.close();
  return { place: { kind, where }, drop: () => rmSync(folder, { recursive: true }) };
}

async function postgresPlace(): Promise<PreparedPlace> {
  const { url, schema } = postgres as NonNullable<typeof postgres>;
  const { name, pool, drop } = await schema();
  await postgresReplayStore(pool).createTable();
  return { place: { kind: "postgres", where: url, space: name }, drop };
}

async function redisPlace(): Promise<PreparedPlace> {
  const { url, keyPrefix } = redis as NonNullable<typeof redis>;
  const { prefix, drop } = keyPrefix();
  return { place: { kind: "redis", where: url, space: prefix }, drop };
}

async function startServer(options: CopiesProcessOptions): Promise<Server> {
  const script = join(import.meta.dirname, "copies-process.ts");
  const execArgv = ["--import", "tsx", "--conditions=source"];
  const child = fork(script, [JSON.stringify(options)], { execArgv });
  const [{ url }] = await once(child, "message");
  return { child, url };
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
  const runs: number[] = [];
  const toEnd: (() => void)[] = [];
  const watched = servers.map(({ child }) => {
    const hear = (report: CopiesReport) => {
      if (report.event === "request") arrived++;
      if (report.event === "run") {
        const isAccepted = runs.push(Date.now()) > 1 || firstRunIsAccepted;
        toEnd.push(() => child.send({ run: report.run, isAccepted } satisfies RunOutcome));
      }
      if (arrived === copies) for (const end of toEnd.splice(0)) end();
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
  for (const stop of watched) stop();
  return { answers, runs };
}

const stores: [string, isThere: boolean, processes: number, () => Promise<PreparedPlace>][] = [
  ["memory", true, 1, async () => ({ place: { kind: "memory" }, drop() {} })],
  ["better-sqlite3", betterSqlite3() !== undefined, 2, () => sqlitePlace("better-sqlite3")],
  ["libsql", true, 2, () => sqlitePlace("libsql")],
  ["PostgreSQL", postgres !== undefined, 2, postgresPlace],
  ["Redis", redis !== undefined, 2, redisPlace],
];

for (const [name, isThere, processes, prepare] of stores) {
  describe.skipIf(!isThere)(`copies of one event over HTTP, ids in ${name}`, () => {
    let prepared: PreparedPlace;
    let servers: Server[] = [];
    beforeAll(async () => {
      prepared = await prepare();
      const starting = Array.from({ length: processes }, () => startServer({ place: prepared.place }));
      servers = await Promise.all(starting);
    }, HANG_GUARD_MS);
    afterAll(async () => {
      await Promise.all(servers.map(kill));
      await prepared.drop();
    });

    const counts = [1, 2].slice(0, processes);
    for (const [count, copies] of counts.flatMap((count) =>
      [50, 200].map((copies) => [count, copies] as const),
    )) {
      const sent = `of ${copies} at ${count} server process${count > 1 ? "es" : ""}`;

      it(`${sent} one runs and is accepted`, { timeout: HANG_GUARD_MS }, async () => {
        const { answers, runs } = await sendCopies(servers.slice(0, count), await signedRequest(), {
          copies,
        });
        expect(answers).toEqual({ 200: 1, "409 EVENT_DUPLICATE": copies - 1 });
        expect(runs).toHaveLength(1);
      });

      it(`${sent} another one runs after the first run failed`, { timeout: HANG_GUARD_MS }, async () => {
        const request = await signedRequest();
        const options = { copies, firstRunIsAccepted: false };
        const { answers, runs } = await sendCopies(servers.slice(0, count), request, options);
        expect(answers).toEqual({ 200: 1, "503 RUN_FAILED": 1, "409 EVENT_DUPLICATE": copies - 2 });
        expect(runs).toHaveLength(2);
      });
    }

    // Ids in memory die with their process: there is nothing to take over.
    it.skipIf(processes === 1)(
      "a process killed during its run leaves the event to one of 200 copies, once its reservation is over",
      { timeout: HANG_GUARD_MS },
      async () => {
        const request = await signedRequest();
        const holder = await startServer({
          place: prepared.place,
          reservationMs: KILLED_RESERVATION_MS,
        });
        const running = new Promise<void>((resolve) => {
          holder.child.on("message", ({ event }: CopiesReport) => event === "run" && resolve());
        });
        const sentAt = Date.now();
        const unanswered = expect(send(holder, request)).rejects.toMatchObject({ code: "ECONNRESET" });
        await running;
        await kill(holder);
        await unanswered;

        const { answers, runs } = await sendCopies(servers, request, { copies: 200 });
        expect(answers).toEqual({ 200: 1, "409 EVENT_DUPLICATE": 199 });
        expect(runs).toHaveLength(1);
        expect((runs[0] as number) - sentAt).toBeGreaterThanOrEqual(KILLED_RESERVATION_MS);
        expect((await sendCopies(servers, request, { copies: 2 })).runs).toEqual([]);
      },
    );
  });
}
