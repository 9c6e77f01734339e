import { DrawnClock } from "./clocks.js";
import { Random } from "./random.js";
import type { ReplayAccess, ReplayEngine, ReplayWorldParts } from "./replay-engine.js";
import { replayFile } from "./replay-file.js";
import { ReplayLedger } from "./replay-ledger.js";
import { Sender } from "./replay-people.js";
import { REPLAY_BLOWS, REPLAY_SPELLS, type ReplayPlan, type ReplaySpell } from "./replay-plan.js";
import { ReceiverProcess } from "./replay-process.js";
import { replayServer } from "./replay-server.js";
import { Spells } from "./spells.js";
import { Trace } from "./trace.js";
import { VirtualTime } from "./virtual-time.js";

interface Machine {
  readonly name: string;
  readonly clock: DrawnClock;
  owner: string;
  access: ReplayAccess | undefined;
  process: ReceiverProcess | undefined;
  lives: number;
}

/** What came of a world of the receiving side. */
export interface ReplayOutcome {
  readonly violation: ReplayLedger["violation"];
  readonly trace: Trace;
  readonly steps: number;
  /** Milliseconds of simulated time. */
  readonly lasted: number;
  readonly requests: number;
  readonly events: number;
  readonly runs: number;
}

/** How many requests come when all is over; the first of them finds what has expired. */
const PROBES = 3;
const RETENTION_MS = 7 * 86_400_000;
/** A world has some thousands of steps; one that turns in a circle never ends. */
const MAX_STEPS = 200_000;
/** What senders may take to be answered once nobody holds their ids any more: a pause may last on for a while. */
const ANSWERED_WITHIN_MS = 180_000;

/** The world of one plan of the receiving side, from its beginning until its ids are forgotten. */
export class ReplayWorld {
  readonly #plan: ReplayPlan;
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #trace: Trace;
  readonly #spells: Spells<ReplaySpell>;
  readonly #ledger: ReplayLedger;
  readonly #parts: ReplayWorldParts;
  readonly #engine: ReplayEngine;
  readonly #storeClock: DrawnClock;
  readonly #machines: readonly Machine[];
  readonly #sender: Sender;
  #jumpedMs = 0;
  #pausedMs = 0;

