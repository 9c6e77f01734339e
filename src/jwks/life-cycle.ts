import type { KeyLife, KeyState, KeyTimes } from "./key-record.js";

/** What happens to a key: it is published, signs, is retired, is removed. */
export type LifeStep = "publish" | "sign" | "retire" | "remove";

/** A step of a key's life and its time in milliseconds since the epoch. */
export interface PlannedStep {
  readonly step: LifeStep;
  readonly kid: string;
  readonly at: number;
}

/**
 * The state of a key at a moment.
 *
 * @example
 * ```ts
 * import { stateAt } from "hookproof/jwks";
 *
 * stateAt({ createdAt: 0, signsAt: 900_000 }, 60_000); // "next"
 * ```
 */
export function stateAt({ signsAt, retiresAt, removesAt }: KeyTimes, now: number): KeyState {
  if (removesAt !== undefined && removesAt <= now) return "removed";
  if (retiresAt !== undefined && retiresAt <= now) return "retired";
  return signsAt !== undefined && signsAt <= now ? "active" : "next";
}

/**
 * What happens to a key next, and when; `undefined` if nothing is planned.
 *
 * @example
 * ```ts
 * import { nextStepOf } from "hookproof/jwks";
 *
 * nextStepOf({ kid: "k1", alg: "ES256", createdAt: 0, signsAt: 900_000 }, 0); // { step: "sign", kid: "k1", at: 900000 }
 * ```
 */
export function nextStepOf(key: KeyLife, now: number): PlannedStep | undefined {
  return stepsOf(key).find(({ at }) => at > now);
}

/** Every step of a key's life, past and planned, in order. */
export function stepsOf({ kid, createdAt, signsAt, retiresAt, removesAt }: KeyLife): PlannedStep[] {
  const steps: [LifeStep, number | undefined][] = [
    ["publish", createdAt],
    ["sign", signsAt],
    ["retire", retiresAt],
    ["remove", removesAt],
  ];
  return steps.flatMap(([step, at]) => (at === undefined ? [] : [{ step, kid, at }]));
}

/** The times of a key that has been in a state since a moment. */
export function timesOf(state: KeyState, createdAt: number): KeyTimes {
  const reached = ["next", "active", "retired", "removed"].indexOf(state);
  return {
    createdAt,
    ...(reached >= 1 ? { signsAt: createdAt } : {}),
    ...(reached >= 2 ? { retiresAt: createdAt } : {}),
    ...(reached >= 3 ? { removesAt: createdAt } : {}),
  };
}

/** Why these keys cannot be one key set: a kid that stands twice, or two keys that sign at the same time. */
export function lifeCycleFault(keys: readonly KeyLife[]): string | undefined {
  const kids = new Set<string>();
  for (const { kid } of keys) {
    if (kids.has(kid)) return `the kid ${JSON.stringify(kid)} twice`;
    kids.add(kid);
  }
  const clash = keys.find((key, index) => keys.slice(index + 1).some((other) => signTogether(key, other)));
  return clash && `two keys for ${clash.alg} that sign at the same time`;
}

function signTogether(a: KeyLife, b: KeyLife): boolean {
  if (a.alg !== b.alg) return false;
  const [[fromA, toA], [fromB, toB]] = [signingTime(a), signingTime(b)];
  return Math.max(fromA, fromB) < Math.min(toA, toB);
}

function signingTime({ signsAt, retiresAt, removesAt }: KeyTimes): [from: number, to: number] {
  const never = Number.POSITIVE_INFINITY;
  return [signsAt ?? never, Math.min(retiresAt ?? never, removesAt ?? never)];
}
