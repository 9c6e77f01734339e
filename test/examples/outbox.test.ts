import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getRequestListener } from "@hono/node-server";
import { createFakeReceiver, waitFor } from "hookproof/testing";
import pg from "pg";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { runExample } from "../kit/example-process.js";
import { serve } from "../kit/loopback.js";
import { itWith } from "../kit/needs.js";
import { testPostgres } from "../kit/postgres.js";
import { SECRET } from "../kit/signed-request.js";

it("outbox-sqlite.mjs delivers what it stored, over a crash, and nothing that was rolled back", async () => {
  const folder = mkdtempSync(join(tmpdir(), "outbox-example-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  // The first answer is lost after the event was accepted; then the program is killed.
  const fake = createFakeReceiver([{ accept: true, drop: true }], { secret: SECRET });
  const server = await serve(getRequestListener((request) => fake.handle(request)));
  onTestFinished(server.stop);
  const start = (...users: string[]) => {
    const program = runExample("outbox-sqlite.mjs", users, {
      DATABASE: join(folder, "app.db"),
      LISTENER_URL: `${server.url}/api/v1/webhooks/incoming/lst_offboarding`,
      LISTENER_SECRET: SECRET,
    });
    onTestFinished(() => void program.end("SIGKILL"));
    return program;
  };

  const first = start("u_7", "u_7");
  await waitFor(() => fake.requests.length === 1, { timeoutMs: 20_000 });
  expect(first.printed()).toContain("offboarded u_7\nknew u_7\n");
  await first.end("SIGKILL");

  const second = start("u_7", "u_8");
  const userOf = ({ text }: { text: string }) => (JSON.parse(text) as { userId: string }).userId;
  await waitFor(() => fake.requests.some((request) => userOf(request) === "u_8" && request.status === 200), {
    timeoutMs: 20_000,
  });
  expect(second.printed()).toContain("knew u_7\noffboarded u_8\n");
  expect(await second.end("SIGTERM")).toBe(0);
  // Each event ran once. If the killed program had noted its attempt, the next one sends u_7's event again and
  // learns from a 409 that it ran.
  expect(fake.requests.filter(({ verdict }) => verdict?.ok).map(userOf)).toEqual(["u_7", "u_8"]);
  const again = fake.requests.filter(({ verdict }) => !verdict?.ok);
  expect(again.map((request) => [request.status, userOf(request)])).toEqual(again.map(() => [409, "u_7"]));
  expect(new Set(fake.requests.map(({ eventId }) => eventId)).size).toBe(2);
});

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

itWith("postgresql", postgres).each(["outbox-postgresql.mjs", "outbox-drizzle.mjs"])(
  "%s delivers what it stored, and nothing that was rolled back",
  async (name) => {
    const admin = new pg.Client({ connectionString: postgres?.url });
    await admin.connect();
    const database = `example_${randomUUID().replaceAll("-", "")}`;
    await admin.query(`CREATE DATABASE ${database}`);
    const fake = createFakeReceiver([503], { secret: SECRET });
    const server = await serve(getRequestListener((request) => fake.handle(request)));
    const program = runExample(name, ["u_7", "u_7", "u_8"], {
      DATABASE_URL: Object.assign(new URL(postgres?.url ?? ""), { pathname: `/${database}` }).href,
      LISTENER_URL: `${server.url}/api/v1/webhooks/incoming/lst_offboarding`,
      LISTENER_SECRET: SECRET,
    });
    onTestFinished(async () => {
      await program.end("SIGKILL");
      await server.stop();
      await admin.query(`DROP DATABASE ${database} WITH (FORCE)`);
      await admin.end();
    });
    await waitFor(() => program.printed().split("delivered ").length === 3, { timeoutMs: 20_000 });
    expect(program.printed().match(/(offboarded|knew) u_\d/g)).toEqual([
      "offboarded u_7",
      "knew u_7",
      "offboarded u_8",
    ]);
    expect(await program.end("SIGTERM")).toBe(0);
    const users = fake.requests.map(({ text }) => (JSON.parse(text) as { userId: string }).userId);
    expect(new Set(users)).toEqual(new Set(["u_7", "u_8"]));
    expect(fake.requests.filter(({ status }) => status === 200)).toHaveLength(2);
  },
);
