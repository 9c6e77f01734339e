import type { StoreAccess } from "./engine.js";
import { nameOf } from "./facts.js";
import type { Ledger } from "./ledger.js";
import type { Plan } from "./plan.js";
import { Random } from "./random.js";
import type { VirtualTime } from "./virtual-time.js";

/** Two events of one key at each listener of a world that has come to rest. */
export class Probe {
  readonly #plan: Plan;
  readonly #time: VirtualTime;
  readonly #ledger: Ledger;
  #names: readonly (readonly string[])[] = [];
  #since: number | undefined;

  constructor(plan: Plan, time: VirtualTime, ledger: Ledger) {
    this.#plan = plan;
    this.#time = time;
    this.#ledger = ledger;
  }

  async enqueue({ store }: StoreAccess, listeners: readonly string[]): Promise<void> {
    const random = new Random(this.#plan.seed, "probe");
    const body = Buffer.from("{}");
    const digest = "RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o"; // SHA-256 of {}
    const events = listeners.flatMap((listener) =>
      [1, 2].map(() => ({ id: random.uuid(), listener, body, digest, orderingKey: "probe" })),
    );
    await store.enqueue(events);
    this.#since = this.#time.now;
    const of = (listener: string) => events.filter((event) => event.listener === listener);
    this.#names = listeners.map((listener) => of(listener).map(({ id }) => nameOf(listener, id)));
  }

  /** Whether both were sent in time; each of them may take so long until it is sent. */
  isDone(promptMs: number): boolean {
    const since = this.#since;
    if (since === undefined) return false;
    const facts = this.#names.flat().map((name) => this.#ledger.facts.get(name));
    const waited = this.#time.now - since;
    const isSlow = this.#plan.listeners.some(({ rate }) => rate);
    // The run of the first one may take up to 6 seconds, and a copy of it waits for 5.
    const allowed = 2 * promptMs + 6_500 + (isSlow ? 5_000 : 0);
    if (facts.every((one) => one?.state === "delivered")) return true;
    const isLate = (one: (typeof facts)[number], ms: number) => one?.sends === 0 && waited > ms;
    for (const [first] of this.#names)
      if (isLate(this.#ledger.facts.get(first ?? ""), promptMs))
        this.#ledger.break("wake-up", `${first} was not sent within ${Math.round(waited)} ms`);
    if (facts.some((one) => isLate(one, allowed)))
      this.#ledger.break("wake-up", `the next event of a key was not sent within ${Math.round(waited)} ms`);
    return waited > allowed;
  }
}
