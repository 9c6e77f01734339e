import type { Outbox } from "hookproof/outbox";
import { DrawnClock } from "./clocks.js";
import type { Engine } from "./engine.js";
import { engineOf } from "./engines.js";
import { type Facts, type Rule, shortName, type Violation } from "./facts.js";
import { Ledger } from "./ledger.js";
import { Network } from "./network.js";
import { Operator, Producer } from "./people.js";
import { BLOWS, type Plan, SPELLS } from "./plan.js";
import { Probe } from "./probe.js";
import { Random } from "./random.js";
import { recountFault } from "./recount.js";
import { WINDOW_MS } from "./schedule.js";
import { Spells } from "./spells.js";
import { Trace } from "./trace.js";
import { VirtualTime } from "./virtual-time.js";
import { clockOf, outboxOf } from "./worker.js";

interface Worker {
  readonly machine: string;
  readonly clock: DrawnClock;
  owner: string;
  outbox: Outbox | undefined;
  lives: number;
}

/** What came of a world. */
export interface Outcome {
  readonly violation: Violation | undefined;
  readonly trace: Trace;
  readonly steps: number;
  /** Milliseconds of simulated time. */
  readonly lasted: number;
  readonly requests: number;
  readonly events: number;
  readonly runs: number;
}

/** A store's clock that is put back is followed unless the step is as small as this: it was seen up to a minute before. */
const FOLLOWED_WITHIN_MS = 80_000;

const MINUTE_MS = 60_000;
/** A world has some thousands of steps; one that turns in a circle never ends. */
const MAX_STEPS = 500_000;
/** How long after the faults everything has to have ended. */
const HEALS_WITHIN = { short: 12 * MINUTE_MS, long: 120 * MINUTE_MS, week: 6 * 1_440 * MINUTE_MS };

/** Blows of which there are one or two. */
const RARE: ReadonlySet<string> = new Set(["store's clock jumps", "power failure", "all stand still"]);

/** How long the last rests and open breakers may last. */
const QUIET = { short: MINUTE_MS, long: 20 * MINUTE_MS, week: 60 * 60 * MINUTE_MS };

/** The world of one plan, from its beginning until all is delivered. */
export class World {
  readonly #plan: Plan;
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #trace: Trace;
  readonly #spells: Spells;
  readonly #ledger: Ledger;
  readonly #network: Network;
  readonly #engine: Engine;
  readonly #storeClock: DrawnClock;
  readonly #receiverClock: DrawnClock;
  readonly #workers: Worker[];
  readonly #producers: readonly Producer[];
  readonly #operator: Operator;
  #recountAt = 0;
  /** How much later than planned something may be, as clocks were set, or ran slow while all stood still. */
  #clocksOffMs = 0;

