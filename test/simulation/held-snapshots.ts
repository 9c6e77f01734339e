// Transactions that stay open on the server for a while, as a report or a forgotten session has one.
import type { EngineWorld } from "./engine.js";
import { Random } from "./random.js";

interface Sessions {
  begin(): { query(text: string): Promise<unknown> };
  end(): void;
}

/** Opens one for each spell. Some have a number, which keeps from knowing that what was stored before is committed. */
export function holdSnapshots({ plan, time, spells, trace }: EngineWorld, { begin, end }: Sessions): void {
  const random = new Random(plan.seed, "held snapshots");
  for (const { from, to } of spells.of("a snapshot is held")) {
    const hasNumber = random.chance(0.5);
    const hold = async () => {
      const session = begin();
      await session.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
      await session.query(hasNumber ? "SELECT pg_current_xact_id()" : "SELECT count(*) FROM hookproof.event");
    };
    time.after(from, "store", () => {
      if (spells.isHealed) return;
      trace.add("store", "a snapshot is held");
      hold().catch(() => {}); // it was over before it had begun
    });
    time.after(to, "store", end);
  }
}
