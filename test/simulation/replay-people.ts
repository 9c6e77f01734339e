// Senders, written from the protocol and from nothing of the library's, and somebody who listens on the wire.
import { createHmac } from "node:crypto";
import { DrawnClock } from "./clocks.js";
import { Random } from "./random.js";
import type { ReplayWorldParts } from "./replay-engine.js";
import { REPLAY_REQUEST_FAULTS, type ReplayFault } from "./replay-plan.js";
import { SECRET, type WireAnswer, type WireRequest } from "./replay-process.js";

/** Hands a request to one of the processes; `told` is not called where nobody answers. */
type Deliver = (
  request: WireRequest,
  fault: ReplayFault | undefined,
  told: (answer: WireAnswer | "refused") => void,
) => void;

interface PeopleContext extends ReplayWorldParts {
  readonly deliver: Deliver;
}

interface Message {
  readonly listener: string;
  readonly id: string;
  readonly body: string;
  firstAt: number;
  attempts: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WINDOW_MS = 7 * DAY_MS - HOUR_MS;
const ATTEMPT_MS = 10_000;

/** Sends events until each is accepted or its window is over, and some of them again later. */
export class Sender {
  requests = 0;
  readonly #context: PeopleContext;
  readonly #random: Random;
  readonly #clock: DrawnClock;
  readonly #attacker: Attacker;
  #open = 0;

  constructor(context: PeopleContext) {
    const { plan, time } = context;
    this.#context = context;
    this.#random = new Random(plan.seed, "sender");
    this.#clock = new DrawnClock(time, { offMs: this.#random.between(-100_000, 100_000) });
    this.#attacker = new Attacker(context);
    const random = this.#random;
    for (let count = 0; count < plan.events; count++) {
      const listener = `lst_${1 + random.below(plan.listeners)}`;
      const body = JSON.stringify({ n: random.below(1_000_000), ü: "ü".repeat(random.below(20)) });
      const message = { listener, id: random.uuid(), body, firstAt: 0, attempts: 0 };
      // Of a week most is sent on the first day, so that its ids are forgotten within the world.
      const latest = plan.scale === "week" && random.chance(0.8) ? 0.05 : 0.9;
      const at = random.next() * latest * plan.troubleMs;
      this.#begin(message, at);
      if (plan.listeners > 1 && random.chance(0.2))
        this.#begin({ ...message, listener: listener === "lst_1" ? "lst_2" : "lst_1" }, 0);
      for (let again = 1; again < 4 && random.chance(plan.faults["sent again later"] ?? 0); again++) {
        const nearEnd = at + 7 * DAY_MS + random.between(-1, 1) * HOUR_MS;
        const isNearEnd = random.chance(0.5) && nearEnd < plan.troubleMs;
        this.#begin({ ...message }, isNearEnd ? nearEnd : random.next() * plan.troubleMs);
      }
    }
  }

  get isDone(): boolean {
    return this.#open === 0;
  }

  heal(): void {
    this.#clock.heal();
  }

