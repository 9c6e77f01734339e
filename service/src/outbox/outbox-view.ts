// Reads an outbox for its page.
import type { ListenerError, ListenerStats, Outbox, OutboxEntry } from "hookproof/outbox";
import { packageVersion } from "../package-files.js";
import {
  type DeadGroup,
  type DeadLetters,
  type EventView,
  type Failure,
  LIMITS,
  type ListenerView,
  type OutboxAction,
  type Overview,
  type RedriveOrder,
  type RedriveResult,
  type WorkerView,
} from "./contract.js";
import { standingAlerts } from "./standing-alerts.js";
import { attemptView, codeIn, failureOf, wordsOf } from "./words.js";

/** What the page needs of an outbox. */
export type ShownOutbox = Pick<
  Outbox,
  "stats" | "pending" | "deadLetters" | "find" | "redrive" | "pause" | "resume" | "workers"
>;

/** What the page shows of an outbox. */
export interface OutboxView {
  overview(): Promise<Overview>;
  deadLetters(): Promise<DeadLetters>;
  waiting(listener: string): Promise<readonly EventView[]>;
  event(id: string): Promise<readonly EventView[]>;
  redrive(order: RedriveOrder): Promise<RedriveResult>;
  pause(listener: string, reason: string | undefined): Promise<void>;
  resume(listener: string): Promise<void>;
}

interface Shown {
  readonly name: string;
  readonly actions: readonly OutboxAction[];
}

/** Every page asks every few seconds; all of them together make the database read them no more often than this. */
const KEPT_MS = { overview: 1_000, deadLetters: 4_000 };
/** A rate is of the last minute, and is said after a few seconds. */
const RATE_MS = 60_000;
const MIN_RATE_MS = 4_000;

/** Reads an outbox for the page. */
export function outboxView(outbox: ShownOutbox, { name, actions }: Shown): OutboxView {
  const rates = createRates();
  const standing = standingAlerts();
  const overview = kept(KEPT_MS.overview, async (): Promise<Overview> => {
    const now = Date.now();
    const [stats, waiting, workers] = await Promise.all([
      outbox.stats(),
      pendingOf(outbox),
      workersOf(outbox, now),
    ]);
    const alerts = await standing.after(stats);
    const failures = lastFailures(waiting);
    const next = nextTimes(waiting);
    const listeners = stats.map((one) => ({
      ...listenerView(one, failures.get(one.listener), rates.of(one, now)),
      ...next.get(one.listener),
    }));
    listeners.sort((a, b) => trouble(b) - trouble(a) || a.listener.localeCompare(b.listener));
    return {
      version: packageVersion(),
      name,
      now,
      actions,
      listeners: listeners.slice(0, LIMITS.listeners),
      total: listeners.length,
      alerts: alerts.slice(0, LIMITS.alerts),
      totalAlerts: alerts.length,
      ...(workers && { workers }),
    };
  });
  const deadLetters = kept(KEPT_MS.deadLetters, () => groupedDeadLetters(outbox));

  return {
    overview: overview.read,
    deadLetters: deadLetters.read,
    waiting: async (listener) => (await pendingOf(outbox, listener)).map(eventView),
    event: async (id) => (await outbox.find(id)).map(eventView),
    async redrive({ listener, reason, code, dryRun, newIds = false }) {
      const filter = { listener, reason, code: code as never }; // a code that nobody has finds nothing
      const result = await outbox.redrive(filter, { dryRun, newIds });
      if (!dryRun) for (const one of [overview, deadLetters]) one.forget();
      return result;
    },
    async pause(listener, reason) {
      await outbox.pause(listener, reason === undefined ? {} : { reason });
      overview.forget();
    },
    async resume(listener) {
      await outbox.resume(listener);
      overview.forget();
    },
  };
}

/** Those in trouble first: dead letters, then what waits for longest. */
function trouble({ dead, oldestAgeMs, pending }: ListenerView): number {
  return (dead > 0 ? 1e15 : 0) + oldestAgeMs + (pending > 0 ? 1 : 0);
}

function listenerView(
  { lastError, ...stats }: ListenerStats,
  failure: Failure | undefined,
  perMinute: number | undefined,
): ListenerView {
  // The outbox's own process knows the last error at once; others find it in what waits, with the event's id.
  const isOwnNewer =
    lastError !== undefined &&
    (failure === undefined || (lastError.code !== failure.code && lastError.at > failure.at));
  const last = isOwnNewer ? ownFailure(lastError) : failure;
  return {
    ...stats,
    ...(last ? { failure: last } : {}),
    ...(perMinute === undefined ? {} : { perMinute }),
  };
}

