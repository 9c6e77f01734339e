import { createReceiver } from "hookproof/receiver";
import { redisReplayStore } from "hookproof/replay";
import { replayStoreContract } from "hookproof/testing";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { describeWith } from "../kit/needs.js";
import { freePort } from "../kit/own-server.js";
import { testRedis } from "../kit/redis.js";
import { LISTENER, signedRequest } from "../kit/signed-request.js";

const redis = await testRedis();
afterAll(() => redis?.stop());

describeWith("redis-server", redis)("redisReplayStore", () => {
  const url = redis?.url ?? "";
  const ioredis = new Redis(url, { lazyConnect: true });
  const nodeRedis = createClient({ url });
  beforeAll(async () => {
    await ioredis.connect();
    await nodeRedis.connect();
  });
  afterAll(async () => {
    ioredis.disconnect();
    nodeRedis.destroy();
  });

  let keys: { prefix: string; drop(): Promise<void> };
  beforeEach(() => {
    keys = (redis as NonNullable<typeof redis>).keyPrefix();
  });
  afterEach(() => keys.drop());

  for (const [driver, client] of [["ioredis", ioredis] as const, ["redis", nodeRedis] as const]) {
    for (const { name, run } of replayStoreContract) {
      it(`${driver}: ${name}`, () =>
        run({
          open: () => redisReplayStore({ client, keyPrefix: keys.prefix }),
          async passTime(ms) {
            for (const key of await ioredis.keys(`${keys.prefix}*`))
              await ioredis.pexpire(key, (await ioredis.pttl(key)) - ms);
          },
        }));
    }

    it(`${driver}: an event runs once`, async () => {
      const replayStore = redisReplayStore({ client, keyPrefix: keys.prefix });
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

it("a server that is not there is 503 with Retry-After", async () => {
  const client = new Redis({ host: "127.0.0.1", port: await freePort(), password: "hush" });
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
