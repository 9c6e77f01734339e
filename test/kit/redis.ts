import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { Redis } from "ioredis";
import { heldPort } from "./held-port.mjs";
import { dataFolder, startOwnServer } from "./own-server.js";

/** A Redis server for tests: the one of TEST_REDIS_URL, or one of its own. */
export interface TestRedis {
  readonly url: string;
  /** A prefix nobody else uses; `drop` removes every key under it. */
  keyPrefix(): { prefix: string; drop(): Promise<void> };
  stop(): Promise<void>;
}

const SERVER = "/usr/bin/redis-server";

/** Whether `testRedis` gives a server. */
export const hasRedis = () => Boolean(process.env.TEST_REDIS_URL) || existsSync(SERVER);

/** Finds or starts a Redis server; `undefined` where there is none (see `itWith`). */
export async function testRedis(): Promise<TestRedis | undefined> {
  const url = process.env.TEST_REDIS_URL;
  if (url) return handle(url, async () => {});
  if (!hasRedis()) return undefined;

  const folder = await dataFolder("redis");
  const port = await heldPort();
  const own = `redis://127.0.0.1:${port}`;
  const server = await startOwnServer(
    [SERVER, "--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder],
    folder,
    () => answers(own),
  );
  return handle(own, server.stop);
}

async function answers(url: string): Promise<boolean> {
  const limits = { connectTimeout: 1_000, commandTimeout: 1_000, maxRetriesPerRequest: 0 };
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, ...limits });
  client.on("error", () => {});
  try {
    await client.connect();
    return (await client.ping()) === "PONG";
  } catch {
    return false;
  } finally {
    client.disconnect();
  }
}

function handle(url: string, stop: () => Promise<void>): TestRedis {
  return {
    url,
    stop,
    keyPrefix() {
      const prefix = `hookproof-test:${randomUUID()}:`;
      return {
        prefix,
        async drop() {
          const client = new Redis(url);
          const keys = await client.keys(`${prefix}*`);
          if (keys.length > 0) await client.del(keys);
          client.disconnect();
        },
      };
    },
  };
}