function ownFailure(error: ListenerError): Failure {
  const { at, code, status, answer } = error;
  const words = wordsOf({ code, receiverCode: codeIn(answer) });
  return {
    at,
    code,
    ...(status === undefined ? {} : { status }),
    ...(answer === undefined ? {} : { answer }),
    ...(words ? { words } : {}),
  };
}

/** The workers, each last seen as long ago as the store says; a role may lack the right to read them. */
async function workersOf(outbox: ShownOutbox, now: number): Promise<readonly WorkerView[] | undefined> {
  const workers = await outbox.workers().catch(() => undefined);
  return workers?.slice(0, LIMITS.workers).map(({ id, name, startedAt, lastSeenAt, silentMs }) => ({
    id,
    name,
    startedAt: now - silentMs - (lastSeenAt - startedAt),
    lastSeenAt: now - silentMs,
  }));
}

function pendingOf(outbox: ShownOutbox, listener?: string): Promise<readonly OutboxEntry[]> {
  const limit = listener === undefined ? 4 * LIMITS.waiting : LIMITS.waiting;
  return outbox.pending(listener === undefined ? {} : { listener }, { limit });
}

function lastFailures(entries: readonly OutboxEntry[]): Map<string, Failure> {
  const failures = new Map<string, Failure>();
  for (const { listener, id, attempts } of entries) {
    const last = attempts.at(-1);
    const failure = last && failureOf(last, { eventId: id, isDead: false });
    if (failure && failure.at > (failures.get(listener)?.at ?? 0)) failures.set(listener, failure);
  }
  return failures;
}

/** When each listener's next attempt is due. */
function nextTimes(entries: readonly OutboxEntry[]): Map<string, { nextAt: number }> {
  const next = new Map<string, { nextAt: number }>();
  for (const { listener, dueAt, waitsBehind } of entries)
    if (
      dueAt !== undefined &&
      !waitsBehind &&
      dueAt < (next.get(listener)?.nextAt ?? Number.POSITIVE_INFINITY)
    )
      next.set(listener, { nextAt: dueAt });
  return next;
}

async function groupedDeadLetters(outbox: ShownOutbox): Promise<DeadLetters> {
  const groups = new Map<string, DeadGroup>();
  let read = 0;
  for await (const letter of outbox.deadLetters({}, { limit: LIMITS.deadLetters + 1 })) {
    if (++read > LIMITS.deadLetters) break;
    const { event, reason, code, failedAt, attempts } = letter;
    const key = JSON.stringify([event.listener, reason, code]);
    const group = groups.get(key);
    const last = attempts.at(-1);
    const words = wordsOf({ code, isDead: true });
    const unsent: Failure = { at: failedAt, code, eventId: event.id, ...(words ? { words } : {}) };
    groups.set(key, {
      listener: event.listener,
      reason,
      code,
      count: (group?.count ?? 0) + 1,
      oldestAt: group?.oldestAt ?? failedAt,
      newestAt: failedAt,
      failure: (last && failureOf(last, { eventId: event.id, isDead: true })) ?? unsent,
      ids: group && group.ids.length >= LIMITS.idsOfGroup ? group.ids : [...(group?.ids ?? []), event.id],
    });
  }
  return { groups: [...groups.values()], isCut: read > LIMITS.deadLetters };
}

function eventView({ attempts, ...entry }: OutboxEntry): EventView {
  return { ...entry, attempts: attempts.map((one) => attemptView(one, entry.state === "dead")) };
}

/** How many deliveries a minute each listener has, from how its count has grown. */
function createRates() {
  const samples = new Map<string, { at: number; delivered: number }[]>();
  return {
    of({ listener, delivered }: ListenerStats, now: number): number | undefined {
      const before = samples.get(listener) ?? [];
      // Delivered events are removed after some days: then the count has shrunk, and counting starts again.
      const isLess = delivered < (before.at(-1)?.delivered ?? 0);
      const all = isLess ? [] : before.filter(({ at }) => now - at <= RATE_MS);
      samples.set(listener, [...all, { at: now, delivered }]);
      const [first] = all;
      if (!first || now - first.at < MIN_RATE_MS) return undefined;
      return Math.round(((delivered - first.delivered) * 60_000) / (now - first.at));
    },
  };
}

/** What was read lately, for anyone who asks again; who asks while it is read waits for the same. */
function kept<Value>(forMs: number, read: () => Promise<Value>) {
  let last: { readonly at: number; readonly value: Promise<Value> } | undefined;
  return {
    read(): Promise<Value> {
      if (last && Date.now() - last.at < forMs) return last.value;
      const value = read();
      const mine = { at: Date.now(), value };
      last = mine;
      value.catch(() => {
        if (last === mine) last = undefined;
      });
      return value;
    },
    forget() {
      last = undefined;
    },
  };
}
