import { type ErrorCode, HookproofError } from "hookproof";
import type { DrawnClock } from "./clocks.js";
import type { Ledger } from "./ledger.js";
import type { FaultName, ListenerPlan, Plan } from "./plan.js";
import { REQUEST_FAULTS } from "./plan.js";
import { Random } from "./random.js";
import { type Answer, ReferenceReceiver } from "./reference-receiver.js";
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

/** The secrets of every listener: the first one, and the one it is switched to. */
export const SECRETS = [
  "WzEsMiwzLDQsNSw2LDcsOCw5LDEwLDExLDEyLDEzXSE",
  "WzEzLDEyLDExLDEwLDksOCw3LDYsNSw0LDMsMiwxXSE",
] as const;

export const urlOf = (listener: string) => `https://receiver.example/api/v1/webhooks/incoming/${listener}`;

/** A request on its way. */
interface Exchange {
  readonly worker: string;
  readonly listener: string;
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
  readonly #receivers: ReadonlyMap<string, ReferenceReceiver>;
  readonly #limits: ReadonlyMap<string, SeenLimits>;
  readonly #poisoned = new Set<string>();
  requests = 0;
  runs = 0;

  constructor(world: World) {
    const { plan, time, ledger, spells, trace, receiverClock } = world;
    this.#world = world;
    this.#random = new Random(plan.seed, "network");
    const receiver = (listener: string) =>
      new ReferenceReceiver({
        now: () => receiverClock.now(),
        after: (ms, run) => void time.after(ms, "receiver", run),
        secrets: () => [spells.isOn("secret switched") ? SECRETS[1] : SECRETS[0]],
        runMs: () =>
          !spells.isHealed && this.#random.chance(0.05)
            ? this.#random.between(0, 6_000)
            : this.#random.between(0, 60),
        onRun: (id, body) => {
          this.runs += 1;
          trace.add("receiver", "runs", listener, id);
          ledger.ran(listener, id, body);
        },
      });
    this.#receivers = new Map(plan.listeners.map(({ name }) => [name, receiver(name)]));
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
      const id = headerOf(request.headers, "webhook-event-id");
      const limits = this.#limits.get(listener);
      const held = ledger.sent(worker, listener, id, request.body ?? new Uint8Array(), request.timeoutMs);
      limits?.started(worker, held?.sends === 1);
      this.requests += 1;
      const fault = this.#drawFault();
      trace.add(worker, "sends", listener, id, fault);
      return new Promise((resolve, reject) => {
        let isOver = false;
        const end = (how: () => void) => {
          if (isOver) return;
          isOver = true;
          timer.isOff = true;
          limits?.ended(worker);
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
            ledger.answered(held, { status, resent, retryAfterMs });
            resolve(this.#responseOf(given, resent));
          });
        this.#send({ worker, listener, request, fault, answer, fail });
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
    const { worker, listener, request, fault, answer, fail } = exchange;
    const random = this.#random;
    const back = () => random.between(0.5, 20);
    const later = (ms: number, run: () => void) => void time.after(ms, "network", run);
    const told = (ms: number, run: () => void) => void time.after(ms, worker, run);
    if (fault === "lost before it arrived") {
      if (random.chance(0.5)) told(back(), () => fail("CONNECTION_LOST"));
      return;
    }
    const there = fault === "request held up" ? random.between(100, 200_000) : random.between(0.5, 20);
    const arrives = (reply: (answer: Answer) => void) => {
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
  #inFront({ request, fault }: Exchange): Answer | undefined {
    const { plan, spells } = this.#world;
    const random = this.#random;
    if (fault === "500 before the run") return { status: random.pick([500, 502, 504, 408] as const) };
    const longest = plan.scale === "week" ? 200_000 : plan.scale === "long" ? 300 : 15;
    if (fault === "429") return { status: 429, retryAfterS: random.below(longest) };
    if (fault === "503 with Retry-After") return { status: 503, retryAfterS: random.below(longest) };
    if (spells.isOn("401 for a while")) return { status: 401 };
    if (spells.isOn("404 for a while")) return { status: random.pick([404, 403] as const) };
    const id = headerOf(request.headers, "webhook-event-id");
    return this.#poisoned.has(id) ? { status: 422 } : undefined;
  }

  #responseOf({ status, code, retryAfterS }: Answer, resent: boolean): TransportResponse {
    const { receiverClock, spells } = this.#world;
    const wrong = spells.isOn("wrong Date") ? this.#random.between(-2, 2) * 3_600_000 : 0;
    const headers: [string, string][] = [["Date", new Date(receiverClock.now() + wrong).toUTCString()]];
    if (retryAfterS !== undefined) headers.push(["Retry-After", String(retryAfterS)]);
    const body = Buffer.from(code === undefined ? "" : `{"code":"${code}"}`);
    return { status, headers, body, truncated: false, authenticated: true, ...(resent && { resent }) };
  }
}

/** The limits of a listener, as the network sees them kept. */
class SeenLimits {
  readonly #plan: ListenerPlan;
  readonly #ledger: Ledger;
  readonly #time: VirtualTime;
  readonly #open = new Map<string, number>();
  readonly #starts = new Map<string, number[]>();

  constructor(plan: ListenerPlan, ledger: Ledger, time: VirtualTime) {
    this.#plan = plan;
    this.#ledger = ledger;
    this.#time = time;
  }

  started(worker: string, isFirst: boolean): void {
    const { name, concurrency, rate } = this.#plan;
    const open = (this.#open.get(worker) ?? 0) + 1;
    this.#open.set(worker, open);
    if (open > concurrency) this.#ledger.break("limits", `${worker} has ${open} requests open at ${name}`);
    if (!rate || !isFirst) return;
    const starts = this.#starts.get(worker) ?? [];
    starts.push(this.#time.now);
    this.#starts.set(worker, starts);
    for (const [index, from] of starts.entries()) {
      const allowed = rate.burst + (rate.perSecond * 1.05 * (this.#time.now - from)) / 1000 + 1;
      if (starts.length - index <= allowed) continue;
      const within = Math.round(this.#time.now - from);
      this.#ledger.break("limits", `${worker} sent ${starts.length - index} to ${name} within ${within} ms`);
    }
  }

  ended(worker: string): void {
    this.#open.set(worker, (this.#open.get(worker) ?? 1) - 1);
  }
}

function headerOf(headers: readonly (readonly [string, string])[], wanted: string): string {
  return headers.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? "";
}
