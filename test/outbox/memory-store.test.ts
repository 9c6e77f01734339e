import { memoryStore } from "hookproof/outbox";
import { fixedClock, outboxStoreContract } from "hookproof/testing";
import { describe, it } from "vitest";

describe("memoryStore", () => {
  for (const { name, run } of outboxStoreContract) {
    it(name, async () => {
      const clock = fixedClock("2026-01-01T00:00:00Z");
      const store = memoryStore({ clock });
      await run({ open: () => store, passTime: (ms) => clock.advance(ms) });
    });
  }
});
