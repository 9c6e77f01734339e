// What many events a second need, worked out from what one event was measured to cost: in capacity.bench.mjs with one
// worker, and in workers.bench.mjs with several on one PostgreSQL.
import { table } from "./markdown-table.mjs";
import { amount } from "./reporting.mjs";

const RATES = [1_000, 10_000, 100_000];
/** Into how many databases the listeners are divided. */
const DATABASES = [1, 2, 4, 8, 16, 32, 64];
const MAX = 100_000;

/** How busy a core may be for good: the rest is for bursts, upkeep and the operating system. */
const BUSY = 0.6;

/** @param {Record<string, object>} results by the bench's name */
export function capacityTable({ capacity }) {
  if (!capacity) return missing("capacity");
  const { worker, server, commits, wal } = costsOf(capacity);
  const rows = [
    ["cores of senders without an outbox", (rate) => cores(worker["sign and send"].value, rate)],
    ["cores of workers that enqueue", (rate) => cores(worker.enqueue.value, rate)],
    ["cores of workers that deliver", (rate) => cores(worker.deliver.value, rate)],
    ["cores of PostgreSQL", (rate) => cores(server.enqueue.value + server.deliver.value, rate)],
    ["transactions that write a second, enqueued by the hundred", (rate) => amount(commits * rate)],
    ["transactions that write a second, enqueued one by one", (rate) => amount((commits + 0.99) * rate)],
    ["write-ahead log, MB a second", (rate) => amount((wal * rate) / 1e6)],
    ["write-ahead log, TB a day", (rate) => amount((wal * rate * 86_400) / 1e12)],
  ];
  return table(
    ["events of 1 KB a second", ...RATES.map(amount)],
    rows.map(([name, at]) => [name, ...RATES.map(at)]),
  );
}

/**
 * What the highest of the rates needs when it is divided among databases: of each, as many workers as carry its share,
 * where an event costs what it was measured to cost with so many.
 *
 * @param {Record<string, object>} results by the bench's name
 */
export function partitionTable({ capacity, workers }) {
  if (!capacity || !workers) return missing(capacity ? "workers" : "capacity");
  const { worker, server, commits, wal } = costsOf(capacity);
  const dearer = Object.entries(figuresOf(workers, "Workers on one PostgreSQL: what an event costs"));
  const teams = dearer.map(([name, { value: times }]) => {
    const count = Number.parseInt(name, 10);
    return { count, times, carries: (count * BUSY * 1e6) / (worker.deliver.value * times) };
  });
  const plans = DATABASES.map((databases) => {
    const rate = MAX / databases;
    return { databases, rate, team: teams.find(({ carries }) => carries >= rate) };
  });
  const most = Math.max(...teams.map(({ count }) => count));
  const of = (work) => (plan) => (plan.team ? work(plan) : "");
  const rows = [
    ["events a second, each", ({ rate }) => amount(rate)],
    ["workers, each", ({ team }) => team?.count ?? `more than ${most}`],
    ["workers, all", of(({ team, databases }) => team.count * databases)],
    [
      "cores of PostgreSQL, each",
      of(({ team, rate }) => cores(server.enqueue.value + server.deliver.value * team.times, rate)),
    ],
    ["transactions that write a second, each, enqueued by the hundred", ({ rate }) => amount(commits * rate)],
    ["the same, enqueued one by one", ({ rate }) => amount((commits + 0.99) * rate)],
    ["write-ahead log, MB a second, each", ({ rate }) => amount((wal * rate) / 1e6)],
  ];
  return table(
    [`${amount(MAX)} a second, by databases`, ...DATABASES.map(amount)],
    rows.map(([name, at]) => [name, ...plans.map(at)]),
  );
}

function costsOf(capacity) {
  const sum = ({ enqueue, deliver }) => enqueue.value + deliver.value;
  return {
    worker: figuresOf(capacity, "Worker: processor time"),
    server: figuresOf(capacity, "PostgreSQL: processor time"),
    commits: sum(figuresOf(capacity, "PostgreSQL: transactions")),
    wal: sum(figuresOf(capacity, "PostgreSQL: write-ahead log")),
  };
}

function figuresOf({ answers }, start) {
  return answers.find(({ question }) => question.startsWith(start)).figures;
}

function cores(micros, rate) {
  return Math.max(1, Math.ceil((micros * rate) / 1e6 / BUSY));
}

function missing(bench) {
  return `Not measured: \`npm run bench -- ${bench} --write\` has not been run.`;
}
