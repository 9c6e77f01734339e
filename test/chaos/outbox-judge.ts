import type { DeadLetter, ListenerStats, OutboxEntry } from "hookproof/outbox";
import type { ListenerName, SeenRequest } from "./chaos-receiver.js";

/** What producers told, by listener; events of a transaction are `offered` before it is committed. */
export interface Told {
  /** Event ids, and the digests of their bodies. */
  readonly offered: Map<string, string>;
  readonly acknowledged: Set<string>;
}

/** A dispatcher was killed, or stopped and continued, or a busy machine let it do nothing for a while. */
export interface Interruption {
  readonly dispatcher: number;
  readonly kind: "kill" | "stop" | "starved";
  readonly from: number;
  readonly to: number;
}

/** What kept a dispatcher, or all of them, from work for a while, as those say who counted it. */
export interface Hindrance {
  /** Absent: every one of them. */
  readonly dispatcher?: number | undefined;
  /** A process stood still; a call of the store took long, or calls of it failed from the first of these to the last. */
  readonly kind: "standstill" | "slow call" | "failure";
  readonly from: number;
  readonly to: number;
}

/** The limits that the dispatchers were given, in milliseconds of the test's process. */
interface ChaosLimits {
  readonly concurrency: number;
  /** An attempt without an answer for this long no longer counts against `concurrency`. */
  readonly hangsAfterMs: number;
  readonly firstDelayMs: number;
  /** Every `Retry-After` of the receiver is longer. */
  readonly maxRetryAfterMs: number;
  readonly leaseMs: number;
  /** A sender that stood still for less while it sent has not given up when an answer in time comes. */
  readonly patienceMs: number;
  /** How late one timer in twenty is at least on this machine. */
  readonly lagMs: number;
}

/** All that was seen of a run. */
export interface ChaosEvidence {
  readonly told: Readonly<Record<ListenerName, Told>>;
  readonly requests: readonly SeenRequest[];
  readonly runs: readonly { readonly id: string; readonly body: string }[];
  readonly unsound: readonly string[];
  readonly interruptions: readonly Interruption[];
  /** When no dispatcher could reach the store. */
  readonly outages: readonly { readonly from: number; readonly to: number }[];
  readonly hindrances: readonly Hindrance[];
  readonly limits: ChaosLimits;
  /** Where each acknowledged event stands in the end. */
  readonly entries: ReadonlyMap<string, readonly OutboxEntry[]>;
  readonly dead: readonly DeadLetter[];
  readonly stats: readonly ListenerStats[];
}

/** What a dispatcher may take to store what became of an attempt, of the time that it has for itself. */
const STORED_WITHIN_MS = 1_500;
/** After it was continued, a dispatcher may send what it was about to send when it was stopped, of such time. */
const LATE_WITHIN_MS = 1_000;
/** What it may take of it from the beginning of a lease to the arrival of its request. */
const SENT_WITHIN_MS = 300;
/** A dispatcher waits before it asks a store again that has failed: as long as that has lasted, and this at most. */
const MAX_PAUSE_MS = 5_000;
/** What times of two processes may differ by: each is in whole milliseconds of the machine's clock. */
const SLACK_MS = 6;
/** Where attempts count as hanging sooner, a busy machine has some that hang, and nobody outside can count the rest. */
const HANGING_IS_SEEN_MS = 500;
/** Within this time of a pause what had begun before it may still arrive. */
const ARRIVES_WITHIN_MS = 40;
/** Where timers are later than this, it arrives at any time. */
const BUSY_MS = 10;

/** Every way in which a run broke a promise of docs/guides/outbox-promises.md: none, if the outbox is sound. */
export function brokenPromises(evidence: ChaosEvidence): string[] {
  const { told, requests, runs, unsound, stats } = evidence;
  const byId = new Map<string, SeenRequest[]>();
  for (const one of requests) byId.set(one.id, [...(byId.get(one.id) ?? []), one]);
  return [
    ...unsound,
    ...deliveries(told, runs),
    ...bytes(told, requests),
    ...order(runs),
    ...[...byId.values()].flatMap((all) => [...sends(all, evidence), ...delays(all, evidence)]),
    ...histories(byId, evidence),
    ...pauses(evidence),
    ...limits(evidence),
    ...stats
      .filter(({ pending, inFlight }) => pending !== 0 || inFlight !== 0)
      .map(({ listener, pending, inFlight }) => `${listener}: ${pending} pending, ${inFlight} in flight`),
  ];
}

/** How many answers were bound to be stored: the rules about what comes after an answer hold for these. */
export function boundAnswers(evidence: ChaosEvidence): number {
  return evidence.requests.filter((one) => one.isKnown && isStored(one, evidence)).length;
}

