// docs/guides/orm.md: every block of it is a program of examples/orm, which runs here.
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { getRequestListener } from "@hono/node-server";
import { openSqlite } from "hookproof/node";
import { createFakeReceiver, waitFor } from "hookproof/testing";
import pg from "pg";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { EXAMPLES, runExample } from "../kit/example-process.js";
import { serve } from "../kit/loopback.js";
import { fencedBlocks, ROOT } from "../kit/markdown.js";
import { describeWith, itWith } from "../kit/needs.js";
import { testPostgres } from "../kit/postgres.js";
import { SECRET } from "../kit/signed-request.js";

const FOLDER = join(EXAMPLES, "orm");
const programs = readdirSync(FOLDER).filter((name) => name.endsWith(".mjs") && !name.endsWith("start.mjs"));
const layers = programs
  .map((name) => name.slice(0, -".mjs".length))
  .filter((name) => !name.endsWith("outbox"));
const isInstalled = existsSync(join(FOLDER, "prisma/client"));
const NEEDED = "npm ci --prefix examples/orm and its generate";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

it("the guide's blocks are the programs, word for word, and it has all of them", () => {
  const page = join(ROOT, "docs/guides/orm.md");
  const ofPrograms = programs.map((name) => readFileSync(join(FOLDER, name), "utf8").replace(/^.*\n/, ""));
  expect(new Set(fencedBlocks(page).map(({ text }) => text))).toEqual(new Set(ofPrograms));
  expect(layers.length).toBe(13);
});

/** A listener that refuses once, and an empty database of PostgreSQL. */
async function scene() {
  const fake = createFakeReceiver([503], { secret: SECRET });
  const server = await serve(getRequestListener((request) => fake.handle(request)));
  onTestFinished(server.stop);
  const users = () =>
    fake.requests
      .filter(({ status }) => status === 200)
      .map(({ text }) => (JSON.parse(text) as { userId: string }).userId);
  const env = {
    LISTENER_URL: `${server.url}/api/v1/webhooks/incoming/lst_offboarding`,
    LISTENER_SECRET: SECRET,
  };
  return { users, env };
}

async function database(): Promise<pg.Client & { readonly url: string }> {
  const admin = new pg.Client({ connectionString: postgres?.url });
  await admin.connect();
  const name = `orm_${randomUUID().replaceAll("-", "")}`;
  await admin.query(`CREATE DATABASE ${name}`);
  const url = Object.assign(new URL(postgres?.url ?? ""), { pathname: `/${name}` }).href;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await admin.end();
  });
  return Object.assign(client, { url });
}

/** Runs a program for three users, of whom the second is the first one again, until the events are delivered. */
async function runs(layer: string, start: string, more: Record<string, string>) {
  const { users, env } = await scene();
  const program = runExample(`orm/${start}`, [layer, "u_7", "u_7", "u_8"], { ...env, ...more });
  onTestFinished(() => void program.end("SIGKILL"));
  await waitFor(() => program.printed().split("delivered ").length === 3, { timeoutMs: 30_000 });
  expect(program.printed().match(/(?:offboarded|rolled back) u_\d/g)).toEqual([
    "offboarded u_7",
    "rolled back u_7",
    "offboarded u_8",
  ]);
  expect(users().sort()).toEqual(["u_7", "u_8"]);
  expect(await program.end("SIGTERM")).toBe(0); // it ends by itself: no pool of its is left open
}

describeWith(NEEDED, isInstalled)("examples/orm", () => {
  const onPostgres = layers.filter((layer) => !layer.startsWith("sqlite-"));
  itWith("postgresql", postgres).each(onPostgres)(
    "%s commits user and event together, rolls both back, and delivers",
    async (layer) => {
      const client = await database();
      await runs(layer, "start.mjs", { DATABASE_URL: client.url });
      const { rows } = await client.query(
        "SELECT (SELECT count(*)::int FROM users) AS users, (SELECT count(*)::int FROM hookproof.event) AS events",
      );
      expect(rows).toEqual([{ users: 2, events: 2 }]);
    },
  );

  it.each(layers.filter((layer) => layer.startsWith("sqlite-")))(
    "%s commits user and event together, rolls both back, and delivers",
    async (layer) => {
      const folder = mkdtempSync(join(tmpdir(), "orm-"));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      const file = join(folder, "app.db");
      await runs(layer, "sqlite-start.mjs", { DATABASE: file });
      const db = openSqlite(file, { driver: "libsql" });
      const count = (table: string) => db.prepare(`SELECT count(*) AS n FROM ${table}`).all();
      expect([count("users"), count("hookproof_outbox")]).toEqual([[{ n: 2 }], [{ n: 2 }]]);
      db.close();
    },
  );

  itWith("postgresql", postgres)(
    "every database itself is refused as a transaction, and a collision is the ORM's own error, but for Prisma's",
    async () => {
      const { url } = await database();
      const { env } = await scene();
      const name = relative(EXAMPLES, join(import.meta.dirname, "orm-refusals.mjs"));
      const program = runExample(name, [], { ...env, DATABASE_URL: url });
      onTestFinished(() => void program.end("SIGKILL"));
      await waitFor(() => program.printed().trim().split("\n").length === 9, { timeoutMs: 30_000 });
      for (const line of program.printed().trim().split("\n")) {
        const { name: layer, ...seen } = JSON.parse(line) as Record<string, unknown>;
        expect(seen, String(layer)).toEqual({
          refused: "TypeError",
          said: expect.stringContaining("tx runs its statements outside a transaction"),
          collided: layer === "prisma" ? "OUTBOX_UNAVAILABLE" : "its own",
          stored: 0,
        });
      }
    },
  );
});

describe("outbox-express.mjs", () => {
  itWith("postgresql", postgres)(
    "answers what it has begun, delivers, and ends by itself on SIGTERM, its pool last",
    async () => {
      const client = await database();
      const { users, env } = await scene();
      const program = runExample("outbox-express.mjs", [], { ...env, DATABASE_URL: client.url, PORT: "0" });
      onTestFinished(() => void program.end("SIGKILL"));
      await waitFor(() => program.printed().includes("http://"), { timeoutMs: 30_000 });
      const offboard = (userId: string) =>
        fetch(`${program.printed().trim()}/users/${userId}/offboard`, { method: "POST" });
      expect((await offboard("u_7")).status).toBe(200);
      expect((await offboard("u_7")).status).toBe(500);
      await waitFor(() => users().length === 1, { timeoutMs: 30_000 });
      // A request that waits for a lock while the program is told to end.
      await client.query("BEGIN");
      await client.query("LOCK TABLE users");
      const begun = offboard("u_8");
      const waits =
        "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
      const waiting = async () => {
        await client.query("SELECT pg_stat_clear_snapshot()"); // else a transaction sees what its first look saw
        return (await client.query(waits)).rowCount;
      };
      await expect.poll(waiting).toBe(1);
      const ended = program.end("SIGTERM");
      await client.query("COMMIT");
      expect((await begun).status).toBe(200);
      expect(await ended).toBe(0);
      expect(program.printed()).toContain("ended");
      const { rows } = await client.query("SELECT count(*)::int AS events FROM hookproof.event");
      expect(rows).toEqual([{ events: 2 }]);
    },
  );
});
