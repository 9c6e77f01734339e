import type { DeadLetterFilter, RedriveOptions, RedriveResult } from "hookproof/outbox";
import { type Facts, isMeant, nameOf } from "./facts.js";
import type { Ledger } from "./ledger.js";
import { type Plan, type Retention, retentionOf } from "./plan.js";

/** The part of the ledger about events that have ended: what is brought back, dropped, and removed in time. */
export class EndedEvents {
  readonly #ledger: Ledger;
  readonly #retention: Retention;
  readonly #dropped = new Set<string>();

  constructor(plan: Plan, ledger: Ledger) {
    this.#ledger = ledger;
    this.#retention = retentionOf(plan);
  }

  /** Whether an event is gone. A late request of it is no fault: a worker that was overtaken may still have it. */
  isDropped(name: string): boolean {
    return this.#dropped.has(name);
  }

  redriven(filter: DeadLetterFilter, windowMs: number, options: RedriveOptions, result: RedriveResult): void {
    const now = this.#ledger.storeNow();
    const dead = [...this.#ledger.facts.values()].filter(
      (one) => one.state === "dead" && isMeant(one, filter),
    );
    const { newIds = false, place } = options;
    const hasLeft = ({ firstAttemptAt = now }: Facts, ms: number) => newIds || now - firstAttemptAt <= ms;
    // Where the store's clock was put back, the first attempt may be as much earlier by it.
    const sure = dead.filter((one) => hasLeft(one, windowMs - one.firstBackMs));
    const open = result.redriven === sure.length ? sure : dead.filter((one) => hasLeft(one, windowMs));
    this.#ledger.fence("redrive", result.redriven, open.length);
    for (const one of open) {
      if (place !== "kept" && one.key !== undefined) one.place = this.#ledger.nextPlace();
      Object.assign(one, {
        state: "pending",
        dueAt: now,
        backMs: 0,
        attemptsBefore: one.attempts,
        blocksKey: false,
      });
      if (!newIds) continue;
      this.#forget(one);
      const { proof: _proof, ...rest } = one;
      const fresh = { ...rest, id: `after ${one.id}`, firstAttemptAt: undefined, isRenamed: true };
      const name = nameOf(one.listener, fresh.id);
      this.#ledger.facts.set(name, { ...fresh, name, runs: 0, sends: 0 });
    }
  }

  dropped(filter: DeadLetterFilter, count: number): void {
    const dead = [...this.#ledger.facts.values()].filter(
      (one) => one.state === "dead" && isMeant(one, filter),
    );
    this.#ledger.fence("drop", count, dead.length);
    for (const one of dead) this.#forget(one);
  }

  pruned(before: { readonly delivered: number; readonly dead: number }, count: number): void {
    const old = [...this.#ledger.facts.values()].filter(
      (one) =>
        one.state !== "pending" &&
        (one.endedAt ?? 0) < (one.state === "dead" ? before.dead : before.delivered) &&
        !this.#holdsUp(one),
    );
    const { deliveredMs, deadMs } = this.#retention;
    const early = Math.max(before.delivered + deliveredMs, before.dead + deadMs) - this.#ledger.storeNow();
    if (early > this.#ledger.jumpedMs)
      this.#ledger.break("pruned", `what has ended was removed ${early} ms too early`);
    if (count !== old.length)
      this.#ledger.break("pruned", `${count} events were removed, and not ${old.length}`);
    for (const one of old) this.#forget(one);
  }

  /** Whether it is a dead letter behind which events of its key wait. */
  #holdsUp({ blocksKey, listener, key, place }: Facts): boolean {
    if (!blocksKey || key === undefined) return false;
    return [...this.#ledger.facts.values()].some(
      (one) => one.listener === listener && one.key === key && one.state === "pending" && one.place > place,
    );
  }

  #forget({ name }: Facts): void {
    this.#ledger.facts.delete(name);
    this.#dropped.add(name);
  }
}
