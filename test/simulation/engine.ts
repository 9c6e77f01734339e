import type { OutboxStore } from "hookproof/outbox/store";
import type { Ledger } from "./ledger.js";
import type { Plan } from "./plan.js";
import type { Spells } from "./spells.js";
import type { Trace } from "./trace.js";
import type { VirtualTime } from "./virtual-time.js";

export interface EngineWorld {
  readonly plan: Plan;
  readonly time: VirtualTime;
  readonly ledger: Ledger;
  readonly spells: Spells;
  readonly trace: Trace;
  /** Ends a process at this moment. */
  readonly crash: (owner: string) => void;
}

/** A connection of a process of its own, for transactions. */
interface Transactions {
  readonly tx: unknown;
  begin(): void;
  commit(): void;
  rollBack(): void;
}

/** A transaction that is open on a server: others go on beside it. */
interface OpenTransaction {
  readonly tx: unknown;
  /** @throws {Error} if the connection was lost; then it may have been committed, as `isCommitted` says */
  commit(): Promise<void>;
  rollBack(): Promise<void>;
  isCommitted: boolean;
}

/** What a process has of the store. */
export interface StoreAccess {
  readonly store: OutboxStore;
  readonly transactions?: Transactions;
  /** Begins a transaction on a server. */
  readonly begin?: () => Promise<OpenTransaction>;
}

/** A store under test, with all processes that use it. */
export interface Engine {
  /** To look at it from outside of the world. */
  readonly inner: OutboxStore;
  process(owner: string): StoreAccess;
  /** A process has died: what it had open is closed, and its transactions are rolled back. */
  died?(owner: string): void;
  /** The machine has lost its power, and what was not on the disk. */
  losePower?(): void;
  close(): void;
}
