import { createHash, randomBytes, randomUUID } from "node:crypto";
import { setTimeout as pass } from "node:timers/promises";
import type { DeadLetter, OutboxEntry } from "hookproof/outbox";
import { waitFor } from "hookproof/testing";
import { seededRandom } from "../kit/seed.mjs";
import type { LiveEngine } from "./live-engines.js";
import { LIMIT, LiveRun, type Tenant } from "./live-run.js";
import { brokenPromises, type Interruption } from "./outbox-judge.js";
import { type TenantRequest, type TenantsReceiver, tenantsReceiver } from "./tenants-receiver.js";

const WORKERS = 3;
/** On a busy machine an answer may take a second. */
const ATTEMPT_MS = 2_000;
const TENANTS = 12;
const FIRST_DELAY_MS = 25;
/** What was claimed before a change may still be sent for so long. */
const UNDER_WAY_MS = 1_000;
/** How long a tenant is away or paused. */
const AWAY_MS = 1_800;
const LATER_MS = 600_000;

/** A time in which a tenant should get nothing, or nothing that is signed with an older secret than this. */
interface Silence {
  readonly tenant: string;
  readonly why: string;
  readonly from: number;
  readonly to: number;
  /** The oldest secret that may sign then; absent if nothing should come. */
  readonly oldest?: number;
}

interface TenantsResult {
  /** Each way in which a promise was broken, once: none. */
  readonly broken: readonly string[];
  readonly summary: Readonly<Record<string, number>>;
}

/**
 * Enqueues events for tenants for so many rounds. In each a tenant goes and comes back, one is paused and resumed, one
 * rotates its secret, events are cancelled, and a worker is killed; another one is stopped past its leases meanwhile.
 *
 * @param look called in the middle of it
 */
export async function tenantsChaos(
  engine: LiveEngine,
  rounds: number,
  look: () => Promise<void>,
): Promise<TenantsResult> {
  const random = seededRandom(`tenants ${engine.name}`);
  const below = (limit: number) => Math.floor(random() * limit);
  const names = Array.from({ length: TENANTS }, (_, n) => `t${n}`);
  const secrets = new Map(names.map((name) => [name, [newSecret()]]));
  const receiver = await tenantsReceiver(secrets, () => 2 + random() * 20);
  const run = new LiveRun(engine, ATTEMPT_MS, { concurrency: 4 });
  const away = new Set<string>();
  const offered = new Map<string, string>();
  const tenantOf = new Map<string, string>();
  const cancelled = new Set<string>();
  const silences: Silence[] = [];
  let isOver = false;
  let uncancelled = 0;

  function writeTenants(): void {
    const here = names.filter((name) => !away.has(name));
    run.write(Object.fromEntries(here.map((name) => [name, tenant(receiver, name, secrets)])));
  }

  async function produce(): Promise<void> {
    while (!isOver) {
      await enqueueSome();
      await pass(20 + random() * 40);
    }
  }

  async function enqueueSome(deliverAt?: Date, name?: string): Promise<string[]> {
    const events = Array.from({ length: 1 + below(5) }, (_, n) => {
      const listener = name ?? names[below(TENANTS)] ?? "";
      const payload = { tenant: listener, place: tenantOf.size + n };
      return { listener, eventId: randomUUID(), payload, deliverAt };
    });
    for (const { eventId, listener, payload } of events) {
      offered.set(eventId, createHash("sha256").update(JSON.stringify(payload)).digest("base64url"));
      tenantOf.set(eventId, listener);
    }
    await run.outbox.enqueue(events);
    return events.map(({ eventId }) => eventId);
  }

  /** Nothing comes while it is gone or paused, from a moment after the call on. */
  async function silenced(tenant: string, why: string, begin: () => Promise<void>, end: () => Promise<void>) {
    await begin();
    const from = performance.now() + UNDER_WAY_MS;
    await pass(AWAY_MS);
    silences.push({ tenant, why, from, to: performance.now() });
    await end();
  }

  const goAway = (name: string) =>
    silenced(
      name,
      "is gone",
      () => {
        away.add(name);
        writeTenants();
        return run.outbox.forget(name);
      },
      () => {
        away.delete(name);
        writeTenants();
        return run.outbox.forget(name);
      },
    );

  const pause = (name: string) =>
    silenced(
      name,
      "is paused",
      () => run.outbox.pause(name, { reason: "chaos" }),
      async () => void (await run.outbox.resume(name)),
    );

  async function rotate(name: string): Promise<void> {
    const all = secrets.get(name) ?? [];
    all.push(newSecret());
    writeTenants();
    await run.outbox.forget(name);
    const from = performance.now() + UNDER_WAY_MS;
    silences.push({ tenant: name, why: "has rotated", from, to: Infinity, oldest: all.length - 1 });
  }

  async function cancel(name: string): Promise<void> {
    const ids = await enqueueSome(new Date(Date.now() + LATER_MS), name);
    const result = await run.outbox.cancel({ ids });
    uncancelled += result.tooLate + ids.length - result.cancelled;
    for (const id of ids) {
      cancelled.add(id);
      offered.delete(id);
    }
  }

  try {
    writeTenants();
    await run.beginAll(WORKERS);
    const producing = produce();
    const stopping = (async () => {
      for (let count = 0; count === 0 || !isOver; count++) {
        await pass(300);
        await run.stopPastLease(0);
      }
    })();
    for (let round = 0; round < rounds; round++) {
      const first = below(TENANTS);
      const some = names.map((_, n) => names[(first + n) % TENANTS] ?? "");
      const [gone = "", paused = "", rotated = "", another = ""] = some;
      const changing = [goAway(gone), pause(paused), rotate(rotated), cancel(another)];
      await pass(random() * 500);
      await run.kill(1 + (round % (WORKERS - 1)));
      await engine.cut();
      if (round === 0) await look();
      await run.begin(1 + (round % (WORKERS - 1)));
      await Promise.all(changing);
    }
    isOver = true;
    await Promise.all([producing, stopping]);
    await waitFor(() => receiver.runs.length >= offered.size, LIMIT);
    await run.delivered();
    const entries = new Map<string, readonly OutboxEntry[]>();
    for (const id of offered.keys()) entries.set(id, await run.outbox.find(id));
    const dead: DeadLetter[] = [];
    for await (const letter of run.outbox.deadLetters()) dead.push(letter);
    const { requests, runs } = receiver;
    const { interruptions } = run;
    const hindrances = [...run.hindrances, ...receiver.standstills];
    const nothing = { offered: new Map(), acknowledged: new Set<string>() };
    const broken = [
      ...brokenPromises({
        told: { taking: { offered, acknowledged: new Set(offered.keys()) }, refusing: nothing },
        ...{ requests, runs, unsound: [], interruptions, outages: [], hindrances, entries, dead },
        limits: {
          concurrency: 250,
          hangsAfterMs: 0,
          firstDelayMs: FIRST_DELAY_MS,
          maxRetryAfterMs: 0,
          lagMs: 0,
          leaseMs: run.leaseMs,
          patienceMs: ATTEMPT_MS,
        },
        stats: await run.outbox.stats(),
      }),
      ...strangers(requests, tenantOf, cancelled),
      ...unwanted(requests, silences, interruptions),
      ...(uncancelled > 0 ? [`${uncancelled} events that wait were not cancelled`] : []),
    ];
    const again = requests.length - runs.length;
    return {
      broken,
      summary: { events: offered.size, requests: requests.length, again, cancelled: cancelled.size, rounds },
    };
  } finally {
    isOver = true;
    await run.end();
    await receiver.stop();
  }
}

