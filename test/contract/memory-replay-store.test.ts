import { memoryReplayStore } from "hookproof/receiver";
import { fixedClock, replayStoreContract } from "hookproof/testing";
import { describe, expect, it } from "vitest";

const LISTENER = "lst_memory";
const idOf = (n: number) => `0b0f2b3e-6f3c-4c1d-9a6e-${String(n).padStart(12, "0")}`;

describe("memoryReplayStore", () => {
  for (const { name, run } of replayStoreContract) {
    it(name, async () => {
      const clock = fixedClock("2026-01-01T00:00:00Z");
      const store = memoryReplayStore({ clock });
      await run({ open: () => store, passTime: (ms) => clock.advance(ms) });
    });
  }

  it("past its size forgets the oldest id and says which", async () => {
    const forgotten: string[] = [];
    const store = memoryReplayStore({ maxIds: 2, onForget: ({ eventId }) => forgotten.push(eventId) });
    for (const n of [1, 2, 3]) {
      const result = await store.reserve(LISTENER, idOf(n));
      if (result.state === "reserved") await store.commit(result.reservation);
    }
    expect(forgotten).toEqual([idOf(1)]);
    expect((await store.reserve(LISTENER, idOf(2))).state).toBe("processed");
    expect((await store.reserve(LISTENER, idOf(1))).state).toBe("reserved");
  });

  it.each([0, -1, 1.5, Number.NaN])("refuses maxIds %s", (maxIds) => {
    expect(() => memoryReplayStore({ maxIds })).toThrow(/maxIds/);
  });
});