  constructor(plan: ReplayPlan) {
    const time = new VirtualTime(plan.seed);
    this.#plan = plan;
    this.#time = time;
    this.#random = new Random(plan.seed, "world");
    this.#trace = new Trace(time);
    this.#spells = new Spells(plan, time, REPLAY_SPELLS);
    this.#storeClock = new DrawnClock(time, { offMs: this.#random.between(-5_000, 5_000) });
    // The memory store measures time; what is shared by processes needs the time of day.
    const storeNow = () => (plan.store === "memory" ? this.#storeClock.monotonic() : this.#storeClock.now());
    this.#ledger = new ReplayLedger(plan, time, this.#trace, storeNow);
    const [ledger, spells, trace] = [this.#ledger, this.#spells, this.#trace];
    this.#parts = { plan, time, ledger, spells, trace, crash: (owner) => this.#crash(owner) };
    const open = plan.store === "memory" ? replayServer : replayFile;
    this.#engine = open(this.#parts, this.#storeClock);
    this.#machines = plan.processes.map((process, index) => ({
      ...{ name: `r${index + 1}`, clock: new DrawnClock(time, process) },
      ...{ owner: "", access: undefined, process: undefined, lives: 0 },
    }));
    this.#sender = new Sender({
      ...this.#parts,
      deliver: (request, fault, told) => {
        const machine = this.#random.pick(this.#machines as [Machine]);
        time.after(0, machine.owner, async () => {
          const answer = await this.#guarded(async () => machine.process?.receive(request, fault));
          if (!time.isDead(machine.owner)) told(answer ?? "refused");
        });
        if (time.isDead(machine.owner) || !machine.process) told("refused");
      },
    });
  }

  async run(): Promise<ReplayOutcome> {
    const { troubleMs, reservationMs } = this.#plan;
    for (const machine of this.#machines) this.#start(machine, 0);
    this.#drawBlows();
    let isLate = false;
    this.#time.after(troubleMs, "world", () => {
      this.#heal();
      // What was reserved by a store's clock that was put back since expires later.
      const { inFlightWaitMs, longestWaitMs } = this.#plan;
      const within = reservationMs + this.#jumpedMs + inFlightWaitMs + 3 * longestWaitMs + ANSWERED_WITHIN_MS;
      this.#time.after(within, "world", () => {
        isLate = true;
      });
    });
    const isBroken = () => this.#ledger.violation !== undefined;
    const isDone = () => {
      if (this.#time.steps > MAX_STEPS) this.#ledger.break("liveness", `no end after ${MAX_STEPS} steps`);
      if (isLate && !this.#sender.isDone) this.#ledger.break("liveness", "an event is not accepted");
      return isBroken() || (this.#spells.isHealed && this.#sender.isDone);
    };
    await this.#guarded(() => this.#time.run(isDone));
    if (!isBroken()) await this.#guarded(() => this.#forget());
    if (!isBroken()) this.#ledger.end();
    this.#engine.close();
    const { steps, now } = this.#time;
    return {
      violation: this.#ledger.violation,
      trace: this.#trace,
      ...{ steps, lasted: now, requests: this.#sender.requests },
      ...{ events: this.#plan.events, runs: this.#ledger.runs },
    };
  }

  async #guarded<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#ledger.break("error", error instanceof Error ? String(error.stack) : String(error));
      return undefined;
    }
  }

  #start(machine: Machine, ms: number): void {
    const owner = `${machine.name}.${++machine.lives}`;
    machine.owner = owner;
    this.#time.after(ms, owner, () => this.#begin(machine, owner));
  }

  #begin(machine: Machine, owner: string): void {
    try {
      machine.access = this.#engine.process(owner);
      machine.process = new ReceiverProcess(owner, machine.access, {
        ...this.#parts,
        random: this.#random.stream(owner),
        clock: machine.clock,
        pausedMs: () => this.#pausedMs,
      });
      this.#trace.add(owner, "starts");
    } catch (error) {
      this.#trace.add(owner, "cannot start", String(error));
      this.#time.after(500, owner, () => this.#begin(machine, owner));
    }
  }

  #crash(owner: string): void {
    const machine = this.#machines.find((one) => one.owner === owner);
    if (!machine || this.#time.isDead(owner)) return;
    this.#time.kill(owner);
    machine.process = undefined;
    this.#trace.add(owner, "crashes");
    this.#engine.died(owner);
    const ms = this.#random.between(10, 5_000);
    this.#start(machine, Math.max(10, Math.min(ms, this.#plan.troubleMs - this.#time.now)));
  }

  #drawBlows(): void {
    const { faults, troubleMs, seed } = this.#plan;
    for (const name of REPLAY_BLOWS) {
      const strength = faults[name];
      if (strength === undefined) continue;
      const random = new Random(seed, name);
      const most = name === "store's clock jumps" ? 3 : 2 + 8 * strength;
      for (let count = 1 + random.below(most); count > 0; count--)
        this.#time.after(random.next() * troubleMs, "world", () => this.#strike(name, random));
    }
  }

  #strike(name: (typeof REPLAY_BLOWS)[number], random: Random): void {
    const machine = this.#machines[random.below(this.#machines.length)];
    if (this.#spells.isHealed || !machine) return;
    const { owner } = machine;
    const { reservationMs, scale } = this.#plan;
    if (name === "crash") this.#crash(owner);
    else if (name === "pause") {
      const ms = random.pick([2_000, 15_000, 90_000] as const);
      this.#trace.add(owner, "is stopped for", ms);
      this.#pausedMs += ms;
      this.#time.pause(owner, this.#time.now + ms);
    } else {
      const far = scale === "week" ? 86_400_000 : 600_000;
      const furthest = [2_000, 2 * reservationMs, far] as const;
      const ms = Math.round(random.between(-1, 1) * random.pick(furthest));
      const isStores = name === "store's clock jumps";
      this.#trace.add(isStores ? "store" : owner, "its clock jumps by", ms);
      if (isStores) {
        this.#jumpedMs += Math.abs(ms);
        this.#ledger.storeJumps();
      }
      (isStores ? this.#storeClock : machine.clock).jump(ms);
    }
  }

  /** From here on nothing goes wrong. */
  #heal(): void {
    this.#trace.add("world", "is healed");
    this.#spells.isHealed = true;
    this.#sender.heal();
    for (const { clock, owner } of this.#machines) {
      clock.heal();
      this.#time.resume(owner);
    }
  }

  /** When all is over: once seven days have passed, a few requests are enough to remove what has expired. */
  async #forget(): Promise<void> {
    const random = new Random(this.#plan.seed, "probes");
    const [machine] = this.#machines;
    let isDone = false;
    const probe = async (left: number) => {
      await machine?.access?.store.reserve("lst_1", random.uuid());
      if (left > 1) this.#time.after(61_000, machine?.owner ?? "", () => void probe(left - 1));
      else isDone = true;
    };
    this.#time.after(RETENTION_MS + this.#jumpedMs, machine?.owner ?? "", () => void probe(PROBES));
    await this.#time.run(() => isDone || this.#ledger.violation !== undefined);
    const size = this.#engine.size();
    if (size > PROBES) this.#ledger.break("bounded", `${size} ids are kept, and ${PROBES} were asked for`);
  }
}
