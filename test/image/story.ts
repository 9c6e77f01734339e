import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";

/** What `docker compose up` has started, or its stand-in. The ports are those of compose.yaml. */
export interface Running {
  /** Runs SQL in the database `app`, and gives the only value of the answer. */
  sql(text: string): Promise<string>;
  /** What a service has written so far: both streams. */
  log(service: string): Promise<string>;
  /** Ends a service as the platform does, with SIGTERM; gives its exit code and how long it took. */
  stop(service: string): Promise<{ code: number; ms: number }>;
  /** What the image's HEALTHCHECK says in a service. */
  health(service: string): Promise<boolean>;
}

/** The services that go on running. */
const SERVERS = ["worker", "listener", "outbox-page"];

/**
 * Follows an event that SQL enqueues to the listener, the page and the metrics, and ends the services; throws where it
 * is not to be seen. `seenAt` is when it was to be seen everywhere, by `performance.now()`.
 */
export async function follow(running: Running): Promise<{ eventId: string; seenAt: number }> {
  for (const service of SERVERS) await until(`${service} is healthy`, () => running.health(service));
  const eventId = await running.sql(
    `SELECT hookproof.enqueue('offboarding', '{"type":"user.offboarded","userId":"u_1"}')`,
  );
  assert.match(eventId, /^[0-9a-f-]{36}$/);

  const counted = /^hookproof_outbox_deliveries_total\{[^}]*hookproof_listener="offboarding"[^}]*\} 1$/m;
  await until("the delivery is counted", async () =>
    counted.test(await (await fetch("http://127.0.0.1:9464/metrics")).text()),
  );

  const page = await pageOf(running, "outbox-page", "url");
  assert.match(await (await fetch(page.address)).text(), /<script/);
  const overview = (await page.api("overview")) as { listeners: { listener: string; delivered: number }[] };
  assert.deepEqual(
    overview.listeners.map(({ listener, delivered }) => [listener, delivered]),
    [["offboarding", 1]],
  );
  const events = (await page.api(`events/${eventId}`)) as { state: string; attempts: unknown[] }[];
  assert.deepEqual(
    events.map(({ state, attempts }) => [state, attempts.length]),
    [["delivered", 1]],
  );

  const inspector = await pageOf(running, "listener", "inspectorUrl");
  const requests = JSON.stringify(await inspector.api("requests"));
  assert.ok(requests.includes(eventId), `the inspector does not show ${eventId}: ${requests}`);

  const seenAt = performance.now();

  for (const service of SERVERS) {
    const { code, ms } = await running.stop(service);
    assert.equal(code, 0, `${service}: ${await running.log(service)}`);
    assert.ok(ms < 9_000, `${service} took ${ms} ms to end`);
    // Whoever collects the logs can parse each line, warnings too.
    for (const document of await documentsOf(running, service)) assert.equal(document.v, 1);
  }
  const warnings = (await documentsOf(running, "worker")).filter(({ type }) => type === "warning");
  assert.equal(warnings.length, 1, "--http 0.0.0.0 says what it opens, and nothing else is wrong");
  const all = (await Promise.all(SERVERS.map((service) => running.log(service)))).join("\n");
  const password = await running.sql("SELECT trim(pg_read_file('/run/secrets/postgres'))").catch(() => "");
  assert.ok(password === "" || !all.includes(password), "a log has the database's password");
  return { eventId, seenAt };
}

async function documentsOf(running: Running, service: string): Promise<Record<string, unknown>[]> {
  const lines = (await running.log(service)).split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** A page by the address that its service has printed, which ends in its token. */
async function pageOf(running: Running, service: string, member: string) {
  const printed = (await documentsOf(running, service)).find(({ type }) => type === "listening");
  const url = new URL(String(printed?.[member]));
  const token = url.hash.replace(/^#t=/, "");
  return {
    address: url.origin,
    async api(path: string): Promise<unknown> {
      const answer = await fetch(`${url.origin}/api/${path}`, { headers: { "Inspector-Token": token } });
      assert.equal(answer.status, 200, path);
      return answer.json();
    },
  };
}

export async function until(what: string, isSo: () => Promise<boolean>, withinMs = 60_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await isSo().catch(() => false))) {
    assert.ok(performance.now() < end, `within ${withinMs} ms: ${what}`);
    await wait(100);
  }
}