  #begin(message: Message, ms: number): void {
    this.#open += 1;
    this.#context.time.after(ms, "sender", () => {
      message.firstAt = this.#context.time.now;
      this.#attempt(message);
    });
  }

  #attempt(message: Message): void {
    const { time, trace, deliver } = this.#context;
    const fault = this.#drawFault();
    const request = this.#signed(message, fault === "id in capitals");
    this.requests += 1;
    message.attempts += 1;
    trace.add("sender", "sends", message.listener, message.id, fault);
    this.#attacker.hears(request);
    let isOver = false;
    const end = (answer: WireAnswer | "nothing" | "refused") => {
      if (isOver) return;
      isOver = true;
      late.isOff = true;
      this.#told(message, answer);
    };
    const late = time.after(ATTEMPT_MS, "sender", () => end("nothing"));
    if (fault === "request lost") return;
    const later = (ms: number, run: () => void) => void time.after(ms, "network", run);
    const back = (answer: WireAnswer | "refused") => {
      if (fault !== "answer lost") time.after(this.#random.between(0.5, 20), "sender", () => end(answer));
    };
    const there = fault === "request held up" ? this.#random.between(100, 400_000) : 0;
    later(there + this.#random.between(0.5, 20), () => deliver(request, fault, back));
    if (fault === "request twice")
      later(this.#random.between(0, 300), () => deliver(request, undefined, back));
  }

  #told(message: Message, answer: WireAnswer | "nothing" | "refused"): void {
    const { plan, time, trace, ledger } = this.#context;
    const { listener, id, attempts, firstAt } = message;
    const words = typeof answer === "string" ? [answer] : [answer.status, answer.code];
    trace.add("sender", "is told", listener, id, ...words);
    const status = typeof answer === "string" ? 0 : answer.status;
    if (status === 401 || status === 500) ledger.break("error", `an honest request was answered ${status}`);
    if (status === 200 || status === 409 || time.now > firstAt + WINDOW_MS) {
      this.#open -= 1;
      return;
    }
    const waits = Math.min(plan.longestWaitMs, 500 * 2 ** attempts) * (1 + this.#random.next() / 2);
    time.after(waits, "sender", () => this.#attempt(message));
  }

  #signed({ listener, id, body }: Message, inCapitals: boolean): WireRequest {
    const timestamp = Math.floor(this.#clock.now() / 1000);
    const written = inCapitals ? id.toUpperCase() : id;
    const signature = createHmac("sha256", SECRET)
      .update(`${timestamp}.${written}.`)
      .update(body)
      .digest("base64url");
    return { listener, id: written, timestamp, signature, body, isForged: false };
  }

  #drawFault(): ReplayFault | undefined {
    const { plan, spells } = this.#context;
    if (spells.isHealed) return undefined;
    for (const name of REPLAY_REQUEST_FAULTS) {
      const strength = plan.faults[name];
      if (strength !== undefined && this.#random.chance(0.4 * strength)) return name;
    }
    return undefined;
  }
}

/** Sends what was on the wire again, as it was or changed. */
class Attacker {
  readonly #context: PeopleContext;
  readonly #random: Random;

  constructor(context: PeopleContext) {
    this.#context = context;
    this.#random = new Random(context.plan.seed, "attacker");
  }

  hears(request: WireRequest): void {
    const { plan, spells } = this.#context;
    if (spells.isHealed) return;
    const random = this.#random;
    if (random.chance(plan.faults.replayed ?? 0)) {
      const longest = random.pick([2_000, 300_000, 900_000, DAY_MS] as const);
      this.#send("replays", request, random.next() * Math.min(longest, plan.troubleMs));
    }
    if (random.chance(0.5 * (plan.faults.forged ?? 0)))
      this.#send("forges", this.#changed(request), random.next() * 20_000);
  }

  #send(what: string, request: WireRequest, ms: number): void {
    const { time, trace, deliver, ledger } = this.#context;
    const { listener, id, timestamp } = request;
    time.after(ms, "attacker", () => {
      trace.add("attacker", what, listener, id);
      deliver(request, undefined, (answer) => {
        const status = answer === "refused" ? 0 : answer.status;
        if (request.isForged && ![0, 400, 401].includes(status))
          ledger.break("forged", `a changed request of ${id} at ${timestamp} was answered ${status}`);
      });
    });
  }

  #changed(request: WireRequest): WireRequest {
    const random = this.#random;
    const ways = [
      { body: `${request.body} ` },
      { id: random.uuid() },
      { timestamp: request.timestamp + 1 + random.below(600) },
      { signature: request.signature.replace(/^./, (first) => (first === "A" ? "B" : "A")) },
    ] as const;
    return { ...request, ...ways[random.below(ways.length)], isForged: true };
  }
}
