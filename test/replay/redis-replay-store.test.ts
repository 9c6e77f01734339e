import { createReceiver } from "hookproof/receiver";
import { redisReplayStore } from "hookproof/replay";
import { replayStoreContract } from "hookproof/testing";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { driver } from "../kit/drivers.js";
import { heldPort } from "../kit/held-port.mjs";
import { describeWith, itWith } from "../kit/needs.js";
import { TIMEOUT_MS } from "../kit/open-replay-store.js";
import { testRedis } from "../kit/redis.js";
import { LISTENER, signedRequest } from "../kit/signed-request.js";

const redis = await testRedis();
afterAll(() => redis?.stop());

describeWith("redis-server", redis)("redisReplayStore", () => {
  const url = redis?.url ?? "";
  const ioredis = new Redis(url, { lazyConnect: true });
  const nodeRedis = createClient({ url });
  // The next majors, where `npm ci --prefix test/drivers` has brought them.
  const ioredis6 = driver<{ Redis: typeof Redis }>("ioredis-6");
  const redis6 = driver<{ createClient: typeof createClient }>("redis-6");
  const newer = ioredis6 && new ioredis6.Redis(url, { lazyConnect: true });
  const newerNodeRedis = redis6?.createClient({ url });
  beforeAll(async () => {
    await ioredis.connect();
    await nodeRedis.connect();
    await newer?.connect();
    await newerNodeRedis?.connect();
  });
  afterAll(async () => {
    ioredis.disconnect();
    nodeRedis.destroy();
    newer?.disconnect();
    newerNodeRedis?.destroy();
  });

  let keys: { prefix: string; drop(): Promise<void> };
  beforeEach(() => {
    keys = (redis as NonNullable<typeof redis>).keyPrefix();
  });
  afterEach(() => keys.drop());

  const clients = [
    ["ioredis 5", ioredis],
    ["redis 5", nodeRedis],
    ["ioredis 6", newer],
    ["redis 6", newerNodeRedis],
  ] as const;
  for (const [title, found] of clients) {
    const client = found as NonNullable<typeof found>;
    const itWithDriver = itWith("test/drivers", found);
    for (const { name, run } of replayStoreContract) {
      itWithDriver(`${title}: ${name}`, () =>
        run({
          open: () => redisReplayStore({ client, keyPrefix: keys.prefix, timeoutMs: TIMEOUT_MS }),
          async passTime(ms) {
            for (const key of await ioredis.keys(`${keys.prefix}*`))
              await ioredis.pexpire(key, (await ioredis.pttl(key)) - ms);
          },
        }),
      );
    }

    itWithDriver(`${title}: an event runs once`, async () => {
      const replayStore = redisReplayStore({ client, keyPrefix: keys.prefix, timeoutMs: TIMEOUT_MS });
      const receiver = createReceiver({ listener: LISTENER, replayStore });
      const request = await signedRequest();
      let runs = 0;
      const copies = Array.from({ length: 50 }, () => receiver.receive(request, async () => void runs++));
      const statuses = (await Promise.all(copies)).map(({ status }) => status).sort();
      expect([statuses[0], statuses[49], runs]).toEqual([200, 409, 1]);
      expect(new Set(statuses.slice(1))).toEqual(new Set([409]));
    });
  }
});

it("a server that is not there is 503 with Retry-After, once the limit of the store is over", async () => {
  const client = new Redis({ host: "127.0.0.1", port: await heldPort(), password: "hush" });
  client.on("error", () => {});
  const replayStore = redisReplayStore({ client, timeoutMs: 50 });
  const receiver = createReceiver({ listener: LISTENER, replayStore });
  const answer = await receiver.receive(await signedRequest(), async () => {});
  expect([answer.status, Object.fromEntries(answer.headers)["Retry-After"]]).toEqual([503, "1"]);
  client.disconnect();
});

it("names what cannot work", () => {
  expect(() => redisReplayStore({} as never)).toThrow(/^client must be/);
  const client = { call: async () => null };
  expect(() => redisReplayStore({ client, reservationMs: 0.5 })).toThrow(/^reservationMs must be/);
});
