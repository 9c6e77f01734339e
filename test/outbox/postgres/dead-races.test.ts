// A dead letter that was found, and that was brought back and died again before it is changed.
import type pg from "pg";
import { afterAll, expect, onTestFinished } from "vitest";
import { itWith } from "../../kit/needs.js";
import { outboxEvent } from "../../kit/outbox-event.js";
import { testPostgres } from "../../kit/postgres.js";
import { testOutbox } from "../../kit/postgres-outbox.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

const WINDOW_MS = 60_000;

itWith("postgresql", postgres).each(["drop", "redrive"] as const)(
  "%s of all changes none that died after it was asked for",
  async (change) => {
    const outbox = testOutbox(postgres?.url ?? "");
    onTestFinished(() => outbox.drop());
    const other = outbox.store();
    const event = outboxEvent("1");
    const listeners = new Map([[event.listener, { most: 1, windowMs: WINDOW_MS }]]);
    const die = async () => {
      for (const { lease } of await other.claim({ limit: 1, leaseMs: WINDOW_MS, listeners }))
        await other.fail(lease, { reason: "refused", code: "REQUEST_REFUSED", blocksKey: false });
    };
    await other.enqueue([event]);
    await die();
    let meanwhile: (() => Promise<void>) | undefined = async () => {
      await other.redrive({}, WINDOW_MS);
      await die();
    };
    /** Does it between the look for dead letters and the change. */
    const store = outbox.store({
      pool: {
        options: outbox.pool.options,
        async connect() {
          const client = await outbox.pool.connect();
          const query = async (text: string, values?: unknown[]) => {
            const now = /DELETE FROM|UPDATE /.test(text) ? meanwhile : undefined;
            if (now) {
              meanwhile = undefined;
              await now();
            }
            return client.query(text, values as string[]);
          };
          return new Proxy(client, {
            get: (target, name) => {
              if (name === "query") return query;
              const value = Reflect.get(target, name) as unknown;
              return typeof value === "function" ? value.bind(target) : value;
            },
          }) as pg.PoolClient;
        },
      },
    });
    if (change === "drop") expect(await store.drop({})).toBe(0);
    else expect(await store.redrive({}, WINDOW_MS)).toMatchObject({ redriven: 0 });
    expect(meanwhile).toBeUndefined();
    expect(await outbox.states()).toEqual({ dead: 1 });
  },
);
