import { HookproofError } from "hookproof";
import type { Outbox } from "hookproof/outbox";
import type { StoreAccess } from "./engine.js";
import type { Ledger } from "./ledger.js";
import type { Network } from "./network.js";
import type { Plan } from "./plan.js";
import { Random } from "./random.js";
import { SIDES } from "./scheme-sides.js";
import type { Spells } from "./spells.js";
import type { Trace } from "./trace.js";
import type { VirtualTime } from "./virtual-time.js";

export interface PeopleContext {
  readonly plan: Plan;
  readonly time: VirtualTime;
  readonly ledger: Ledger;
  readonly spells: Spells;
  readonly trace: Trace;
  readonly network: Network;
  readonly random: Random;
}

/** A message to enqueue. */
interface Message {
  readonly listener: string;
  readonly eventId: string;
  readonly payload: object;
  readonly orderingKey?: string;
  readonly deliverAt?: number;
}

/** A message as the store has it. */
function asStored({ eventId: id, payload, ...rest }: Message) {
  return { ...rest, id, body: Buffer.from(JSON.stringify(payload)) };
}

/** Throws what is no error with which PostgreSQL asks for a transaction to be repeated. */
function isNoCollision(error: unknown): false {
  if (["40001", "40P01"].includes(String((error as { code?: unknown }).code))) return false;
  throw error;
}

/** Enqueues at drawn moments; `done` counts the transactions that have ended, one way or another. */
export class Producer {
  readonly #owner: string;
  readonly #outbox: Outbox;
  readonly #access: StoreAccess;
  readonly #context: PeopleContext;
  #open = 0;
  #isFree = true;

