import type { StoreKind } from "./plan.js";
import { Random } from "./random.js";

/** What can go wrong at one request, or at its run. */
export const REPLAY_REQUEST_FAULTS = [
  "request lost",
  "answer lost",
  "request held up",
  "request twice",
  "id in capitals",
  "run fails before its work",
  "run fails after its work",
  "slow run",
  "run never ends",
] as const;

/** What goes wrong for a while. */
export const REPLAY_SPELLS = [
  "store is gone",
  "store is busy",
  "trigger is inactive",
  "trigger fails",
] as const;

/** What happens at a moment. */
export const REPLAY_BLOWS = ["crash", "pause", "process's clock jumps", "store's clock jumps"] as const;

/** What is drawn at each call of a store, or each event. */
export const REPLAY_CHANCES = [
  "answer of the store lost",
  "store refuses",
  "crash at a call",
  "sent again later",
  "replayed",
  "forged",
] as const;

export type ReplaySpell = (typeof REPLAY_SPELLS)[number];

export type ReplayFault =
  | (typeof REPLAY_REQUEST_FAULTS)[number]
  | ReplaySpell
  | (typeof REPLAY_BLOWS)[number]
  | (typeof REPLAY_CHANCES)[number];

const FAULTS: readonly ReplayFault[] = [
  ...REPLAY_REQUEST_FAULTS,
  ...REPLAY_SPELLS,
  ...REPLAY_BLOWS,
  ...REPLAY_CHANCES,
];

/** A world of the receiving side, as a seed draws it. */
export interface ReplayPlan {
  readonly seed: number;
  readonly store: StoreKind;
  /** Seconds or minutes of trouble, or more than the seven days for which ids are kept. */
  readonly scale: "short" | "long" | "week";
  readonly troubleMs: number;
  /** The longest time between two attempts of a sender's. */
  readonly longestWaitMs: number;
  readonly reservationMs: number;
  readonly inFlightWaitMs: number;
  /** Whether a run commits its work and the id in one transaction. */
  readonly inTransaction: boolean;
  /** How much the clock of each process is off. */
  readonly processes: readonly { readonly offMs: number }[];
  readonly listeners: number;
  readonly events: number;
  /** The faults of this world, each with its strength from 0 to 1. */
  readonly faults: Readonly<Partial<Record<ReplayFault, number>>>;
}

const DAY_MS = 86_400_000;
const LONGEST_WAIT_MS = { short: 8_000, long: 60_000, week: 3_600_000 };
const TROUBLE = {
  short: [20_000, 90_000],
  long: [600_000, 1_800_000],
  week: [7.2 * DAY_MS, 9 * DAY_MS],
} as const;

/** Draws a world of the receiving side. */
export function replayPlanOf(seed: number, store: StoreKind): ReplayPlan {
  const random = new Random(seed, "plan of the receiving side");
  const scale = random.pick(["short", "short", "short", "long", "week"] as const);
  const [least, most] = TROUBLE[scale];
  const faults: Partial<Record<ReplayFault, number>> = {};
  const share = random.pick([0.15, 0.3, 0.6] as const);
  for (const name of FAULTS) {
    const isOn = random.chance(share);
    const strength = random.between(0.05, 1);
    if (isOn) faults[name] = strength;
  }
  return {
    seed,
    store,
    scale,
    troubleMs: random.between(least, most),
    longestWaitMs: LONGEST_WAIT_MS[scale],
    reservationMs: random.pick([1_000, 5_000, 60_000] as const),
    inFlightWaitMs: random.pick([0, 500, 5_000] as const),
    inTransaction: random.chance(0.5),
    processes: Array.from({ length: 1 + random.below(3) }, () => ({
      offMs: random.between(-100_000, 100_000),
    })),
    listeners: 1 + random.below(2),
    events: 1 + random.below(8),
    faults,
  };
}

/** Plans that have less in them, to find out what a failure needs. */
export function* smallerReplayPlans(plan: ReplayPlan): Generator<ReplayPlan> {
  for (const name of Object.keys(plan.faults) as ReplayFault[]) {
    const { [name]: _, ...faults } = plan.faults;
    yield { ...plan, faults };
  }
  if (plan.processes.length > 1) yield { ...plan, processes: plan.processes.slice(0, -1) };
  if (plan.listeners > 1) yield { ...plan, listeners: plan.listeners - 1 };
  if (plan.events > 1) yield { ...plan, events: plan.events - 1 };
  if (plan.inFlightWaitMs > 0) yield { ...plan, inFlightWaitMs: 0 };
  if (plan.processes.some(({ offMs }) => offMs !== 0))
    yield { ...plan, processes: plan.processes.map(() => ({ offMs: 0 })) };
}