/** Each acknowledged event runs once, and nothing that was rolled back does. */
function deliveries({ taking }: ChaosEvidence["told"], runs: ChaosEvidence["runs"]): string[] {
  const ran = new Set(runs.map(({ id }) => id));
  const bodies = new Set<string>();
  return [
    ...[...taking.acknowledged].filter((id) => !ran.has(id)).map((id) => `${id}: acknowledged, never run`),
    ...[...ran].filter((id) => !taking.offered.has(id)).map((id) => `${id}: run, but was never committed`),
    // Bodies differ, so an event that was sent under another id as well is noticed here.
    ...runs.filter(({ body }) => bodies.size === bodies.add(body).size).map(({ id }) => `${id}: run twice`),
  ];
}

/** Every request has the bytes that were enqueued under its id. */
function bytes(told: ChaosEvidence["told"], requests: readonly SeenRequest[]): string[] {
  return requests
    .filter(({ id, listener, digest }) => digest !== "" && told[listener].offered.get(id) !== digest)
    .map(({ id }) => `${id}: sent with other bytes than were enqueued`);
}

/** Events of a key run in their order. */
function order(runs: ChaosEvidence["runs"]): string[] {
  const last = new Map<string, number>();
  return runs.flatMap(({ id, body }) => {
    const { key, place } = JSON.parse(body) as { key?: string; place: number };
    if (key === undefined) return [];
    const before = last.get(key) ?? -1;
    last.set(key, place);
    return place > before ? [] : [`${id}: number ${place} of key ${key} ran after number ${before}`];
  });
}

/** The time that a dispatcher has for itself: it does not stand still, and its store answers. */
class OwnTime {
  /** By their beginnings, and the last to end first. */
  readonly #forwards: readonly Omit<Hindrance, "dispatcher">[];
  readonly #backwards: readonly Omit<Hindrance, "dispatcher">[];

  constructor(dispatcher: number, { hindrances, outages }: ChaosEvidence) {
    const own = hindrances.filter((one) => one.dispatcher === undefined || one.dispatcher === dispatcher);
    const all = [...own, ...outages.map((one) => ({ ...one, kind: "failure" as const }))];
    this.#forwards = all.toSorted((a, b) => a.from - b.from);
    this.#backwards = all.toSorted((a, b) => b.to - a.to);
  }

  /** When it has had so much since a moment. After its store has failed, it is given as much once more. */
  after(ms: number, since: number): number {
    let [at, left] = [since, ms];
    for (const { kind, from, to } of this.#forwards) {
      if (to <= at) continue;
      if (from >= at + left) break;
      left = kind === "failure" ? ms : left - Math.max(0, from - at);
      const pause = kind === "failure" ? Math.max(0, Math.min(MAX_PAUSE_MS, to - from) - ms) : 0;
      at = to + pause;
    }
    return at + left;
  }

  /** Since when it has had so much until a moment. */
  before(ms: number, until: number): number {
    let [at, left] = [until, ms];
    for (const { from, to } of this.#backwards) {
      if (from >= at) continue;
      if (to <= at - left) break;
      left -= Math.max(0, at - to);
      at = from;
    }
    return at - left;
  }
}

const ownTimes = new WeakMap<ChaosEvidence, Map<number, OwnTime>>();

function ownTimeOf(dispatcher: number, evidence: ChaosEvidence): OwnTime {
  const known = ownTimes.get(evidence) ?? new Map<number, OwnTime>();
  ownTimes.set(evidence, known);
  const own = known.get(dispatcher) ?? new OwnTime(dispatcher, evidence);
  known.set(dispatcher, own);
  return own;
}

/** Whether a dispatcher that got an answer lived to store it, and had the right to. */
function isStored(request: SeenRequest, evidence: ChaosEvidence): boolean {
  const { dispatcher, at, answeredAt = at } = request;
  const { interruptions, limits } = evidence;
  const own = ownTimeOf(dispatcher, evidence);
  const until = own.after(STORED_WITHIN_MS, answeredAt);
  const claimedAt = own.before(SENT_WITHIN_MS, at);
  // Its lease may have been over, or it had given up before it knew the answer.
  if (until - claimedAt >= limits.leaseMs || at - claimedAt - SENT_WITHIN_MS >= limits.patienceMs)
    return false;
  const isHit = interruptions.some(
    (one) => one.dispatcher === dispatcher && one.to >= at - SLACK_MS && one.from <= until,
  );
  return !isHit && !isLate(request, evidence);
}

/** Whether a request may be what its dispatcher was about to send when it was stopped. */
function isLate({ dispatcher, at }: SeenRequest, evidence: ChaosEvidence): boolean {
  return evidence.interruptions.some(
    (one) =>
      one.dispatcher === dispatcher &&
      one.kind !== "kill" &&
      at >= one.from &&
      at <= ownTimeOf(dispatcher, evidence).after(LATE_WITHIN_MS, one.to),
  );
}

const ENDING = new Set([200, 409, 422]);

