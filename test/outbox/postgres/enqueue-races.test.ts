// Two transactions that store the same ids at once: the one that waits stores all of its events, or none.
import { afterAll, afterEach, beforeEach, expect, it } from "vitest";
import { describeWith } from "../../kit/needs.js";
import { outboxEvent } from "../../kit/outbox-event.js";
import { testPostgres } from "../../kit/postgres.js";
import { type TestOutbox, testOutbox } from "../../kit/postgres-outbox.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

describeWith("postgresql", postgres)("an enqueueing in the caller's transaction", () => {
  let outbox: TestOutbox;
  beforeEach(() => {
    outbox = testOutbox(postgres?.url ?? "");
  });
  afterEach(() => outbox.drop());

  const begun = async () => {
    const client = await outbox.pool.connect();
    await client.query("BEGIN");
    return client;
  };

  /** Resolves once a statement of this outbox waits for another transaction. */
  const oneWaits = () =>
    expect
      .poll(async () => {
        const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'`;
        return (await outbox.pool.query(waiting, [outbox.schema])).rowCount;
      })
      .toBe(1);

  it.each([
    ["other bytes under an id", "other", "EVENT_ID_REUSED", false],
    ["the same bytes", "one", undefined, true],
  ] as const)(
    "that waited and finds %s leaves all of its events or none in a transaction that goes on",
    async (_, text, code, isStored) => {
      const store = outbox.store();
      const event = outboxEvent("one");
      const beside = [
        outboxEvent("before", { listener: "bills" }),
        outboxEvent("before", { orderingKey: "k" }),
        outboxEvent("after"),
      ];
      const [first, second] = [await begun(), await begun()];
      await store.enqueue([event], first);
      const [before, keyed, after] = beside as [(typeof beside)[0], (typeof beside)[0], (typeof beside)[0]];
      const again = outboxEvent(text, { id: event.id });
      const waits = Promise.resolve(store.enqueue([before, keyed, again, after], second)).then(
        () => undefined,
        (error: { code: string }) => error.code,
      );
      await oneWaits();
      await first.query("COMMIT");
      first.release();
      expect(await waits).toBe(code);
      // The caller goes on, as one does that only takes note of the refusal.
      const later = outboxEvent("later");
      await store.enqueue([later], second);
      await second.query("COMMIT");
      second.release();

      const found = await Promise.all(
        [...beside, event, later].map(async ({ id }) => (await store.find(id)).length),
      );
      const own = isStored ? 1 : 0;
      expect(found).toEqual([own, own, own, 1, 1]);
      const pending = (await store.stats()).map(({ listener, pending }) => [listener, pending]);
      expect(pending.filter(([, count]) => count !== 0)).toEqual(
        isStored
          ? [
              ["bills", 1],
              ["orders", 4],
            ]
          : [["orders", 2]],
      );
    },
  );
});
