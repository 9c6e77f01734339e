import type { ReplayStore, Reservation } from "hookproof/receiver";
import type { ReplayLedger } from "./replay-ledger.js";
import type { ReplayPlan, ReplaySpell } from "./replay-plan.js";
import type { Spells } from "./spells.js";
import type { Trace } from "./trace.js";
import type { VirtualTime } from "./virtual-time.js";

export interface ReplayWorldParts {
  readonly plan: ReplayPlan;
  readonly time: VirtualTime;
  readonly ledger: ReplayLedger;
  readonly spells: Spells<ReplaySpell>;
  readonly trace: Trace;
  /** Ends a process at this moment. */
  readonly crash: (owner: string) => void;
}

/** What a receiver's process has of the replay store. */
export interface ReplayAccess {
  readonly store: ReplayStore;
  /** Does the work of a run and commits its id, both or neither. */
  inTransaction(reservation: Reservation): Promise<void>;
}

/** A replay store under test, with all processes that use it. */
export interface ReplayEngine {
  process(owner: string): ReplayAccess;
  /** A process has died: what it had open is closed. */
  died(owner: string): void;
  /** How many ids are in its memory, expired or not. */
  size(): number;
  close(): void;
}
