import { type ErrorCode, HookproofError } from "hookproof";
import type { DrawnClock } from "./clocks.js";
import { nameOf, proofFault } from "./facts.js";
import type { Ledger } from "./ledger.js";
import { SeenAttempts, SeenLimits } from "./limits.js";
import type { FaultName, ListenerPlan, Plan } from "./plan.js";
import { REQUEST_FAULTS } from "./plan.js";
import { Random } from "./random.js";
import { type Answer, ReferenceReceiver } from "./reference-receiver.js";
import { SchemeReceiver } from "./scheme-receiver.js";
import { type SchemeSide, SECRETS, SIDES } from "./scheme-sides.js";
import type { Spells } from "./spells.js";
import type { Trace } from "./trace.js";
import type { VirtualTime } from "./virtual-time.js";

/** As `Transport` of `hookproof` has them. */
interface TransportRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: Uint8Array | undefined;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}
interface TransportResponse {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
  readonly truncated: boolean;
  readonly resent?: boolean;
  readonly authenticated?: boolean;
}

/** A request on its way. */
interface Exchange {
  readonly worker: string;
  readonly listener: string;
  readonly id: string;
  readonly request: TransportRequest;
  readonly fault: FaultName | undefined;
  readonly answer: (answer: Answer, resent: boolean) => void;
  readonly fail: (code: ErrorCode) => void;
}

interface World {
  readonly plan: Plan;
  readonly time: VirtualTime;
  readonly ledger: Ledger;
  readonly spells: Spells;
  readonly trace: Trace;
  readonly receiverClock: DrawnClock;
}

/** The network between the workers and the receiver, and the receiver. */
export class Network {
  readonly #world: World;
  readonly #random: Random;
  readonly #receivers: ReadonlyMap<string, ReferenceReceiver | SchemeReceiver>;
  readonly #sides: ReadonlyMap<string, SchemeSide>;
  readonly #limits: ReadonlyMap<string, SeenLimits>;
  readonly #attempts: SeenAttempts;
  readonly #poisoned = new Set<string>();
  requests = 0;
  runs = 0;

  constructor(world: World) {
    const { plan, time, ledger, spells, trace, receiverClock } = world;
    this.#world = world;
    this.#random = new Random(plan.seed, "network");
    const sideOf = ({ scheme = "access-governance" }: ListenerPlan) => SIDES[scheme];
    const receiver = (one: ListenerPlan) => {
      const listener = one.name;
      const options = {
        now: () => receiverClock.now(),
        after: (ms: number, run: () => void) => void time.after(ms, "receiver", run),
        secrets: () => [spells.isOn("secret switched") ? SECRETS[1] : SECRETS[0]],
        runMs: () =>
          !spells.isHealed && this.#random.chance(0.05)
            ? this.#random.between(0, 6_000)
            : this.#random.between(0, 60),
        onRun: (id: string, body: Uint8Array) => {
          this.runs += 1;
          trace.add("receiver", "runs", listener, id);
          ledger.ran(listener, id, body);
        },
      };
      const side = sideOf(one);
      const hasBoth = (plan.faults["secret switched"] ?? 1) < 0.5;
      const rotation = { isOn: true, hasBoth, now: () => (spells.isOn("secret switched") ? 1 : 0) } as const;
      const { verifier } = side;
      return verifier
        ? new SchemeReceiver(side, () => verifier(listener, rotation), options)
        : new ReferenceReceiver(options);
    };
    this.#sides = new Map(plan.listeners.map((one) => [one.name, sideOf(one)]));
    this.#receivers = new Map(plan.listeners.map((one) => [one.name, receiver(one)]));
    this.#attempts = new SeenAttempts(plan, ledger, time);
    this.#limits = new Map(plan.listeners.map((one) => [one.name, new SeenLimits(one, ledger, time)]));
  }

  /** An event that the receiver refuses for good. */
  poison(id: string): void {
    this.#poisoned.add(id);
  }

