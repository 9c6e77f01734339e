// What does it cost to find and deliver what is due, where as many tenants as there are events have one each, of which
// one in a hundred is due? Beside it, the same events of one tenant; and those of so many tenants that all are due, where
// nothing has to be found. Processor time of this process and of PostgreSQL.
import { createHash } from "node:crypto";
import { newEventId } from "hookproof";
import { postgresEngine, sqliteEngine, tenantsByHandEngine } from "./outbox-engines.mjs";
import { postgresCost } from "./postgres-cost.mjs";
import { long, quick, reportFigures, summary } from "./reporting.mjs";

const TENANTS = long ? 1_000_000 : quick ? 20_000 : 100_000;
const DUE_OF = 100;
const LIMIT = 100;
/** Events of a round; less than are due. */
const EVENTS = Math.min(2_000, TENANTS / DUE_OF / 2);
const ROUNDS = quick ? 7 : 15;
const YEAR_MS = 365 * 24 * 60 * 60_000;
const WINDOW_MS = 604_800_000;
const body = Buffer.from(JSON.stringify({ type: "user.offboarded", note: "x".repeat(100) }));
const digest = createHash("sha256").update(body).digest("base64url");

/**
 * A backlog of so many events in a store, one of `dueOf` due, and rounds that deliver some of it; `nameOf` is the tenant
 * of the n-th event.
 */
function backlog(store, { count, dueOf, nameOf }) {
  const later = Date.now() + YEAR_MS;
  const event = (n, deliverAt) => ({ id: newEventId(), listener: nameOf(n), body, digest, deliverAt });
  const places = new Map();
  let after;
  return {
    async fill() {
      // In no order, as tenants come. The factor has no divisor in common with the number of tenants.
      const nth = (n) => (n * 7_919) % count;
      for (let n = 0; n < count; n += 1_000)
        await store.enqueue(
          Array.from({ length: Math.min(1_000, count) }, (_, k) => {
            const place = nth(n + k);
            if (place % dueOf > 0) return event(place, later);
            places.set(nameOf(place), place);
            return event(place);
          }),
        );
    },
    /** Delivers so many events as a worker does: looks who has due events, claims, and stores that they arrived. */
    async round() {
      const served = [];
      while (served.length < EVENTS) {
        const { listeners, next } = await store.due(after, LIMIT);
        after = next;
        if (listeners.length === 0) continue;
        const shares = listeners.map(({ listener }) => [listener, { most: LIMIT, windowMs: WINDOW_MS }]);
        const claimed = await store.claim({ limit: LIMIT, leaseMs: 60_000, listeners: new Map(shares) });
        const attempt = { number: 1, startedAt: Date.now(), durationMs: 1, status: 200 };
        await store.markDelivered(claimed.map(({ lease }) => ({ lease, outcome: "delivered", attempt })));
        served.push(...claimed.map(({ event: { listener } }) => listener));
      }
      return served;
    },
    /** As many due events as before. */
    async refill(served) {
      const events = served.map((name) => event(places.get(name)));
      for (let n = 0; n < events.length; n += 1_000) await store.enqueue(events.slice(n, n + 1_000));
    },
  };
}

const BY_HAND = "SQLite, by hand";
const ENGINES = {
  SQLite: async () => sqliteEngine(),
  [BY_HAND]: async () => tenantsByHandEngine(),
  PostgreSQL: () => postgresEngine({ beside: false }),
};

/** Reports what an event of many tenants costs, and how often it costs that of one. */
export async function reportTenants() {
  const [costs, ratios] = [{}, {}];
  const [many, due] = [TENANTS, TENANTS / DUE_OF].map((count) => count.toLocaleString("en"));
  const ownOf = (n) => `l${n}`;
  const wholes = {
    "one tenant": { count: TENANTS, dueOf: DUE_OF, nameOf: () => "l0" },
    [`${many} tenants`]: { count: TENANTS, dueOf: DUE_OF, nameOf: ownOf },
    [`${due} tenants, all due`]: { count: TENANTS / DUE_OF, dueOf: 1, nameOf: ownOf },
  };
  for (const [name, open] of Object.entries(ENGINES)) {
    const cases = [];
    for (const [whose, whole] of Object.entries(wholes)) {
      const engine = await open();
      if (engine) cases.push({ whose, engine, work: backlog(engine.store, whole), micros: [] });
    }
    if (cases.length === 0) continue;
    for (const { work, engine } of cases) {
      await work.fill();
      await engine.analyze?.();
    }
    const server = name === "PostgreSQL" ? await postgresCost() : undefined;
    for (let round = -1; round < ROUNDS; round++)
      for (const { work, micros } of cases) {
        const before = await server?.now();
        const cpu = process.cpuUsage();
        const served = await work.round();
        const { user, system } = process.cpuUsage(cpu);
        const spent = server ? (await server.now()).micros - before.micros : 0;
        if (round >= 0) micros.push((user + system + spent) / served.length); // the round before warms up
        await work.refill(served);
      }
    const [alone, ...others] = cases;
    const figure = (all, atMost) => {
      const { perSecond: value, low, high } = summary(all);
      return { value, low, high, ...(atMost && { atMost }) };
    };
    for (const { whose, micros } of cases) costs[`${name}, ${whose}`] = figure(micros);
    for (const [n, { whose, micros }] of others.entries())
      ratios[`${name}, ${whose}`] = figure(
        micros.map((one, round) => one / alone.micros[round]),
        n === 0 && name !== BY_HAND && 1.2,
      );
    await server?.end();
    for (const { engine } of cases) {
      await engine.store.close();
      await engine.close();
    }
  }
  const backlogOf = `a backlog of ${many} events, 1 % of them due`;
  reportFigures({
    question: `Looking, claiming and completing an event of ${backlogOf}: processor time`,
    unit: "µs",
    figures: costs,
  });
  reportFigures({
    question: `What an event of many tenants costs over one of ${backlogOf}, of one tenant`,
    unit: "times",
    figures: ratios,
  });
}