  constructor(plan: Plan) {
    const time = new VirtualTime(plan.seed);
    const random = new Random(plan.seed, "world");
    const trace = new Trace(time);
    const spells = new Spells(plan, time, SPELLS);
    this.#storeClock = new DrawnClock(time, {
      offMs: random.between(-5_000, 5_000),
      rate: random.between(0.9999, 1.0001),
    });
    this.#receiverClock = new DrawnClock(time, { offMs: random.between(-100_000, 100_000) });
    const ledger = new Ledger(plan, time, trace, () => this.#storeClock.now());
    const network = new Network({ plan, time, ledger, spells, trace, receiverClock: this.#receiverClock });
    const crash = (owner: string) => this.#crash(owner);
    const world = { plan, time, ledger, spells, trace, crash };
    const engine = engineOf(world, this.#storeClock);
    this.#plan = plan;
    this.#time = time;
    this.#random = random;
    this.#trace = trace;
    this.#spells = spells;
    this.#ledger = ledger;
    this.#network = network;
    this.#engine = engine;
    this.#workers = plan.workers.map((_, index) => ({
      ...{
        machine: `w${index + 1}`,
        clock: clockOf(plan, time, index),
        owner: "",
        outbox: undefined,
        lives: 0,
      },
    }));
    const context = { plan, time, ledger, spells, trace, network };
    const outbox = (owner: string, access: ReturnType<Engine["process"]>) =>
      outboxOf(owner, access.store, new DrawnClock(time), {
        ...context,
        random: random.stream(`${owner} jitter`),
      });
    this.#producers = Array.from({ length: plan.producers }, (_, index) => {
      const owner = `p${index + 1}`;
      const access = engine.process(owner);
      return new Producer(owner, outbox(owner, access), access, { ...context, random: random.stream(owner) });
    });
    const access = engine.process("operator");
    this.#operator = new Operator(outbox("operator", access), {
      ...context,
      random: random.stream("operator"),
    });
  }

  /** Every event at a listener, in the order in which it was stored. */
  get events(): readonly Facts[] {
    return [...this.#ledger.facts.values()];
  }

  async run(): Promise<Outcome> {
    const { troubleMs, pollMs, scale, listeners, events } = this.#plan;
    for (const worker of this.#workers) this.#start(worker, 0);
    this.#drawBlows();
    const isBroken = () => this.#ledger.violation !== undefined;
    let isOver = false;
    this.#time.after(troubleMs, "world", () => this.#heal());
    const end = () => {
      for (const one of this.#ledger.facts.values())
        if (one.state === "pending") this.#ledger.break("liveness", `${shortName(one)} is still pending`);
      if (!this.#producers.every(({ isDone }) => isDone)) this.#ledger.break("liveness", "a producer waits");
      isOver = true;
    };
    // What was given a time by a store's clock that was put back since is due later, and so is all until that is seen.
    this.#time.after(troubleMs, "world", () => {
      // Tokens from the future are waited for one after another, where they are of one ordering key.
      const waits = listeners.some(({ scheme }) => scheme) ? events : 1;
      this.#time.after(HEALS_WITHIN[scale] + 40 * pollMs + waits * this.#clocksOffMs, "world", end);
    });
    const isDone = () => {
      this.#sometimesRecount();
      if (this.#time.steps > MAX_STEPS) this.#ledger.break("liveness", `no end after ${MAX_STEPS} steps`);
      return isBroken() || isOver || (this.#spells.isHealed && this.#isAllEnded());
    };
    await this.#guarded(() => this.#time.run(isDone));
    if (!isBroken()) await this.#guarded(() => this.#probe());
    if (!isBroken()) await this.#guarded(() => this.#compareHistories());
    this.#engine.close();
    const { steps, now } = this.#time;
    const { requests, runs } = this.#network;
    return {
      violation: this.#ledger.violation,
      trace: this.#trace,
      steps,
      lasted: now,
      requests,
      events: this.#ledger.events,
      runs,
    };
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#ledger.break("error", error instanceof Error ? String(error.stack) : String(error));
    }
  }

  #start(worker: Worker, ms: number): void {
    const owner = `${worker.machine}.${++worker.lives}`;
    worker.owner = owner;
    this.#time.after(ms, owner, () => this.#begin(worker, owner));
  }

  #begin(worker: Worker, owner: string): void {
    try {
      const { store } = this.#engine.process(owner);
      const [plan, time, spells, network] = [this.#plan, this.#time, this.#spells, this.#network];
      const random = this.#random.stream(`${owner} jitter`);
      worker.outbox = outboxOf(owner, store, worker.clock, { plan, time, spells, network, random });
      worker.outbox.start();
      this.#trace.add(owner, "starts");
    } catch (error) {
      this.#trace.add(owner, "cannot start", String(error));
      this.#time.after(500, owner, () => this.#begin(worker, owner)); // as who looks after processes does
    }
  }

  #crash(owner: string): void {
    const worker = this.#workers.find((one) => one.owner === owner);
    if (!worker || this.#time.isDead(owner)) return;
    this.#time.kill(owner);
    this.#ledger.duties.disturbed(owner);
    worker.outbox = undefined;
    this.#trace.add(owner, "crashes");
    this.#engine.died?.(owner);
    const { scale, troubleMs } = this.#plan;
    const isLong = this.#random.chance(scale === "week" ? 0.5 : 0.1);
    const ms = isLong ? this.#random.next() * troubleMs : this.#random.between(10, 5_000);
    this.#start(worker, Math.max(10, Math.min(ms, troubleMs + this.#time.stoodStillMs - this.#time.now)));
  }

  #drawBlows(): void {
    const { faults, troubleMs, store } = this.#plan;
    for (const name of BLOWS) {
      const strength = faults[name];
      if (strength === undefined) continue;
      if (name === "power failure" && store !== "sqlite") continue;
      const random = new Random(this.#plan.seed, name);
      const most = RARE.has(name) ? 2 : 2 + 8 * strength;
      for (let count = 1 + random.below(most); count > 0; count--)
        this.#time.after(random.next() * troubleMs, "world", () => this.#strike(name, random));
    }
  }

  #strike(name: (typeof BLOWS)[number], random: Random): void {
    const worker = this.#workers[random.below(this.#workers.length)];
    if (this.#spells.isHealed || !worker) return;
    const { owner } = worker;
    const { faults, listeners, scale } = this.#plan;
    if (name === "store's clock jumps") {
      // Within the hour that the window of seven days leaves.
      const most = scale === "week" ? 600_000 : 2_400_000;
      const ms = Math.round(random.between(-1, 1) * random.pick([2_000, 30_000, 600_000, most]));
      this.#trace.add("store", "its clock jumps by", ms);
      const waits = faults["deliver later"] !== undefined || listeners.some(({ scheme }) => scheme);
      this.#clocksOffMs += waits ? Math.abs(ms) : Math.min(FOLLOWED_WITHIN_MS, Math.max(0, -ms));
      this.#storeClock.jump(ms);
      this.#ledger.storeJumped(ms);
    } else if (name === "worker's clock jumps") {
      const ms = Math.round(random.between(-1, 1) * random.pick([2_000, 900_000, 90_000_000] as const));
      this.#trace.add(owner, "its clock jumps by", ms);
      worker.clock.jump(ms);
    } else if (name === "crash") this.#crash(owner);
    else if (name === "pause") {
      const ms = random.pick([2_000, 15_000, 90_000] as const);
      this.#trace.add(owner, "is stopped for", ms);
      this.#ledger.duties.disturbed(owner);
      this.#time.pause(owner, this.#time.now + ms);
    } else if (name === "stop") void this.#stop(worker, random.between(0, 12_000));
    else if (name === "all stand still") this.#standStill(random);
    else {
      for (const one of this.#workers) this.#crash(one.owner);
      this.#trace.add("world", "power failure");
      this.#engine.losePower?.();
    }
  }

  /** For days, until the window of an event is about to close; as soon as there is one that has to be tried again. */
  #standStill(random: Random): void {
    if (this.#spells.isHealed) return;
    const now = this.#storeClock.now();
    const closing = [...this.#ledger.facts.values()]
      .filter(({ state, held }) => state === "pending" && !held)
      .map(({ firstAttemptAt = 0 }) => firstAttemptAt + WINDOW_MS - now)
      .filter((left) => left > MINUTE_MS);
    const left = closing[random.below(closing.length)];
    if (left === undefined) {
      this.#time.after(500, "world", () => this.#standStill(random));
      return;
    }
    const early = random.chance(0.5) ? random.between(-2_000, 10_000) : random.between(0, 3_000);
    const ms = Math.round(left - early);
    this.#trace.add("world", "stands still for", ms);
    this.#ledger.duties.allDisturbed();
    this.#clocksOffMs += Math.max(...this.#plan.workers.map(({ rate }) => Math.abs(rate - 1))) * 1.1 * ms;
    this.#time.standStill(ms, (owner) => owner === "world" || owner === "operator" || owner.startsWith("p"));
  }

  async #stop(worker: Worker, timeoutMs: number, startsAfterMs = 100): Promise<void> {
    const { outbox, owner } = worker;
    if (!outbox) return;
    worker.outbox = undefined;
    this.#trace.add(owner, "is told to stop within", Math.round(timeoutMs));
    this.#time.after(0, owner, async () => {
      this.#ledger.toldToStop(owner);
      await outbox.stop({ timeoutMs });
      this.#trace.add(owner, "has stopped");
      if (this.#time.isDead(owner)) return;
      this.#ledger.stops.ended(owner);
      this.#time.kill(owner);
      this.#engine.died?.(owner);
      this.#start(worker, startsAfterMs);
    });
  }

  /** From here on nothing goes wrong. */
  #heal(): void {
    this.#trace.add("world", "is healed");
    this.#spells.isHealed = true;
    this.#receiverClock.heal();
    for (const { clock, owner } of this.#workers) {
      clock.heal();
      this.#time.resume(owner);
    }
    void this.#operator.heal();
  }

  #isAllEnded(): boolean {
    if (!this.#producers.every(({ isDone }) => isDone)) return false;
    for (const { state } of this.#ledger.facts.values()) if (state === "pending") return false;
    return true;
  }

  #sometimesRecount(): void {
    if (this.#time.steps < this.#recountAt) return;
    this.#recountAt = this.#time.steps + 150 + (this.#time.steps >> 2);
    void this.#time.outside(this.#guarded(() => this.#recount()));
  }

  /** Compares the store's counters with the ledger; called between two steps, when nothing is noted late. */
  async #recount(): Promise<void> {
    const moment = this.#storeClock.now();
    const stats = await this.#engine.inner.stats();
    const fault = recountFault(this.#plan.listeners, this.events, stats, moment);
    if (fault) this.#break("recount", fault);
  }

  /** After a quiet time. */
  async #lookAtWorkers(): Promise<void> {
    const living = this.#workers.filter(({ outbox }) => outbox).map(({ owner }) => owner);
    const fault = this.#ledger.signs.fault(this.#plan, living, await this.#engine.inner.workers());
    if (fault) this.#break("alive", fault);
  }

  #break(rule: Rule, message: string): void {
    this.#ledger.break(rule, message);
  }

  /** When all is over: an event that is enqueued now has to be on its way at once, and the next of its key as well. */
  async #probe(): Promise<void> {
    const { pollMs, store, listeners, tellsNobody, workers } = this.#plan;
    const promptMs = store === "sqlite" ? 500 + pollMs / 5 : 500;
    if (pollMs < 2.2 * promptMs || !(tellsNobody || this.#random.chance(0.4))) return;
    const findsMs = tellsNobody ? 1.05 * pollMs : 0;
    // Who has sent the first event is told to stop, so that the others have to hear of the second one.
    // PostgreSQL notifies of what was enqueued; of a key that was passed on the others hear by asking.
    let stops = workers.length > 1 && !tellsNobody && this.#random.chance(0.5) && store !== "postgres";
    const probe = new Probe(this.#plan, this.#time, this.#ledger, (id) => this.#network.poison(id));
    // Breakers close, and rests end.
    const quietMs = QUIET[this.#plan.scale] + 1.3 * pollMs + this.#clocksOffMs;
    this.#time.after(quietMs, "world", () => {
      const access = this.#engine.process("probe");
      void probe.enqueue(
        access,
        // Where nobody is told of work, another listener's would wake the worker.
        listeners.map(({ name }) => name).slice(0, tellsNobody ? 1 : undefined),
      );
    });
    let isQuiet = false;
    this.#time.after(quietMs, "world", () => {
      isQuiet = true;
    });
    await this.#time.run(() => {
      if (isQuiet) {
        isQuiet = false;
        void this.#time.outside(this.#guarded(() => this.#lookAtWorkers()));
      }
      const sender = stops ? this.#workers.find(({ owner }) => owner === probe.firstSender) : undefined;
      if (sender) {
        stops = false;
        void this.#stop(sender, MINUTE_MS, 2 * pollMs + MINUTE_MS);
      }
      return this.#ledger.violation !== undefined || probe.isDone(promptMs, findsMs);
    });
  }

  async #compareHistories(): Promise<void> {
    await this.#recount();
    for (const one of this.#ledger.facts.values()) {
      const entries = await this.#engine.inner.find(one.id);
      const entry = entries.find(({ listener }) => listener === one.listener);
      const found = entry?.attempts.map(({ number, status }) => ({ number, status }));
      if (entry?.state !== one.state)
        this.#break(
          "history",
          `${shortName(one)} is ${entry?.state} in the store, and should be ${one.state}`,
        );
      if (JSON.stringify(found) !== JSON.stringify(one.recorded))
        this.#break(
          "history",
          `${shortName(one)} has ${JSON.stringify(found)} and should have ${JSON.stringify(one.recorded)}`,
        );
    }
  }
}
