import { setImmediate, setTimeout } from "node:timers/promises";
import { createSender, hmacSigner, type SenderOptions, type Transport } from "hookproof";
import { describe, expect, it } from "vitest";
import { heldMemory } from "../kit/held-memory.mjs";
import { receiverServer, SECRET } from "../kit/receiver-server.js";

const okAnswer = { status: 200, headers: [], body: new Uint8Array(), truncated: false };
const url = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";

function over(transport: Transport, options: Partial<SenderOptions> = {}) {
  return createSender({
    url,
    signer: hmacSigner({ secret: SECRET }),
    transport,
    wait: async () => {},
    ...options,
  });
}

/** The number a request's body says, for transports that treat events differently. */
const numberIn = (body: Uint8Array | undefined): number => JSON.parse(Buffer.from(body ?? []).toString()).n;

async function* counting(upTo: number, seen: { drawn: number; closed?: boolean }) {
  try {
    for (let n = 0; n < upTo; n++) {
      seen.drawn = n + 1;
      yield { n };
    }
  } finally {
    seen.closed = true;
  }
}

describe("sendMany", () => {
  it("keeps the order of the payloads over real connections, whatever takes how long", async () => {
    const server = await receiverServer({
      async intercept(request, response, receive) {
        if (server.requests.length % 3 === 0) await setTimeout(2);
        await receive(request, response);
      },
    });
    const sender = createSender({ url: server.url, signer: hmacSigner({ secret: SECRET }) });
    const payloads = Array.from({ length: 200 }, (_, n) => (n % 50 === 7 ? { n: BigInt(n) } : { n }));
    const given: Iterable<unknown> = payloads; // of a list the compiler would refuse what JSON loses
    const codes: string[] = [];
    for await (const result of sender.sendMany(given)) codes.push(result.ok ? result.outcome : result.code);
    expect(codes).toEqual(payloads.map((_, n) => (n % 50 === 7 ? "PAYLOAD_NOT_JSON" : "accepted")));
    expect(server.runs.size).toBe(196);
    expect(server.connections.length).toBeLessThanOrEqual(8);
    await server.stop();
  });

  it("never has more in flight than its concurrency, and draws no further ahead", async () => {
    let inFlight = 0;
    let most = 0;
    const seen = { drawn: 0 };
    let taken = 0;
    const sender = over(async () => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await setImmediate();
      inFlight -= 1;
      return okAnswer;
    });
    for await (const result of sender.sendMany(counting(500, seen), { concurrency: 7 })) {
      expect(result.ok).toBe(true);
      taken += 1;
      expect(seen.drawn - taken).toBeLessThanOrEqual(7);
    }
    expect(most).toBe(7);
  });

  it("gives a result while the source is still thinking about its next item", async () => {
    async function* slow() {
      yield { n: 0 };
      await new Promise(() => {});
    }
    const results = over(async () => okAnswer).sendMany(slow());
    expect(await results.next()).toMatchObject({ done: false, value: { ok: true } });
    await results.return();
  });

  it("finishes what it started when its consumer leaves, and closes the source", async () => {
    const seen = { drawn: 0, closed: false };
    const sent: number[] = [];
    const sender = over(async ({ body }) => {
      await setImmediate();
      sent.push(numberIn(body));
      return okAnswer;
    });
    for await (const _result of sender.sendMany(counting(100, seen), { concurrency: 4 })) break;
    expect(seen.closed).toBe(true);
    expect(sent.length).toBe(seen.drawn);
    expect(sent.length).toBeLessThanOrEqual(5);
  });

  it("stops drawing when it is aborted", async () => {
    const seen = { drawn: 0, closed: false };
    const controller = new AbortController();
    const results: boolean[] = [];
    const sender = over(async ({ body, signal }) => {
      if (numberIn(body) === 20) controller.abort();
      signal?.throwIfAborted();
      return okAnswer;
    });
    const many = sender.sendMany(counting(1_000_000, seen), { concurrency: 4, signal: controller.signal });
    for await (const { ok } of many) results.push(ok);
    expect(seen).toEqual({ drawn: results.length, closed: true });
    expect(results.length).toBeLessThanOrEqual(25);
    expect(results.slice(0, 20)).toEqual(Array(20).fill(true));
    expect(results[20]).toBe(false);
  });

  it.each(["async", "plain"])(
    "ends with the source's own error (%s), after the results it owes",
    async (kind) => {
      function* plain() {
        yield { n: 0 };
        yield { n: 1 };
        throw new Error("the database went away");
      }
      async function* asynchronous() {
        yield* plain();
      }
      const results: unknown[] = [];
      const run = async () => {
        const source = kind === "plain" ? plain() : asynchronous();
        for await (const { ok } of over(async () => okAnswer).sendMany(source)) results.push(ok);
      };
      await expect(run()).rejects.toThrow("the database went away");
      expect(results).toEqual([true, true]);
    },
  );

  it("refuses a concurrency that is none", () => {
    expect(() => over(async () => okAnswer).sendMany([], { concurrency: 0 })).toThrow(RangeError);
    expect(() => over(async () => okAnswer).sendMany([], { concurrency: 1.5 })).toThrow(RangeError);
  });

  const events = process.env.HOOKPROOF_LONG ? 1_000_000 : 40_000;
  const sampleEvery = events / 20;
  it(`needs no more memory for ${events} events than for 20,000`, async () => {
    const sender = over(async () => okAnswer);
    const heap: number[] = [];
    let taken = 0;
    for await (const result of sender.sendMany(counting(events, { drawn: 0 }), { concurrency: 50 })) {
      if (!result.ok) throw result.error;
      taken += 1;
      // By 20,000 the guard against reused ids is full.
      if (taken >= 20_000 && taken % sampleEvery === 0) heap.push((await heldMemory()).heap);
    }
    expect(taken).toBe(events);
    const half = heap.length / 2;
    const [early, late] = [Math.min(...heap.slice(0, half)), Math.min(...heap.slice(half))];
    if (process.env.HOOKPROOF_LONG)
      console.log(`${events} events: heap ${early} bytes in the first half, ${late} in the second`);
    expect(late - early).toBeLessThan(1024 * 1024);
  });
});
