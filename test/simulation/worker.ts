import type { Signer } from "hookproof";
import { createOutbox, type Outbox, type OutboxListenerOptions } from "hookproof/outbox";
import type { OutboxStore } from "hookproof/outbox/store";
import { DrawnClock } from "./clocks.js";
import type { Network } from "./network.js";
import { type Plan, retentionOf } from "./plan.js";
import type { Random } from "./random.js";
import { type Rotation, SIDES, urlOf } from "./scheme-sides.js";
import type { Spells } from "./spells.js";
import { stoppingSigner } from "./stopping-scheme.js";
import type { VirtualTime } from "./virtual-time.js";

interface ProcessContext {
  readonly plan: Plan;
  readonly time: VirtualTime;
  readonly spells: Spells;
  readonly network: Network;
  readonly random: Random;
}

/** The outbox of one process. */
export function outboxOf(
  owner: string,
  store: OutboxStore,
  clock: DrawnClock,
  { plan, time, spells, network, random }: ProcessContext,
): Outbox {
  const strength = plan.faults["secret switched"];
  // While a secret is rotated a worker has both, or asks a vault that hears of the new one a moment later.
  const [spell] = spells.of("secret switched");
  const lateMs = Math.min(plan.troubleMs / 20, 60_000);
  const isHeard = () => {
    const now = time.now - time.stoodStillMs;
    return spell && !spells.isHealed && now > spell.from + lateMs && now < spell.to + lateMs;
  };
  const rotation: Rotation = {
    isOn: strength !== undefined,
    hasBoth: strength !== undefined && strength < 0.5,
    now: () => (isHeard() ? 1 : 0),
  };
  const own = SIDES["access-governance"].signer(rotation) as Signer;
  const signer = "410 for a while" in plan.faults ? stoppingSigner(own) : own;
  const transport = network.transport(owner);
  const listeners = Object.fromEntries(
    plan.listeners.map(({ name, scheme, concurrency, rate, onDead, attemptTimeoutMs, retry, breaker }) => [
      name,
      {
        ...{ url: urlOf(name), signer: scheme ? SIDES[scheme].signer(rotation) : signer },
        ...{ transport, concurrency, rate, onDead, attemptTimeoutMs, retry },
        breaker: breaker
          ? { windowMs: 20_000, openMs: 2 * retry.firstDelayMs, minAttempts: 5 }
          : (false as const),
      },
    ]),
  );
  const answered = new Set<string>();
  const asked = (name: string) =>
    new Promise<OutboxListenerOptions | undefined>((resolve, reject) => {
      // A listener that a process has never known has no options to go by.
      const fails = !spells.isHealed && answered.has(name) && random.chance(0.2);
      answered.add(name);
      time.after(1 + 50 * random.next(), owner, () =>
        fails ? reject(new Error("the listeners cannot be read")) : resolve(listeners[name]),
      );
    });
  return createOutbox({
    store,
    listeners: plan.asksForListeners ? asked : listeners,
    concurrency: plan.concurrency,
    leaseMs: plan.leaseMs,
    pollMs: plan.pollMs,
    retention: retentionOf(plan),
    ...(plan.observerThrows && { observe }),
    clock,
    random: () => random.next(),
    wait: (ms, signal) => waited(time, owner, ms, signal),
    quiet: true,
  });
}

function observe(): never {
  throw new Error("what looks on fails");
}

function waited(time: VirtualTime, owner: string, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      step.isOff = true;
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const step = time.after(ms, owner, end);
    signal?.addEventListener("abort", end);
    if (signal?.aborted) end();
  });
}

/** The machine's clock of a worker, as the plan has it. */
export function clockOf(plan: Plan, time: VirtualTime, index: number): DrawnClock {
  return new DrawnClock(time, plan.workers[index]);
}
