// What do events through an outbox meet when its workers, its database, a standby and the listener are machines of their
// own, and the primary's machine fails? Network namespaces on this one, root, PostgreSQL of Debian: --long only.
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import selfsigned from "selfsigned";
import { postgresPrograms, startDatabase } from "./hosts-database.mjs";
import { lackingForMachines, startMachines } from "./hosts-machines.mjs";
import { long, reportFigures, reportGrowth, summary } from "./support.mjs";

const lacking = long
  ? (lackingForMachines() ?? (postgresPrograms() ? undefined : "PostgreSQL of Debian"))
  : "--long";
if (lacking) {
  console.error(`hosts: SKIPPED, nothing is measured: it needs ${lacking}.`);
  process.exit();
}

const ADDRESSES = { a: "10.77.0.1", b: "10.77.0.2", c: "10.77.0.3", d: "10.77.0.4" };
/** Leads to the primary, whichever machine that is on. */
const DATABASE = "10.77.0.10";
const NETWORK = { delayMs: 0.5, lostOf10000: 10 };
const ROUNDS = 3;
const PER_SECOND = 200;
const BURST = 4_000;
const WARM_MS = 10_000;
const STEADY_MS = 20_000;
/** What a failover manager takes to be sure that a primary has gone. */
const NOTICED_AFTER_MS = 3_000;
/** A lease of a minute is the longest that an event can wait for nothing. */
const PATIENCE_MS = 120_000;

const ask = async (child, order, given = {}) => {
  child.send({ order, ...given });
  for (;;) {
    const [message] = await once(child, "message");
    if (message.order === order) return message.answer;
  }
};

/** Waits for something that may never be: what is lost is told, and not waited for. */
const until = async (isSo) => {
  const givenUpAt = Date.now() + PATIENCE_MS;
  while (Date.now() < givenUpAt && !(await isSo())) await pass(20);
  return Date.now();
};

