import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeListener } from "hookproof/node";
import { createReceiver, type ReceiverOptions, type Verdict } from "hookproof/receiver";
import { afterEach, describe, expect, it } from "vitest";
import { BASE_URL, clock, hmacParts, type Parts, SECRET } from "../kit/hostile-target.js";
import { type Answer, exchange, type Line, requestBytes } from "../kit/raw-http.js";

let server: Server;
let runs: number;
let verdicts: Verdict[];

afterEach(() => new Promise<unknown>((resolve) => server.close(resolve)));

/** The documented use: a receiver on a server of node:http with nothing set but, perhaps, its limit of headers. */
async function start(
  maxHeadersCount?: number,
  options: Partial<ReceiverOptions> & { allowedCidrs?: string[] } = {},
): Promise<void> {
  const { allowedCidrs, ...rest } = options;
  runs = 0;
  verdicts = [];
  const receiver = createReceiver({
    listener: { id: "lst_1", baseUrl: BASE_URL, auth: { method: "hmac", secret: SECRET }, allowedCidrs },
    clock,
    onVerdict: (verdict) => verdicts.push(verdict),
    ...rest,
  });
  await listen(
    createServer(
      toNodeListener(receiver, async () => {
        runs++;
      }),
    ),
  );
  if (maxHeadersCount !== undefined) server.maxHeadersCount = maxHeadersCount;
}

async function listen(made: Server): Promise<void> {
  server = made;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
}

function send(parts: Parts): Promise<Answer> {
  return exchange((server.address() as AddressInfo).port, requestBytes(parts));
}

const filler = (count: number) => Array.from({ length: count }, (): Line => ["a", ""]);

/** A good request with lines before its headers, but for Host, without which Node answers itself, and others behind. */
function surrounded(before: readonly Line[], after: readonly Line[] = []): Parts {
  const parts = hmacParts("lst_1");
  const [host, ...others] = parts.headers;
  return { ...parts, headers: [host as Line, ...before, ...others, ...after] };
}

describe("a node:http server that drops header lines", () => {
  const doubled: [string, Line][] = [
    ["an event id", ["Webhook-Event-Id", "11111111-1111-4111-8111-111111111111"]],
    ["a timestamp", ["Webhook-Timestamp", "1"]],
    ["a signature", ["Webhook-Signature", "A".repeat(43)]],
    ["a Content-Type", ["Content-Type", "text/plain"]],
  ];

  it.each(doubled)("%s that stands twice, the second one where Node has stopped", async (_name, line) => {
    await start();
    const answer = await send(surrounded([], [...filler(2_000), line]));
    expect([answer.status, answer.code]).toEqual([431, "HEADERS_TOO_MANY"]);
    expect(answer.header("Connection")).toBe("close");
    expect(verdicts).toMatchObject([{ code: "HEADERS_TOO_MANY", checks: [{}, {}, { step: "headers" }] }]);
    expect(runs).toBe(0);
  });

  it("cannot be had behind a proxy that appends the true source", async () => {
    await start(undefined, { allowedCidrs: ["198.51.100.0/24"], trustedProxies: ["127.0.0.1/32"] });
    const forged: Line = ["X-Forwarded-For", "198.51.100.7"];
    const added: Line = ["X-Forwarded-For", "203.0.113.66"];
    expect((await send(surrounded([forged], [added]))).status).toBe(403);
    expect((await send(surrounded([forged, ...filler(2_000)], [added]))).status).toBe(431);
    expect(runs).toBe(0);
  });

  it("whatever the number of lines, there is no 200 that has not seen the last one", async () => {
    await start();
    const last: Line = ["Webhook-Event-Id", "11111111-1111-4111-8111-111111111111"];
    const seen = new Set<number>();
    for (let count = 960; count <= 1_060; count += 4) {
      const { status } = await send(surrounded([], [...filler(count), last]));
      seen.add(status);
    }
    expect([...seen].sort()).toEqual([400, 431]);
    expect(runs).toBe(0);
  });

  it("takes as many as it keeps, by default and by the server's own limit", async () => {
    await start();
    expect((await send(surrounded(filler(900)))).status).toBe(200);
    server.maxHeadersCount = 100;
    expect((await send(surrounded(filler(80)))).status).toBe(200);
    expect((await send(surrounded(filler(100)))).status).toBe(431);
    server.maxHeadersCount = 0;
    expect((await send(surrounded(filler(2_500)))).status).toBe(200);
    expect(runs).toBe(3);
  });
});
