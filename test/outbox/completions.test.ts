import { HookproofError } from "hookproof";
import { describe, expect, it } from "vitest";
import { createCompletions } from "../../src/outbox/completions.js";
import type { Completion } from "../../src/outbox/outbox-store.js";
import type { StoreWatch } from "../../src/outbox/store-watch.js";

const completion = (id: string): Completion => ({
  lease: { listener: "a", id, token: id, expiresAt: 0 },
  outcome: "accepted",
  attempt: { number: 1, startedAt: 0, durationMs: 1, status: 200 },
});

const lostConnection = () => new HookproofError("OUTBOX_UNAVAILABLE", "gone");

function bench(complete: (ids: string[]) => number | Promise<number>) {
  let time = 0;
  const lost: number[] = [];
  const stored: string[] = [];
  const watch = { once: (work) => work() } as StoreWatch;
  const completions = createCompletions(
    { complete: async (batch) => complete(batch.map(({ lease }) => lease.id)) },
    { watch, now: () => time, onLost: (count) => lost.push(count) },
  );
  const add = (id: string, until = 1_000) => completions.add(completion(id), until, () => stored.push(id));
  const setTime = (to: number) => {
    time = to;
  };
  return { completions, add, lost, stored, setTime };
}

describe("deliveries that ended", () => {
  it("are stored together, and told when they are", async () => {
    const batches: string[][] = [];
    const { completions, add, lost, stored } = bench((ids) => batches.push(ids) + ids.length - 1);
    await completions.flush();
    expect(batches).toEqual([]);
    add("1");
    add("2");
    expect(completions.size).toBe(2);
    expect(stored).toEqual([]);
    await completions.flush();
    expect([batches, stored, lost, completions.size]).toEqual([[["1", "2"]], ["1", "2"], [], 0]);
  });

  it("whose leases are lost are counted", async () => {
    const { completions, add, lost, stored } = bench((ids) => ids.length - 2);
    for (const id of ["1", "2", "3"]) add(id);
    await completions.flush();
    expect(lost).toEqual([2]);
    expect(stored).toEqual(["1", "2", "3"]);
  });

  it("are kept with what ends meanwhile, while the store is gone", async () => {
    let isGone = true;
    const seen: string[][] = [];
    const { completions, add, lost, stored } = bench(async (ids) => {
      seen.push(ids);
      if (isGone) {
        add("2");
        isGone = false;
        throw lostConnection();
      }
      return ids.length;
    });
    add("1");
    await expect(completions.flush()).rejects.toMatchObject({ code: "OUTBOX_UNAVAILABLE" });
    expect([completions.size, stored, lost]).toEqual([2, [], []]);
    await completions.flush();
    expect([seen.at(-1), stored, lost]).toEqual([["1", "2"], ["1", "2"], []]);
  });

  it("count as stored when an earlier try may have stored them", async () => {
    let tries = 0;
    const { completions, add, lost, stored } = bench(() => {
      tries += 1;
      if (tries === 1) throw lostConnection();
      return 0;
    });
    add("1");
    await completions.flush().catch(() => {});
    await completions.flush();
    expect([stored, lost]).toEqual([["1"], []]);
  });

  it("are given up when their lease has ended, and counted as lost", async () => {
    const { completions, add, lost, stored, setTime } = bench(() => {
      throw lostConnection();
    });
    add("1", 500);
    add("2", 501);
    setTime(500);
    await completions.flush().catch(() => {});
    expect([completions.size, lost, stored]).toEqual([1, [1], []]);
  });
});
