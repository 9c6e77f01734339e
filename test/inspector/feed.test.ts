import { get, type IncomingMessage, type ServerResponse } from "node:http";
import { startServer } from "hookproof-service";
import { describe, expect, it, onTestFinished } from "vitest";
import { type RequestRow, TOKEN_HEADER } from "../../service/src/inspector/contract.js";
import { createFeed } from "../../service/src/inspector/feed.js";
import { heldMemory } from "../kit/held-memory.mjs";
import { inspected } from "./inspected.js";

interface ServerSentEvent {
  readonly name: string;
  readonly data: Record<string, unknown>;
  readonly id: string | undefined;
}

/** Follows server-sent events as a browser does; `close` breaks the connection. */
async function follow(pageUrl: string, query?: string, lastEventId?: string) {
  const { origin, hash } = new URL(pageUrl);
  const url = query === undefined ? pageUrl : `${origin}/api/events${query}`;
  const token = { [TOKEN_HEADER]: hash.slice("#t=".length) };
  const events: ServerSentEvent[] = [];
  const request = get(url, {
    agent: false,
    headers: { ...token, ...(lastEventId ? { "Last-Event-ID": lastEventId } : {}) },
  });
  const response = await new Promise<IncomingMessage>((resolve, reject) =>
    request.once("response", resolve).once("error", reject),
  );
  let text = "";
  let isOver = false;
  response.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    const parts = text.split("\n\n");
    text = parts.pop() ?? "";
    for (const part of parts) {
      const fields = Object.fromEntries(part.split("\n").map((line) => line.split(/: ?(.*)/s).slice(0, 2)));
      if (fields.event) events.push({ name: fields.event, data: JSON.parse(fields.data), id: fields.id });
    }
  });
  response.on("error", () => {});
  response.on("close", () => {
    isOver = true;
  });
  request.on("error", () => {});
  const close = () => void request.destroy();
  onTestFinished(close);
  const rows = () =>
    events.filter(({ name }) => name === "rows").flatMap(({ data }) => data.rows as RequestRow[]);
  return {
    response,
    events,
    rows,
    /** Row numbers in the order in which they came first. */
    numbers: () => [...new Set(rows().map(({ n }) => n))],
    lastId: () => events.findLast(({ id }) => id !== undefined)?.id,
    isOver: () => isOver,
    close,
  };
}