  constructor(owner: string, outbox: Outbox, access: StoreAccess, context: PeopleContext) {
    this.#owner = owner;
    this.#outbox = outbox;
    this.#access = access;
    this.#context = context;
    const { plan, time, random } = context;
    let left = Math.ceil(plan.events / plan.producers);
    // Of a week most is enqueued on the first day, so that its window closes within the world.
    while (left > 0) {
      const latest = plan.scale === "week" && random.chance(0.8) ? 0.05 : 1;
      const messages = Array.from({ length: Math.min(left, 1 + random.below(4)) }, () => this.#message());
      left -= messages.length;
      this.#open += 1;
      time.after(random.next() * latest * plan.troubleMs, owner, () => this.#begin(messages.flat()));
    }
  }

  get isDone(): boolean {
    return this.#open === 0;
  }

  /** One event, at one listener or several. */
  #message(): Message[] {
    const { plan, random, network } = this.#context;
    const eventId = random.uuid();
    const key = plan.keys > 0 && random.chance(0.7) ? `k${random.below(plan.keys)}` : undefined;
    const isPoisoned = random.chance(0.3 * (plan.faults["poisoned event"] ?? 0));
    if (isPoisoned) network.poison(eventId);
    const isLater = random.chance(plan.faults["deliver later"] ?? 0);
    const payload = { n: random.below(1_000_000), ü: "ü".repeat(random.below(20)) };
    const count = random.chance(0.15) ? plan.listeners.length : 1;
    const from = random.below(plan.listeners.length);
    return Array.from({ length: count }, (_, index) => {
      const { name = "", scheme = "access-governance" } =
        plan.listeners[(from + index) % plan.listeners.length] ?? {};
      return {
        listener: name,
        ...{ eventId, payload: SIDES[scheme].payload(payload) },
        ...(key !== undefined && { orderingKey: key }),
        ...(isLater && { deliverAt: Date.now() + random.next() * plan.troubleMs }),
      };
    });
  }

  #begin(messages: readonly Message[]): void {
    if (!this.#isFree) {
      this.#later(200, messages);
      return;
    }
    const { random, plan } = this.#context;
    const isUndone = random.chance(0.5 * (plan.faults["transaction rolls back"] ?? 0));
    if (this.#access.transactions) this.#inTransaction(messages, isUndone);
    else if (this.#access.begin && random.chance(0.6)) void this.#inOpenTransaction(messages, isUndone);
    else if (!isUndone) void this.#store(messages, 0);
    else {
      this.#context.ledger.undone(messages.map(({ eventId }) => eventId));
      this.#open -= 1;
    }
  }

  #later(ms: number, messages: readonly Message[]): void {
    this.#context.time.after(ms, this.#owner, () => this.#begin(messages));
  }

  /** Without transactions: repeats an unknown outcome under the same ids, and a refusal under new ones. */
  async #store(messages: readonly Message[], tries: number): Promise<void> {
    const { trace, ledger, spells, time, random } = this.#context;
    const ids = messages.map(({ eventId }) => eventId);
    try {
      await this.#outbox.enqueue(messages);
      trace.add(this.#owner, "enqueued", ...ids);
      this.#open -= 1;
    } catch (error) {
      const code = error instanceof HookproofError ? error.code : "";
      trace.add(this.#owner, "cannot enqueue", code, ...ids);
      if (code !== "OUTBOX_UNAVAILABLE" && code !== "OUTBOX_OUTCOME_UNKNOWN")
        ledger.break("error", `enqueue: ${String(error)}`);
      if (code === "OUTBOX_UNAVAILABLE" && tries === 0 && !spells.isHealed) {
        ledger.undone(ids); // "nothing was stored": the producer gives up
        this.#open -= 1;
        return;
      }
      time.after(random.between(100, 1_000), this.#owner, () => void this.#store(messages, tries + 1));
    }
  }

  /** On a server: the events have their places when they are enqueued, and are seen when the transaction commits. */
  async #inOpenTransaction(messages: readonly Message[], isUndone: boolean): Promise<void> {
    const { trace, ledger, time, random, plan } = this.#context;
    const ids = messages.map(({ eventId }) => eventId);
    const pass = (ms: number) => new Promise<void>((resolve) => time.after(ms, this.#owner, resolve));
    this.#isFree = false;
    for (let isStored = false; !isStored; ) {
      const transaction = await this.#access.begin?.().catch(() => undefined);
      if (!transaction) {
        await pass(random.between(20, 200));
        continue;
      }
      const enqueuedAt = ledger.storeNow();
      const enqueued = this.#outbox.enqueue(messages, { tx: transaction.tx as never });
      const isEnqueued = await enqueued.then(() => true, isNoCollision);
      if (!isEnqueued) {
        await transaction.rollBack(); // and the transaction is repeated
        continue;
      }
      const places = messages.map(() => ledger.nextPlace());
      const isLong = random.chance(0.1);
      if (random.chance(Math.max(0.5, plan.faults["transaction stays open"] ?? 0)))
        await pass(isLong ? 11_000 : random.between(5, 300));
      if (isUndone) {
        await transaction.rollBack();
        trace.add(this.#owner, "rolls back", ...ids);
        ledger.undone(ids);
        break;
      }
      isStored = await transaction.commit().then(
        () => true,
        () => false,
      );
      trace.add(this.#owner, isStored ? "commits" : "cannot commit", ...ids);
      if (transaction.isCommitted) ledger.stored(messages.map(asStored), enqueuedAt, places);
      if (!isStored) await pass(random.between(20, 200));
    }
    this.#isFree = true;
    this.#open -= 1;
  }

  #inTransaction(messages: readonly Message[], isUndone: boolean): void {
    const { trace, ledger, time, random, plan } = this.#context;
    const { transactions } = this.#access;
    const ids = messages.map(({ eventId }) => eventId);
    if (!transactions) return;
    try {
      transactions.begin();
    } catch {
      this.#later(random.between(20, 200), messages); // somebody else is writing
      return;
    }
    const enqueuedAt = ledger.storeNow();
    try {
      this.#outbox.enqueue(messages, { tx: transactions.tx as never }).catch(() => {});
    } catch (error) {
      trace.add(this.#owner, "cannot enqueue", String(error), ...ids);
      transactions.rollBack();
      this.#later(random.between(20, 200), messages);
      return;
    }
    const end = () => {
      this.#isFree = true;
      if (isUndone) {
        transactions.rollBack();
        trace.add(this.#owner, "rolls back", ...ids);
        ledger.undone(ids);
        this.#open -= 1;
        return;
      }
      try {
        transactions.commit();
      } catch (error) {
        trace.add(this.#owner, "cannot commit", String(error));
        transactions.rollBack();
        this.#later(random.between(20, 200), messages);
        return;
      }
      trace.add(this.#owner, "commits", ...ids);
      ledger.stored(messages.map(asStored), enqueuedAt);
      this.#open -= 1;
    };
    if (!random.chance(plan.faults["transaction stays open"] ?? 0)) {
      end();
      return;
    }
    this.#isFree = false;
    const isLong = random.chance(0.03); // longer than the store has patience
    time.after(isLong ? 11_000 : random.between(5, 300), this.#owner, end);
  }
}

/** Somebody who pauses, resumes, cancels, brings back and drops. */
export class Operator {
  readonly #outbox: Outbox;
  readonly #context: PeopleContext;

  constructor(outbox: Outbox, context: PeopleContext) {
    this.#outbox = outbox;
    this.#context = context;
    const { plan, random, time } = context;
    this.#bringBackAtClaims();
    const strength = plan.faults.operator;
    if (strength === undefined) return;
    for (let count = 1 + random.below(2 + 8 * strength); count > 0; count--)
      time.after(random.next() * plan.troubleMs, "operator", () => void this.#act().catch(() => {}));
  }

  async #act(): Promise<void> {
    const { plan, random, ledger, trace } = this.#context;
    const listener = plan.listeners[random.below(plan.listeners.length)]?.name ?? "";
    // The new id of a redriven event is not known before a worker claims it.
    const all = [...ledger.facts.values()].filter(({ isRenamed }) => !isRenamed);
    const dead = all.filter(({ state }) => state === "dead");
    const one = (random.chance(0.5) && dead.length > 0 ? dead : all)[random.below(dead.length || all.length)];
    const what = random.pick(["pause", "resume", "cancel", "cancel", "redrive", "redrive", "drop"] as const);
    trace.add("operator", what, what === "pause" || what === "resume" ? listener : one?.id);
    if (what === "pause") await this.#outbox.pause(listener, { reason: "drawn" });
    else if (what === "resume") await this.#outbox.resume(listener);
    else if (!one) return;
    else if (what === "cancel") await this.#outbox.cancel({ eventId: one.id });
    else if (what === "drop") await this.#outbox.drop({ ids: [one.id], listener: one.listener });
    else
      await this.#outbox.redrive(
        { ids: [one.id], listener: one.listener },
        { place: random.chance(0.3) ? "kept" : "end", newIds: random.chance(0.25) },
      );
  }

  /** Brings a dead letter back to its place while a later event of its key is under way. */
  #bringBackAtClaims(): void {
    const { plan, time, ledger, trace, spells } = this.#context;
    const strength = plan.faults["brought back at a claim"];
    if (strength === undefined) return;
    const random = new Random(plan.seed, "brought back at a claim");
    ledger.onKeyClaimed = ({ listener, key, place }) => {
      const dead = [...ledger.facts.values()].find(
        (one) => one.state === "dead" && one.listener === listener && one.key === key && one.place < place,
      );
      if (!dead || spells.isHealed || !random.chance(0.5 * strength)) return;
      time.after(random.between(0, 40), "operator", () => {
        trace.add("operator", "brings back", listener, dead.id);
        const filter = { ids: [dead.id], listener };
        this.#outbox.redrive(filter, { place: "kept" }).catch(() => {});
      });
    };
  }

  /** Ends pauses, and drops the dead letters that hold up others. */
  async heal(): Promise<void> {
    const { plan, ledger, trace, time } = this.#context;
    try {
      for (const { name } of plan.listeners) await this.#outbox.resume(name);
      const blocking = [...ledger.facts.values()].filter(
        ({ state, blocksKey }) => state === "dead" && blocksKey,
      );
      for (const { id, listener } of blocking) {
        trace.add("operator", "drops", listener, id);
        await this.#outbox.drop({ ids: [id], listener });
      }
    } catch (error) {
      trace.add("operator", "cannot heal", String(error));
    }
    time.after(Math.max(2_000, plan.pollMs), "operator", () => void this.heal());
  }
}