/** What happened in one story of three machines. */
async function story() {
  const folder = mkdtempSync(join(tmpdir(), "hookproof-hosts-"));
  const machines = await startMachines(ADDRESSES, NETWORK);
  try {
    const { cert, private: key } = await selfsigned.generate([{ name: "commonName", value: ADDRESSES.d }], {
      ...{ keyType: "ec", curve: "P-256", algorithm: "sha256" },
      extensions: [
        { name: "basicConstraints", cA: true },
        { name: "subjectAltName", altNames: [{ type: 7, ip: ADDRESSES.d }] },
      ],
    });
    const ca = join(folder, "ca.pem");
    writeFileSync(ca, cert);
    machines.lead(DATABASE, "a");
    const database = await startDatabase(machines, {
      ...{ primary: "a", standby: "b", primaryAddress: ADDRESSES.a, network: "10.77.0.0/24", folder },
    });
    const listenerUrl = `https://${ADDRESSES.d}`;
    const start = async (machine, role, more = {}) => {
      const script = fileURLToPath(new URL("hosts-process.mjs", import.meta.url));
      const task = JSON.stringify({ database: DATABASE, listener: listenerUrl, ...more });
      const child = machines.start(machine, [process.execPath, script, role, task], {
        stdio: ["ignore", "inherit", "inherit", "ipc"],
        env: { ...process.env, NODE_EXTRA_CA_CERTS: ca },
      });
      await once(child, "message");
      return child;
    };
    const listener = await start("d", "listener", { cert, key });
    await ask(listener, "listen");
    const producer = await start("c", "producer", {
      pool: { max: 20, connectionTimeoutMillis: 2_000, query_timeout: 5_000 },
    });
    await ask(producer, "prepare");
    for (const machine of ["b", "c"]) await ask(await start(machine, "worker"), "start");

    const burst = async () => {
      const before = await ask(listener, "count");
      const from = Date.now();
      await ask(producer, "burst", { events: BURST });
      const to = await until(async () => (await ask(listener, "count")) >= before + BURST);
      return (BURST * 1000) / (to - from);
    };
    await ask(producer, "steady", { perSecond: PER_SECOND });
    await pass(WARM_MS);
    const quietFrom = Date.now();
    await pass(STEADY_MS);
    const quietTo = Date.now();
    await ask(producer, "rest");
    await burst(); // warms up
    const burstBefore = await burst();

    await ask(producer, "steady", { perSecond: PER_SECOND });
    await pass(WARM_MS);
    const cutAt = Date.now();
    machines.cut("a");
    await pass(NOTICED_AFTER_MS);
    await database.promote();
    machines.lead(DATABASE, "b");
    const movedAt = Date.now();
    await pass(STEADY_MS);
    const calmFrom = Date.now();
    await pass(STEADY_MS);
    const calmTo = Date.now();
    await ask(producer, "rest");
    const burstAfter = await burst();

    const acknowledged = new Map(await ask(producer, "told"));
    await until(() => ask(producer, "isEmpty")); // from then on nothing can be sent again
    const { runs, statuses } = await ask(listener, "told");
    const [{ orders }] = await database.on("standby", "SELECT count(*)::int AS orders FROM orders");
    const times = { quietFrom, quietTo, cutAt, movedAt, calmFrom, calmTo };
    return { acknowledged, runs: new Map(runs), statuses, orders, times, burstBefore, burstAfter };
  } finally {
    const { packets, lostShare } = await machines.stop();
    console.error(`  ${packets} packets, ${(lostShare * 100).toFixed(2)} % of them lost`);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The share of some numbers that this one is above. */
function quantile(all, share) {
  const sorted = [...all].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** The longest time between two of them, of which the later one is after `from`. */
function longestPause(times, from) {
  const sorted = [...times].sort((a, b) => a - b);
  return Math.max(...sorted.map((at, n) => (at > from ? at - (sorted[n - 1] ?? from) : 0)));
}

/** Where a plot begins and ends, by the second in which the primary is cut off. */
const SHOWN = { before: 10, after: 30 };

/** How many of some times lie in each second around the cut. */
function bySecond(times, cutAt) {
  const counts = Array(SHOWN.before + SHOWN.after).fill(0);
  for (const at of times) {
    const second = Math.floor((at - cutAt) / 1000) + SHOWN.before;
    if (second in counts) counts[second] += 1;
  }
  return [...counts.entries()];
}

/** What a story comes to. */
function judged({ acknowledged, runs, statuses, orders, times, ...bursts }) {
  const { quietFrom, quietTo, cutAt, movedAt, calmFrom, calmTo } = times;
  const wayOf = ([id, [at]]) => (runs.get(id)?.[0] ?? Number.POSITIVE_INFINITY) - at;
  const ways = (from, to) => [...acknowledged].filter(([, [at]]) => at >= from && at < to).map(wayOf);
  const [before, after] = [ways(quietFrom, quietTo), ways(calmFrom, calmTo)];
  const isNear = (at) => at > quietTo && at < calmTo;
  const acknowledgedAt = [...acknowledged.values()].map(([, at]) => at).filter(isNear);
  const ranAt = [...runs.values()].map(([at]) => at).filter(isNear);
  const due = [...acknowledged].filter(([, [at]]) => at < movedAt).map(([id]) => runs.get(id)?.[0]);
  return {
    ...bursts,
    halfBefore: quantile(before, 0.5),
    mostBefore: quantile(before, 0.99),
    halfAfter: quantile(after, 0.5),
    mostAfter: quantile(after, 0.99),
    moved: (movedAt - cutAt) / 1000,
    silent: longestPause(acknowledgedAt, cutAt) / 1000,
    idle: longestPause(ranAt, cutAt) / 1000,
    caughtUp: (quantile(due.filter(Boolean), 1) - movedAt) / 1000,
    acknowledged: acknowledged.size,
    lost: [...acknowledged.keys()].filter((id) => !runs.has(id)).length,
    twice: [...runs.values()].filter(([, count]) => count > 1).length,
    copies: statuses[409] ?? 0,
    withoutOrder: acknowledged.size - orders,
    bySecond: { acknowledged: bySecond(acknowledgedAt, cutAt), run: bySecond(ranAt, cutAt) },
  };
}

const stories = [];
for (let n = 0; n < ROUNDS; n++) stories.push(judged(await story()));
const figure = (name) => {
  const { perSecond: value, low, high } = summary(stories.map((one) => one[name]));
  return { value, low, high };
};
const total = (name, goal) => ({ value: stories.reduce((sum, one) => sum + one[name], 0), ...goal });
const setting = `each packet ${NETWORK.delayMs} ms late, ${NETWORK.lostOf10000} of 10,000 lost`;

reportFigures({
  question: `Three machines, ${setting}, ${PER_SECOND} events a second: from before the transaction to the run`,
  unit: "ms",
  figures: {
    "half of them, at most": figure("halfBefore"),
    "99 of 100, at most": figure("mostBefore"),
    "half of them, after the failover": figure("halfAfter"),
    "99 of 100, after the failover": figure("mostAfter"),
  },
});
reportFigures({
  question: `Three machines: ${BURST.toLocaleString("en")} events enqueued as fast as may be, until the last has run`,
  unit: "events a second",
  figures: { "before the failover": figure("burstBefore"), "after it": figure("burstAfter") },
});
reportFigures({
  question: `Failover at ${PER_SECOND} events a second: the primary's machine loses cable and power`,
  unit: "seconds",
  figures: {
    [`until the address leads to the new primary; ${NOTICED_AFTER_MS / 1000} of them until it is missed`]:
      figure("moved"),
    "the longest time in which nothing was acknowledged": figure("silent"),
    "the longest time in which nothing ran": figure("idle"),
    "after the address has moved, until all from before had run": figure("caughtUp"),
  },
});
reportFigures({
  question: `Failover: what became of the events, in ${ROUNDS} rounds`,
  unit: "events",
  figures: {
    "acknowledged: the answer to COMMIT came": total("acknowledged"),
    "acknowledged and not run": total("lost", { atMost: 0 }),
    "run more than once": total("twice", { atMost: 0 }),
    "acknowledged, and the row of their transaction gone": total("withoutOrder", { atMost: 0 }),
    "sent again and answered 409": total("copies"),
  },
});
reportGrowth({
  plot: "failover",
  question: "A failover, second by second",
  x: { label: `seconds; the primary is cut off at ${SHOWN.before}` },
  y: { label: "events a second" },
  series: stories.at(-1).bySecond,
});
process.exit(stories.some(({ lost, twice, withoutOrder }) => lost + twice + withoutOrder > 0) ? 1 : 0);