describe("live rows", () => {
  it("come within a moment, and go on where a lost connection ended", async () => {
    const { post, list, page } = await inspected();
    await post();
    const { lastEventId } = await list();
    const one = await follow(page.pageUrl, `?after=${lastEventId}`);
    expect(one.response.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    await post();
    await expect.poll(one.numbers).toEqual([2]);
    one.close();
    await post();
    await post();
    const two = await follow(page.pageUrl, `?after=${lastEventId}`, one.lastId());
    await expect.poll(two.numbers).toEqual([3, 4]);
    expect(two.events.map(({ name }) => name)).not.toContain("reset");
  });

  it("say when a mistake is found, a listener's answers are forced, and the list is cleared", async () => {
    const { post, page, change } = await inspected();
    const feed = await follow(page.pageUrl, "");
    await post({ body: '{"a":2}' });
    await expect.poll(() => feed.rows().at(-1)?.reason).toContain("No known mistake");
    await change("PUT", "api/forced-answer", { listenerId: "lst_1", status: 500 });
    await expect
      .poll(() => feed.events.findLast(({ name }) => name === "forced")?.data)
      .toEqual({ forced: [{ listenerId: "lst_1", status: 500, times: 1 }] });
    await change("DELETE", "api/requests");
    await expect
      .poll(() => feed.events.findLast(({ name }) => name === "dropped")?.data)
      .toEqual({ upTo: 1 });
    await post();
    await expect.poll(() => feed.rows().at(-1)?.n).toBe(2);
  });

  it.each(["", "nonsense", "AAAAAAAA.1", "AAAAAAAA.999999999999999999"])(
    "start again after the id of another run: %j",
    async (id) => {
      const { page } = await inspected();
      const feed = await follow(page.pageUrl, `?after=${id || "x.1"}`);
      await expect.poll(() => feed.events.map(({ name }) => name)).toContain("reset");
      expect(feed.lastId()).toMatch(/^[\w-]{8}\.0$/);
    },
  );

  it("end when the server stops, which does not wait for them", async () => {
    const { page, stop } = await inspected();
    const feed = await follow(page.pageUrl, "");
    await stop();
    await expect.poll(feed.isOver).toBe(true);
  });
});

describe("a feed", () => {
  async function served(options: Parameters<typeof createFeed>[1]) {
    const followed: ServerResponse[] = [];
    const feed = createFeed(
      {
        row: (n) => ({ n, reason: "x".repeat(500) }) as RequestRow,
        droppedUpTo: () => 0,
        forced: () => ({ forced: [] }),
        calls: () => ({ rows: [], droppedUpTo: 0 }),
      },
      { batchMs: 1, ...options },
    );
    const server = await startServer((request, response) => {
      followed.push(response);
      try {
        feed.follow(response, new URL(request.url ?? "/", "http://x").searchParams.get("after") ?? undefined);
      } catch {
        response.writeHead(503).end();
      }
    }, {});
    onTestFinished(async () => {
      feed.close();
      await server.stop();
    });
    return { feed, followed, url: server.url };
  }

  it("tells a client that is too far behind to load again", async () => {
    const { feed, url } = await served({ maxChanges: 10 });
    const start = feed.lastEventId;
    for (let n = 1; n <= 100; n++) feed.rowChanged(n);
    const { events } = await follow(`${url}/?after=${start}`);
    await expect.poll(() => events.map(({ name }) => name)).toEqual(["reset"]);
  });

  it("sends a row that changed often once, in its last state, in batches of a bounded size", async () => {
    const { feed, url } = await served({});
    const client = await follow(url);
    for (let turn = 0; turn < 5; turn++) for (let n = 1; n <= 1_000; n++) feed.rowChanged(n);
    await expect.poll(() => client.numbers().length).toBe(1_000);
    const sizes = client.events.flatMap(({ data }) => (Array.isArray(data.rows) ? [data.rows.length] : []));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(500);
  });

  it("buffers nothing for a client that does not read, and cuts it off", async () => {
    const { feed, followed, url } = await served({ heartbeatMs: 20, stalledMs: 50, maxChanges: 100_000 });
    const stalled = await follow(url);
    stalled.response.pause();
    const before = await heldMemory();
    for (let turn = 0; turn < 60; turn++) {
      for (let n = 1; n <= 1_000; n++) feed.rowChanged(turn * 1_000 + n);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    // 60,000 rows are some 30 MB; a socket's buffers hold less.
    const { heap, buffers } = await heldMemory();
    expect(heap + buffers - before.heap - before.buffers).toBeLessThan(25 * 1024 * 1024);
    await expect.poll(() => followed[0]?.destroyed).toBe(true);
    stalled.response.resume();
    await expect.poll(stalled.isOver).toBe(true);
    expect(stalled.numbers().length).toBeLessThan(60_000);
  });

  it("takes so many clients and no more", async () => {
    const { url } = await served({ maxClients: 2 });
    const statuses = [];
    for (let client = 0; client < 3; client++) statuses.push((await follow(url)).response.statusCode);
    expect(statuses).toEqual([200, 200, 503]);
  });
});

describe("a burst", () => {
  it("of 5,000 requests is recorded and shown to its end, within the bounds", async () => {
    const { post, page, list, inspector, url } = await inspected({ maxRequests: 1_000 });
    const feed = await follow(page.pageUrl, "");
    const { record } = inspector;
    await post();
    const [seen] = [await inspector.detail(1)];
    expect(seen?.url).toBe(url);
    const other = await inspected();
    const beforeRequests = process.cpuUsage();
    for (let n = 0; n < 100; n++) await other.post();
    const requests = process.cpuUsage(beforeRequests);
    const beforeBurst = process.cpuUsage();
    for (let n = 0; n < 5_000; n++) {
      record({
        listenerId: "lst_1",
        status: 401,
        verdict: { ok: false, code: "SIGNATURE_MISMATCH", status: 401, detail: "", checks: [] },
        receivedAt: Date.now(),
        durationMs: 1,
        answer: { headers: [], body: "{}" },
        request: {
          method: "POST",
          url: "/api/v1/webhooks/incoming/lst_1",
          headers: [
            ["Webhook-Timestamp", "1767225600"],
            ["Webhook-Event-Id", `id-${n}`],
            ["Webhook-Signature", "x".repeat(43)],
          ],
          body: Buffer.alloc(1_000, "a"),
        },
      });
      if (n % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    const burst = process.cpuUsage(beforeBurst);
    // Of the processor's time that whole requests take, recording them is a fraction: mostly a twentieth.
    expect((burst.user + burst.system) / 5_000).toBeLessThan((requests.user + requests.system) / 100);
    expect(await list("limit=500")).toMatchObject({ total: 1_000, found: 1_000 });
    await expect.poll(feed.numbers).toContain(5_001);
    await expect
      .poll(() => feed.events.findLast(({ name }) => name === "dropped")?.data)
      .toEqual({ upTo: 4_001 });
  });
});
