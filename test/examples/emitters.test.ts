import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { getRequestListener } from "@hono/node-server";
import { newEventId } from "hookproof";
import { createFakeReceiver, type FakeReceiver, type ScriptedAnswer } from "hookproof/testing";
import { Redis } from "ioredis";
import { afterEach, describe, expect, it, vi } from "vitest";
import { root } from "../kit/built-package.js";
import { EXAMPLES, startExample } from "../kit/example-process.js";
import { serve } from "../kit/loopback.js";
import { itWith } from "../kit/needs.js";
import { hasRedis, testRedis } from "../kit/redis.js";
import { SECRET } from "../kit/signed-request.js";
import { requireBuild } from "../kit/transcript.js";

const stops: (() => unknown)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  vi.doUnmock("next/server");
  vi.resetModules();
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** A listener over HTTP, and what an example has to know of it. */
async function listener(script: readonly ScriptedAnswer[] = []) {
  const fake = createFakeReceiver(script, { secret: SECRET });
  const server = await serve(getRequestListener((request) => fake.handle(request)));
  stops.push(server.stop);
  const url = `${server.url}/api/v1/webhooks/incoming/lst_offboarding`;
  return { fake, env: { LISTENER_URL: url, LISTENER_SECRET: SECRET } };
}

/** The events that arrived with a right signature. */
function accepted({ requests }: FakeReceiver): { eventId: string | undefined; payload: unknown }[] {
  return requests
    .filter(({ verdict, status }) => verdict?.ok && status === 200)
    .map(({ eventId, text }) => ({ eventId, payload: JSON.parse(text) as unknown }));
}

const OFFBOARDED = { type: "user.offboarded", userId: "u_7" };

describe.each(["emit-express.mjs", "emit-fastify.mjs", "emit-hono.mjs"])("%s", (name) => {
  it("sends what its caller caused, and says what became of it", async () => {
    const { fake, env } = await listener([200, 403]);
    const example = await startExample(name, undefined, env);
    stops.push(example.stop);

    const first = await fetch(`${example.url}/users/u_7/offboard`, { method: "POST" });
    const { eventId } = (await first.json()) as { eventId: string };
    expect(first.status).toBe(202);
    expect(accepted(fake)).toEqual([{ eventId, payload: OFFBOARDED }]);

    const second = await fetch(`${example.url}/users/u_8/offboard`, { method: "POST" });
    expect(second.status).toBe(502);
    expect(await second.json()).toMatchObject({ code: "SOURCE_REFUSED" });
  });
});

it("emit-workers.mjs answers at once, and keeps the Worker until the event has arrived", async () => {
  const { fake, env } = await listener();
  const { default: worker } = await import("../../examples/emit-workers.mjs");
  const pending: Promise<unknown>[] = [];
  const context = { waitUntil: (task: Promise<unknown>) => pending.push(task) };
  const request = new Request("https://example.com/users/u_7/offboard", { method: "POST" });
  const response = await worker.fetch(request, env, context);
  const { eventId } = (await response.json()) as { eventId: string };
  expect(fake.requests).toEqual([]);
  await Promise.all(pending);
  expect(accepted(fake)).toEqual([{ eventId, payload: OFFBOARDED }]);
});

it("emit-next-route.mjs sends after its answer", async () => {
  const { fake, env } = await listener();
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const tasks: (() => Promise<void>)[] = [];
  vi.doMock("next/server", () => ({ after: (task: () => Promise<void>) => tasks.push(task) }));
  const { POST } = await import("../../examples/emit-next-route.mjs");
  const response = await POST(new Request("https://example.com/users/u_7/offboard", { method: "POST" }), {
    params: Promise.resolve({ id: "u_7" }),
  });
  const { eventId } = (await response.json()) as { eventId: string };
  expect(fake.requests).toEqual([]);
  for (const task of tasks) await task();
  expect(accepted(fake)).toEqual([{ eventId, payload: OFFBOARDED }]);
});

it("emit-lambda.mjs gives back what was refused, and keeps ids over repeats", async () => {
  const { fake, env } = await listener([200, 403]);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const { handler } = await import("../../examples/emit-lambda.mjs");
  const ids = [newEventId(), newEventId()];
  const Records = ids.map((eventId, i) => ({
    messageId: `m_${i}`,
    body: JSON.stringify({ eventId, payload: OFFBOARDED }),
  }));
  expect(await handler({ Records })).toEqual({ batchItemFailures: [{ itemIdentifier: "m_1" }] });
  expect(await handler({ Records: Records.slice(1) })).toEqual({ batchItemFailures: [] });
  expect(accepted(fake).map(({ eventId }) => eventId)).toEqual(ids);
});

itWith("redis-server", hasRedis())(
  "emit-queue-worker.mjs takes up what an earlier worker left, and each job is one event",
  async () => {
    const redis = await testRedis();
    if (!redis) throw new Error("there is no Redis");
    stops.push(redis.stop);
    const { prefix, drop } = redis.keyPrefix();
    stops.push(drop);
    const client = new Redis(redis.url);
    stops.push(() => client.disconnect());
    const { fake, env } = await listener();
    const job = (userId: string) => JSON.stringify({ eventId: newEventId(), payload: { userId } });
    await client.lpush(`${prefix}jobs:taken`, job("u_1"));
    await client.lpush(`${prefix}jobs`, job("u_2"), job("u_3"));

    const command = [join(EXAMPLES, "emit-queue-worker.mjs")];
    const worker = spawn(process.execPath, command, {
      env: { ...process.env, ...env, REDIS_URL: redis.url, QUEUE: `${prefix}jobs` },
      stdio: ["ignore", "pipe", "inherit"],
    });
    stops.push(async () => {
      worker.kill();
      await once(worker, "exit");
    });
    await expect
      .poll(async () => [
        accepted(fake).map(({ payload }) => payload),
        await client.llen(`${prefix}jobs:taken`),
      ])
      .toEqual([[{ userId: "u_1" }, { userId: "u_2" }, { userId: "u_3" }], 0]);
  },
);

it("github-action.yml: its step sends the webhook, with the secret in the environment alone", async () => {
  requireBuild();
  const { fake, env } = await listener();
  const workflow = readFileSync(join(EXAMPLES, "github-action.yml"), "utf8");
  const [, step = ""] = /run: \|\n([\s\S]*)$/.exec(workflow) ?? [];
  expect(workflow.match(/secrets\./g)).toHaveLength(1);

  const folder = mkdtempSync(join(tmpdir(), "hookproof-action-"));
  stops.push(() => rmSync(folder, { recursive: true }));
  // npx would fetch the published package; here it is the one of this checkout.
  writeFileSync(
    join(folder, "npx"),
    `#!/bin/bash\n[ "$1 $2 $3 $4" = "--yes --package hookproof-cli@0.1.0 hookproof" ] || exit 99\nexec node ${root}/cli/bin/hookproof.cjs "\${@:5}"\n`,
  );
  chmodSync(join(folder, "npx"), 0o755);
  await promisify(execFile)("bash", ["-euo", "pipefail", "-c", step], {
    env: {
      PATH: `${folder}:${process.env.PATH}`,
      HOME: folder,
      LISTENER_URL: env.LISTENER_URL,
      HOOKPROOF_SECRET: SECRET,
      TAG: "v1.2.3",
    },
  });
  expect(accepted(fake).map(({ payload }) => payload)).toEqual([
    { type: "release.published", tag: "v1.2.3" },
  ]);
});
