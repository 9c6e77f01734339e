import { postgresReplayStore, redisReplayStore } from "hookproof/replay";
import { waitFor } from "hookproof/testing";
import { expect, it, onTestFinished, vi } from "vitest";

/** A database whose first answer comes when it is let go, and every other at once. */
function slowDatabase(answer: unknown) {
  let letGo = () => {};
  const first = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const asked: unknown[][] = [];
  const ask = async (...given: unknown[]) => {
    asked.push(given);
    if (asked.length === 1) await first;
    return answer;
  };
  return { ask, asked, letGo: () => letGo() };
}

it("PostgreSQL: what was reserved after its caller was told that it failed is released", async () => {
  const { ask, asked, letGo } = slowDatabase({ rows: [{ reserved: true, processed: null }], rowCount: 1 });
  // A first call looks for the table and removes expired ids before it reserves.
  const query = async (sql: string, values?: unknown[]) => {
    if (sql.includes("to_regclass")) return { rows: [{ exists: true }], rowCount: 1 };
    return values ? ask(sql, values) : { rows: [], rowCount: 0 };
  };
  const store = postgresReplayStore({
    pool: { connect: async () => ({ query, release() {} }) },
    timeoutMs: 20,
  });
  await expect(store.reserve("lst_1", "e1")).rejects.toMatchObject({ code: "REPLAY_STORE_UNAVAILABLE" });
  expect(asked).toHaveLength(1);
  letGo();
  await waitFor(() => asked.length === 2);
  const [[, reserved], [sql, released]] = asked as [[string, unknown[]], [string, unknown[]]];
  expect(sql).toMatch(/^DELETE/);
  expect(released).toEqual(reserved.slice(0, 3)); // of that reservation's token, and no other
});

it("PostgreSQL: what was reserved over a connection that broke before the answer is released", async () => {
  const asked: [string, unknown[]][] = [];
  const query = async (sql: string, values: unknown[] = []) => {
    if (sql.includes("to_regclass")) return { rows: [{ exists: true }], rowCount: 1 };
    if (values.length > 0) asked.push([sql, values]);
    if (sql.startsWith("WITH given")) throw new Error("Connection terminated unexpectedly");
    return { rows: [], rowCount: 0 };
  };
  const store = postgresReplayStore({ pool: { connect: async () => ({ query, release() {} }) } });
  const reserving = ["e1", "e2"].map((id) => store.reserve("lst_1", id));
  for (const { status } of await Promise.allSettled(reserving)) expect(status).toBe("rejected");
  await waitFor(() => asked.length === 2);
  const [reserved, released] = asked as [[string, unknown[]], [string, unknown[]]];
  expect(released[0]).toMatch(/^DELETE/);
  expect(released[1]).toEqual(reserved[1].slice(0, 3));
});

it("Redis: what was reserved after its caller was told that it failed is released", async () => {
  const { ask, asked, letGo } = slowDatabase("OK");
  const store = redisReplayStore({ client: { call: ask } as never, timeoutMs: 20 });
  await expect(store.reserve("lst_1", "e1")).rejects.toMatchObject({ code: "REPLAY_STORE_UNAVAILABLE" });
  letGo();
  await waitFor(() => asked.length === 2);
  expect(asked[1]?.[0]).toBe("EVAL");
  expect(asked[1]?.at(-1)).toBe(asked[0]?.[2]);
});

it("what was reserved in time is released by nobody", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { ask, asked, letGo } = slowDatabase("OK");
  const store = redisReplayStore({ client: { call: ask } as never, timeoutMs: 30 });
  const reserving = store.reserve("lst_1", "e1");
  letGo();
  expect(await reserving).toMatchObject({ state: "reserved" });
  await vi.advanceTimersByTimeAsync(60);
  expect(asked).toHaveLength(1);
});
