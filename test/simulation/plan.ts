import { Random } from "./random.js";
import { SCHEMES, type SchemeName } from "./scheme-sides.js";

export type StoreKind = "memory" | "sqlite" | "postgres";

/** What can go wrong at one request, with the share of requests it happens to. */
export const REQUEST_FAULTS = [
  "lost before it arrived",
  "answer lost",
  "answer late",
  "request held up",
  "resent by the transport",
  "500 before the run",
  "500 after the run",
  "429",
  "503 with Retry-After",
] as const;

/** What goes wrong for a while. */
export const SPELLS = [
  "receiver is down",
  "401 for a while",
  "404 for a while",
  "410 for a while",
  "secret switched",
  "wrong Date",
  "receiver's clock is off",
  "store is gone",
  "store is busy",
  "a snapshot is held",
] as const;

/** What happens at a moment. */
export const BLOWS = [
  "crash",
  "pause",
  "stop",
  "worker's clock jumps",
  "store's clock jumps",
  "power failure",
  "all stand still",
] as const;

/** What is drawn at each call of a store, or each event. */
export const CHANCES = [
  "answer of the store lost",
  "answer of the store late",
  "store refuses",
  "crash at a call",
  "transaction rolls back",
  "transaction stays open",
  "poisoned event",
  "operator",
  "deliver later",
  "stands still at a call",
  "brought back at a claim",
  "calls meet",
] as const;

export type FaultName =
  | (typeof REQUEST_FAULTS)[number]
  | (typeof SPELLS)[number]
  | (typeof BLOWS)[number]
  | (typeof CHANCES)[number];

/** Drawn from a stream of their own, so that the worlds of the earlier faults stay what they were. */
const LATER: readonly string[] = [
  ...["all stand still", "answer of the store late", "410 for a while"],
  ...["stands still at a call", "brought back at a claim", "a snapshot is held", "calls meet"],
];
const FAULTS = [...REQUEST_FAULTS, ...SPELLS, ...BLOWS, ...CHANCES].filter((name) => !LATER.includes(name));

export interface ListenerPlan {
  readonly name: string;
  readonly concurrency: number;
  readonly rate?: { readonly perSecond: number; readonly burst: number };
  readonly onDead: "continue" | "block";
  readonly attemptTimeoutMs: number;
  readonly retry: {
    readonly firstDelayMs: number;
    readonly maxDelayMs: number;
    readonly maxAttempts?: number;
  };
  readonly breaker: boolean;
  /** Of a world of several schemes; `access-governance` by default. */
  readonly scheme?: SchemeName;
}

export interface Retention {
  readonly deliveredMs: number;
  readonly deadMs: number;
}

