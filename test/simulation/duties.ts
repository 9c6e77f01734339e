import type { ClaimedEvent, Lease } from "hookproof/outbox/store";
import type { Held } from "./facts.js";
import type { Plan } from "./plan.js";

/** What a worker has done with a lease. */
interface Kept {
  /** Whether it has asked the store to end it. */
  isSettled: boolean;
  /** When the last of these calls failed, by the store's clock. */
  failedAt: number | undefined;
}

/** How long a worker waits at most until it calls a store again that did not answer, and a call of it. */
const PATIENCE_MS = 6_500;

/**
 * What a worker owes to a lease that it has: to send or to give the event back, and to store what came of it as long as
 * the lease holds. Nothing is asked of a worker that was killed, stopped, or told to stop meanwhile.
 */
export class LeaseDuties {
  readonly #kept = new Map<string, Kept>();
  readonly #disturbed = new Set<string>();
  readonly #patienceMs: number;

  constructor({ faults }: Plan) {
    const isSlow = ["store is busy", "answer of the store late"].some((name) => name in faults);
    const busyMs = isSlow ? 40_000 : 0;
    this.#patienceMs = PATIENCE_MS + busyMs;
  }

  /** The worker has heard of its claim. */
  learnt(claims: readonly ClaimedEvent[]): void {
    for (const { lease } of claims)
      this.#kept.set(lease.token + lease.id, { isSettled: false, failedAt: undefined });
  }

  /** It asks the store to end the leases. */
  settles(leases: readonly Lease[]): void {
    for (const lease of leases) this.#change(lease, { isSettled: true, failedAt: undefined });
  }

  /** The store did not answer, or with an error. */
  failed(leases: readonly Lease[], now: number): void {
    for (const lease of leases) this.#change(lease, { isSettled: true, failedAt: now });
  }

  disturbed(worker: string): void {
    this.#disturbed.add(worker);
  }

  /** All workers stood still: of the leases they had, nothing is asked. */
  allDisturbed(): void {
    this.#kept.clear();
  }

  /** What is to be said of a lease that has run out. */
  fault({ worker, lease, sends, last }: Held): string | undefined {
    const kept = this.#kept.get(lease.token + lease.id);
    if (!kept || this.#disturbed.has(worker)) return undefined;
    if (sends === 0 && !kept.isSettled) return `was neither sent nor given back by ${worker}`;
    // After the last failure, or if the store was not asked at all, after the answer.
    const since = kept.isSettled ? kept.failedAt : last?.at;
    const leftMs = lease.expiresAt - (since ?? Number.POSITIVE_INFINITY);
    if (!last || leftMs <= this.#patienceMs) return undefined;
    return `was answered, and ${worker} did not store it in the ${leftMs} ms that were left`;
  }

  #change({ token, id }: Lease, change: Kept): void {
    const kept = this.#kept.get(token + id);
    if (kept) Object.assign(kept, change);
  }
}
