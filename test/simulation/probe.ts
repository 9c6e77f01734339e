import { createHash } from "node:crypto";
import type { StoreAccess } from "./engine.js";
import { type Facts, nameOf } from "./facts.js";
import type { Ledger } from "./ledger.js";
import type { Plan } from "./plan.js";
import { Random } from "./random.js";
import { SIDES } from "./scheme-sides.js";
import type { VirtualTime } from "./virtual-time.js";

/** Two events of one key at each listener of a world that has come to rest. */
export class Probe {
  readonly #plan: Plan;
  readonly #time: VirtualTime;
  readonly #ledger: Ledger;
  readonly #poison: (id: string) => void;
  #names: readonly (readonly string[])[] = [];
  #since: number | undefined;
  /** When the first event of each listener was seen to have ended. */
  readonly #endedAt = new Map<string, number>();

  constructor(plan: Plan, time: VirtualTime, ledger: Ledger, poison: (id: string) => void) {
    this.#poison = poison;
    this.#plan = plan;
    this.#time = time;
    this.#ledger = ledger;
  }

  async enqueue({ store }: StoreAccess, listeners: readonly string[]): Promise<void> {
    const random = new Random(this.#plan.seed, "probe");
    const events = listeners.flatMap((listener) => {
      const { scheme = "access-governance" } =
        this.#plan.listeners.find(({ name }) => name === listener) ?? {};
      const body = Buffer.from(JSON.stringify(SIDES[scheme].payload({})));
      const digest = createHash("sha256").update(body).digest("base64url");
      return [1, 2].map(() => ({ id: random.uuid(), listener, body, digest, orderingKey: "probe" }));
    });
    // Of some listeners the first one is refused, and its dead letter lets the next one go.
    for (const [index, { id, listener }] of events.entries()) {
      const blocks = this.#plan.listeners.some(({ name, onDead }) => name === listener && onDead === "block");
      if (index % 2 === 0 && !blocks && random.chance(0.4)) this.#poison(id);
    }
    await store.enqueue(events);
    this.#since = this.#time.now;
    const of = (listener: string) => events.filter((event) => event.listener === listener);
    this.#names = listeners.map((listener) => of(listener).map(({ id }) => nameOf(listener, id)));
  }

  /** The worker that has sent the first of a listener's two, while the second one waits. */
  get firstSender(): string | undefined {
    const [first, second] = (this.#names[0] ?? []).map((name) => this.#ledger.facts.get(name));
    return first?.sends === 1 && second?.sends === 0 ? first.held?.worker : undefined;
  }

  /**
   * Whether both were sent in time; the first one may also take a poll, where nobody is told of work.
   *
   * @param promptMs how long it may take from when an event can be claimed until it is sent
   */
  isDone(promptMs: number, findsMs: number): boolean {
    if (this.#since === undefined) return false;
    const { now } = this.#time;
    const { listeners, workers, pollMs } = this.#plan;
    // A token of the slowest rate takes two seconds; a worker's clock that is fast asks too early, and again after a poll.
    const tokenMs = 5_000 + (workers.some(({ rate }) => rate > 1) ? pollMs : 0);
    const withinMs = promptMs + (listeners.some(({ rate }) => rate) ? tokenMs : 0);
    let areEnded = true;
    for (const names of this.#names) {
      const [first, second] = names.map((name) => this.#ledger.facts.get(name));
      if (first?.sends === 0) this.#late(first, now - this.#since, findsMs + promptMs);
      if (first?.state !== "pending" && first && !this.#endedAt.has(first.name))
        this.#endedAt.set(first.name, now);
      const endedAt = this.#endedAt.get(first?.name ?? "");
      if (second?.sends === 0 && endedAt !== undefined) this.#late(second, now - endedAt, withinMs);
      areEnded &&= endedAt !== undefined && second?.state !== "pending";
    }
    return areEnded || now - this.#since > 10 * (findsMs + withinMs) + 60_000;
  }

  #late({ listener, id }: Facts, waitedMs: number, withinMs: number): void {
    if (waitedMs > withinMs)
      this.#ledger.break("wake-up", `${listener} ${id} was not sent within ${Math.round(waitedMs)} ms`);
  }
}