  transport(worker: string): (request: TransportRequest) => Promise<TransportResponse> {
    return (request) => {
      const { time, ledger, trace } = this.#world;
      if (time.isDead(worker)) return new Promise(() => {});
      const listener = request.url.slice(request.url.lastIndexOf("/") + 1);
      const side = this.#sides.get(listener) ?? SIDES["access-governance"];
      const { id, event, proof } = side.seen(request.headers, request.body ?? new Uint8Array());
      const limits = this.#limits.get(listener);
      const held = ledger.sent(worker, listener, id, event, request.timeoutMs);
      const one = ledger.facts.get(nameOf(listener, id));
      const fault = proof && one && proofFault(one, proof);
      if (fault) ledger.break("bytes", fault);
      limits?.started(worker, held);
      const ended = this.#attempts.started(worker);
      this.requests += 1;
      const drawn = this.#drawFault();
      trace.add(worker, "sends", listener, id, drawn);
      return new Promise((resolve, reject) => {
        let isOver = false;
        const end = (how: () => void) => {
          if (isOver) return;
          isOver = true;
          timer.isOff = true;
          limits?.ended(worker);
          ended();
          how();
        };
        const fail = (code: ErrorCode) => {
          end(() => {
            trace.add(worker, "is told", listener, id, code);
            ledger.answered(held, {});
            reject(new HookproofError(code, "in the simulated network"));
          });
        };
        const timer = time.after(request.timeoutMs, worker, () => fail("TIMED_OUT"));
        request.signal?.addEventListener("abort", () => fail("ABORTED"), { once: true });
        if (request.signal?.aborted) return fail("ABORTED");
        const answer = (given: Answer, resent: boolean) =>
          end(() => {
            const { status, retryAfterS } = given;
            trace.add(worker, "is told", listener, id, status);
            const retryAfterMs = (retryAfterS ?? 0) * 1000;
            if (status === 429 || status === 503) limits?.rests(worker, retryAfterMs);
            const means = side.isAccepted(status)
              ? status === 409
                ? "known"
                : "accepted"
              : status === side.refusal?.status && given.isFinal
                ? "refused"
                : undefined;
            ledger.answered(held, { status, means, resent, retryAfterMs });
            resolve(this.#responseOf(given, resent));
          });
        this.#send({ worker, listener, id, request, fault: drawn, answer, fail });
      });
    };
  }

  #drawFault(): FaultName | undefined {
    const { plan, spells } = this.#world;
    if (spells.isHealed) return undefined;
    for (const name of REQUEST_FAULTS) {
      const strength = plan.faults[name];
      if (strength !== undefined && this.#random.chance(0.4 * strength)) return name;
    }
    return undefined;
  }

  #send(exchange: Exchange): void {
    const { time, spells } = this.#world;
    const { worker, listener, id, request, fault, answer, fail } = exchange;
    const random = this.#random;
    const back = () => random.between(0.5, 20);
    const later = (ms: number, run: () => void) => void time.after(ms, "network", run);
    const told = (ms: number, run: () => void) => void time.after(ms, worker, run);
    if (fault === "lost before it arrived") {
      if (random.chance(0.5)) told(back(), () => fail("CONNECTION_LOST"));
      return;
    }
    const there = fault === "request held up" ? random.between(100, 200_000) : random.between(0.5, 20);
    const arrives = (tell: (answer: Answer) => void) => {
      const reply = (given: Answer) => {
        this.#world.trace.add("receiver", "answers", listener, id, given.status);
        tell(given);
      };
      if (spells.isOn("receiver is down")) return told(back(), () => fail("CONNECTION_FAILED"));
      const refusal = this.#inFront(exchange);
      if (refusal) return reply(refusal);
      this.#receivers.get(listener)?.receive({ ...request, body: request.body ?? new Uint8Array() }, reply);
    };
    const resent = fault === "resent by the transport";
    const reply = (given: Answer) => {
      if (fault === "answer lost") {
        if (random.chance(0.5)) told(back(), () => fail("CONNECTION_LOST"));
        return;
      }
      const after = fault === "500 after the run" ? { status: 500 } : given;
      told(fault === "answer late" ? random.between(500, 90_000) : back(), () => answer(after, resent));
    };
    later(there, () => {
      if (!resent) return arrives(reply);
      // The first copy arrives or not, and its answer never does; the second one is what the worker hears of.
      if (random.chance(0.7)) arrives(() => {});
      later(back(), () => arrives(reply));
    });
  }

  /** What answers in place of the receiver. */
  #inFront({ listener, id, fault }: Exchange): Answer | undefined {
    const { plan, spells } = this.#world;
    const random = this.#random;
    if (fault === "500 before the run") return { status: random.pick([500, 502, 504, 408] as const) };
    const longest = plan.scale === "week" ? 200_000 : plan.scale === "long" ? 300 : 15;
    if (fault === "429") return { status: 429, retryAfterS: random.below(longest) };
    if (fault === "503 with Retry-After") return { status: 503, retryAfterS: random.below(longest) };
    if (spells.isOn("401 for a while")) return { status: 401 };
    if (spells.isOn("404 for a while")) return { status: random.pick([404, 403] as const) };
    const { stops, refusal } = this.#sides.get(listener) ?? SIDES["access-governance"];
    if (stops && spells.isOn("410 for a while")) return { status: 410 };
    return refusal && this.#poisoned.has(id) ? { ...refusal, isFinal: true } : undefined;
  }

  #responseOf({ status, code, body: text, retryAfterS }: Answer, resent: boolean): TransportResponse {
    const { receiverClock, spells } = this.#world;
    const wrong = spells.isOn("wrong Date") ? this.#random.between(-2, 2) * 3_600_000 : 0;
    const headers: [string, string][] = [["Date", new Date(receiverClock.now() + wrong).toUTCString()]];
    if (retryAfterS !== undefined) headers.push(["Retry-After", String(retryAfterS)]);
    const body = Buffer.from(text ?? (code === undefined ? "" : `{"code":"${code}"}`));
    return { status, headers, body, truncated: false, authenticated: true, ...(resent && { resent }) };
  }
}