/** After an answer that ends a delivery nothing is sent any more, so that each 409 has its unknown outcome. */
function sends(all: readonly SeenRequest[], evidence: ChaosEvidence): string[] {
  const end = all.find((one) => one.isKnown && ENDING.has(one.status ?? 0) && isStored(one, evidence));
  if (!end) return [];
  const after = all.filter((one) => one.at > (end.answeredAt ?? end.at) + SLACK_MS && !isLate(one, evidence));
  return after.map(
    ({ id, dispatcher, at, status }) =>
      `${id}: sent again by dispatcher ${dispatcher} ${Math.round(at - end.at)} ms after dispatcher ${end.dispatcher} had ${end.status} for it (answered ${status})`,
  );
}

/** After a failure whose outcome is known, the next attempt keeps to the schedule and to `Retry-After`. */
function delays(all: readonly SeenRequest[], evidence: ChaosEvidence): string[] {
  const { firstDelayMs, maxRetryAfterMs } = evidence.limits;
  return all.flatMap((one, index) => {
    const { status = 0, answeredAt = 0, isKnown, id } = one;
    const next = all[index + 1];
    if (!next || !isKnown || ENDING.has(status) || !isStored(one, evidence) || isLate(next, evidence))
      return [];
    const delay = one.asksToWait ? maxRetryAfterMs : firstDelayMs;
    const waited = next.at - answeredAt;
    return waited >= delay - SLACK_MS ? [] : [`${id}: tried again ${waited} ms after a ${status}`];
  });
}

/** `Retry-After` pauses the whole listener at its dispatcher: after most of them nothing else is sent meanwhile. */
function pauses({ requests, limits: { maxRetryAfterMs, lagMs } }: ChaosEvidence): string[] {
  if (lagMs > BUSY_MS) return [];
  const asked = requests.filter(({ asksToWait, isKnown }) => asksToWait && isKnown);
  const during = asked.flatMap(({ dispatcher, listener, answeredAt = 0 }) => {
    const found = requests.filter(
      (one) =>
        one.dispatcher === dispatcher &&
        one.listener === listener &&
        one.at > answeredAt + ARRIVES_WITHIN_MS &&
        one.at < answeredAt + maxRetryAfterMs - SLACK_MS,
    );
    return found.length === 0 ? [] : [found.map(({ at }) => Math.round(at - answeredAt)).join(" ")];
  });
  return during.length * 2 < asked.length || asked.length === 0
    ? []
    : [
        `Retry-After: requests during ${during.length} of ${asked.length} pauses (after ${during.join("; ")} ms)`,
      ];
}

/** A dispatcher has no more open that do not hang than its concurrency; half of it again may be closing. */
function limits({ requests, limits: { concurrency, hangsAfterMs } }: ChaosEvidence): string[] {
  if (hangsAfterMs < HANGING_IS_SEEN_MS) return [];
  const most = Math.max(0, ...requests.map(({ open }) => open));
  return most <= concurrency * 1.5 ? [] : [`${most} requests of one dispatcher were open at once`];
}

/** Each event has ended, and its history has every attempt whose dispatcher lived, and none that was not made. */
function histories(byId: ReadonlyMap<string, readonly SeenRequest[]>, evidence: ChaosEvidence): string[] {
  const { told, entries, dead } = evidence;
  const letters = new Map(dead.map((letter) => [letter.event.id, letter]));
  const broken: string[] = [];
  const judge = (id: string, attempts: OutboxEntry["attempts"]) => {
    const all = byId.get(id) ?? [];
    const kept = attempts.flatMap(({ status }) => status ?? []);
    const made = all.flatMap(({ status }) => status ?? []);
    const due = all.filter((one) => one.isKnown && isStored(one, evidence)).map(({ status = 0 }) => status);
    const told = `history ${kept}, seen ${made}, of these known ${due}`;
    if (!isWithin(due, kept)) broken.push(`${id}: an attempt is missing: ${told}`);
    if (!isWithin(kept, made)) broken.push(`${id}: an attempt was never made: ${told}`);
    const numbers = attempts.map(({ number }) => number);
    if (numbers.some((number, index) => number <= (numbers[index - 1] ?? 0)))
      broken.push(`${id}: attempts are numbered ${numbers}`);
  };
  for (const id of told.taking.acknowledged) {
    const [entry] = entries.get(id) ?? [];
    if (entry?.state !== "delivered" || entry.outcome !== "delivered")
      broken.push(`${id}: ${entry?.state ?? "unknown"} ${entry?.outcome}`);
    if (entry) judge(id, entry.attempts);
  }
  for (const id of told.refusing.acknowledged)
    if (!letters.has(id)) broken.push(`${id}: refused, and no dead letter`);
  for (const [id, { reason, attempts }] of letters) {
    const status = attempts.at(-1)?.status;
    if (!told.refusing.offered.has(id) || reason !== "refused" || status !== 422)
      broken.push(`${id}: a dead letter of ${reason} after ${status}`);
    judge(id, attempts);
  }
  return broken;
}

/** Whether all items are in the list, in their order. */
function isWithin(items: readonly number[], list: readonly number[]): boolean {
  let next = 0;
  for (const item of list) if (item === items[next]) next++;
  return next === items.length;
}