/** A world, as a seed draws it. */
export interface Plan {
  readonly seed: number;
  readonly store: StoreKind;
  /** Seconds or minutes of trouble, or more than the window of seven days. */
  readonly scale: "short" | "long" | "week";
  /** How long there are faults and new events. */
  readonly troubleMs: number;
  readonly pollMs: number;
  readonly leaseMs: number;
  readonly concurrency: number;
  readonly workers: readonly { readonly offMs: number; readonly rate: number }[];
  readonly producers: number;
  readonly events: number;
  readonly keys: number;
  readonly listeners: readonly ListenerPlan[];
  /** Whether the workers ask a function for a listener's options, which takes time and may fail. */
  readonly asksForListeners: boolean;
  /** A store that tells nobody of work, so that workers find it by asking. */
  readonly tellsNobody?: boolean;
  /** Whether workers say that they are alive; over PostgreSQL they do in all worlds. */
  readonly signs?: boolean;
  /** What looks on throws, as nothing may come of it. */
  readonly observerThrows?: boolean;
  readonly retention?: Retention;
  /** The faults of this world, each with its strength from 0 to 1. */
  readonly faults: Readonly<Partial<Record<FaultName, number>>>;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** How the time of a world passes: what a wait for a poll is, how long the trouble lasts. */
const SCALES = {
  short: { trouble: [20_000, 90_000], polls: [500, 1_500, 4_000], retry: [1_000, 8_000] },
  long: { trouble: [600_000, 1_800_000], polls: [20_000, 60_000, 90_000], retry: [1_000, 120_000] },
  week: {
    trouble: [7.2 * DAY_MS, 9 * DAY_MS],
    polls: [4 * HOUR_MS, 8 * HOUR_MS, 12 * HOUR_MS],
    retry: [60_000, HOUR_MS],
  },
} as const;

/** No shorter than what a producer may take that repeats an enqueueing. */
const RETENTION = { short: [60_000, 120_000], long: [120_000, 900_000], week: [DAY_MS, 9 * DAY_MS] } as const;

/** Draws a world. */
export function planOf(seed: number, store: StoreKind): Plan {
  const plan = withMeetings(withOvertaken(withGone(withMore(worldOf(seed, store)))));
  const isDrawn = plan.scale !== "week" && new Random(seed, "signs of the plan").chance(0.15);
  const signs = store === "postgres" || isDrawn;
  return signs ? { ...plan, signs } : plan;
}

/**
 * Over PostgreSQL, in some worlds a snapshot is held, and in some calls are under way at the same moment: more workers,
 * which ask more often, and clocks that are not set, as a call goes by the time at which it began.
 */
function withMeetings(plan: Plan): Plan {
  if (plan.store !== "postgres") return plan;
  const random = new Random(plan.seed, "meetings of the plan");
  const [isHeld, meet] = [random.chance(0.3), random.chance(0.35)];
  const [holds, meets] = [random.between(0.3, 1), random.between(0.2, 1)];
  const faults = { ...plan.faults, ...(isHeld && { "a snapshot is held": holds }) };
  if (!meet || plan.scale === "week" || "store's clock jumps" in faults) return { ...plan, faults };
  const { "all stand still": _stands, ...others } = faults;
  const { polls, retry } = SCALES.short;
  const workers = Array.from({ length: 1 + random.below(3) }, () => ({ offMs: 0, rate: 1 }));
  return {
    ...plan,
    ...{ scale: "short", troubleMs: random.between(4_000, 15_000), pollMs: polls[0] },
    ...{ keys: 1 + random.below(2), events: 20 + random.below(30), producers: 3 },
    workers: [...plan.workers, ...workers].slice(0, 4),
    listeners: plan.listeners.map((one) => {
      return { ...one, retry: { ...one.retry, firstDelayMs: retry[0], maxDelayMs: retry[1] } };
    }),
    faults: { ...others, "calls meet": meets },
  };
}

/** In some worlds a worker wakes up, over SQLite, or an event comes back, while another one is under way. */
function withOvertaken(plan: Plan): Plan {
  const random = new Random(plan.seed, "overtaken of the plan");
  const [stands, comesBack] = [random.chance(0.2) && plan.store === "sqlite", random.chance(0.15)];
  const [strength, poison] = [random.between(0.2, 1), random.between(0.5, 1)];
  if (plan.store === "memory") return plan;
  const [first] = plan.workers;
  const isAlone = first !== undefined && plan.workers.length === 1;
  return {
    ...plan,
    ...(stands && isAlone && { workers: [first, { offMs: 0, rate: 1 }] }),
    ...(comesBack && { keys: Math.max(1, plan.keys) }),
    faults: {
      ...plan.faults,
      ...(stands && { "stands still at a call": strength }),
      ...(comesBack && { "brought back at a claim": strength, "poisoned event": poison }),
    },
  };
}

/** In some worlds the scheme has a word for a receiver that wants nothing more. */
function withGone(plan: Plan): Plan {
  const random = new Random(plan.seed, "410 of the plan");
  if (!random.chance(0.12)) return plan;
  const { "secret switched": _, ...faults } = plan.faults; // a signer of any scheme has one secret
  return { ...plan, faults: { ...faults, "410 for a while": random.between(0.05, 0.9) } };
}

function withMore(plan: Plan): Plan {
  const random = new Random(plan.seed, "more of the plan");
  const { store } = plan;
  const [tellsNobody, observerThrows] = [random.chance(0.12) && store === "memory", random.chance(0.3)];
  const standsStill = random.chance(plan.scale === "week" ? 0 : 0.25);
  const strength = random.between(0.05, 1);
  // Together they show what is done at the very end of a window.
  const isLate = random.chance(standsStill ? 0.6 : 0.1);
  const [least, most] = RETENTION[plan.scale];
  const retention = { deliveredMs: random.between(least, most), deadMs: random.between(least, most) };
  return {
    ...plan,
    ...(tellsNobody && { tellsNobody }),
    ...(observerThrows && { observerThrows }),
    ...(random.chance(0.3) && { retention }),
    faults: {
      ...plan.faults,
      ...(standsStill && { "all stand still": strength }),
      ...(isLate && { "answer of the store late": strength }),
    },
  };
}

/** Draws a world with four listeners, one of each scheme. Its other parts are those of the seed. */
export function schemesPlanOf(seed: number, store: StoreKind): Plan {
  const plan = planOf(seed, store);
  const listeners = SCHEMES.flatMap((scheme, index) => {
    const one = plan.listeners[index % plan.listeners.length];
    return one ? [{ ...one, name: `l${index + 1}`, ...(index > 0 && { scheme }) }] : [];
  });
  // Whether a security event token comes from the future shows by the receiver's Date alone.
  const { "wrong Date": _date, ...faults } = plan.faults;
  return {
    ...plan,
    ...{ listeners, events: 2 * plan.events },
    faults: faults["store's clock jumps"] === undefined ? plan.faults : faults,
  };
}

function worldOf(seed: number, store: StoreKind): Plan {
  const random = new Random(seed, "plan");
  const scale = random.pick(["short", "short", "short", "long", "week"] as const);
  const { trouble, polls, retry } = SCALES[scale];
  const attemptTimeoutMs = random.pick([1_000, 3_000, 10_000] as const);
  const faults: Partial<Record<FaultName, number>> = {};
  const share = random.pick([0.1, 0.25, 0.5] as const);
  for (const name of FAULTS) {
    const isOn = random.chance(share);
    const strength = random.between(0.05, 1);
    if (isOn) faults[name] = strength;
  }
  // Trouble of a week is that nobody delivers: what else happens in it would only take time.
  if (scale === "week" && random.chance(0.7)) faults["receiver is down"] = 1;
  const listeners = Array.from({ length: 1 + random.below(3) }, (_, index): ListenerPlan => {
    const hasRate = random.chance(0.2);
    const perSecond = random.pick([0.5, 2, 10] as const);
    const burst = 1 + random.below(3);
    const hasMost = random.chance(0.1);
    const maxAttempts = 2 + random.below(5);
    return {
      name: `l${index + 1}`,
      concurrency: random.pick([1, 2, 5, 10] as const),
      ...(hasRate && scale === "short" && { rate: { perSecond, burst } }),
      onDead: random.chance(0.4) ? "block" : "continue",
      attemptTimeoutMs,
      retry: { firstDelayMs: retry[0], maxDelayMs: retry[1], ...(hasMost && { maxAttempts }) },
      breaker: random.chance(0.5),
    };
  });
  return {
    seed,
    store,
    scale,
    troubleMs: random.between(trouble[0], trouble[1]),
    pollMs: random.pick(polls),
    leaseMs: attemptTimeoutMs + 5_000 + random.pick([2_000, 5_000, 30_000] as const),
    concurrency: random.pick([3, 50, 250] as const),
    workers: Array.from({ length: 1 + random.below(4) }, () => {
      const isOff = random.chance(0.2);
      const offMs = random.between(-900_000, 900_000);
      const drifts = random.chance(0.3);
      const rate = 1 + random.between(-0.02, 0.02);
      return { offMs: isOff ? offMs : random.between(-2_000, 2_000), rate: drifts ? rate : 1 };
    }),
    producers: 1 + random.below(3),
    events: 3 + random.below(22),
    keys: random.below(4),
    listeners,
    asksForListeners: random.chance(0.25),
    faults,
  };
}

/** How long what has ended is kept; for longer than any world lasts, if the plan does not say. */
export function retentionOf({ retention }: Plan): Retention {
  return retention ?? { deliveredMs: 60 * DAY_MS, deadMs: 60 * DAY_MS };
}