function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

function tenant(
  receiver: TenantsReceiver,
  name: string,
  secrets: ReadonlyMap<string, readonly string[]>,
): Tenant {
  return { url: receiver.url(name), secret: secrets.get(name)?.at(-1) ?? "" };
}

/** What came to another tenant, was signed by nobody's secret, or had been cancelled. */
function strangers(
  requests: readonly TenantRequest[],
  tenantOf: ReadonlyMap<string, string>,
  cancelled: ReadonlySet<string>,
): string[] {
  return requests.flatMap(({ id, tenant, secretIndex }) => [
    ...(tenantOf.get(id) === tenant ? [] : [`${id}: of ${tenantOf.get(id)}, sent to ${tenant}`]),
    ...(secretIndex >= 0 ? [] : [`${id}: 401 of ${tenant}`]),
    ...(cancelled.has(id) ? [`${id}: sent, though it was cancelled`] : []),
  ]);
}

/** What came to a tenant that should get nothing then, except from a worker that was stopped meanwhile. */
function unwanted(
  requests: readonly TenantRequest[],
  silences: readonly Silence[],
  interruptions: readonly Interruption[],
): string[] {
  return silences.flatMap(({ tenant, why, from, to, oldest = Infinity }) =>
    requests
      .filter((one) => one.tenant === tenant && one.at > from && one.at < to && one.secretIndex < oldest)
      .filter(
        ({ dispatcher, at }) =>
          !interruptions.some(
            (one) => one.dispatcher === dispatcher && at >= one.from && at <= one.to + UNDER_WAY_MS,
          ),
      )
      .map(
        ({ id, dispatcher, at }) =>
          `${id}: sent by ${dispatcher} ${Math.round(at - from)} ms after ${tenant} ${why}`,
      ),
  );
}
