// What many events a second need, worked out from what one event was measured to cost in capacity.bench.mjs.
import { table } from "./markdown-table.mjs";
import { amount } from "./reporting.mjs";

const RATES = [1_000, 10_000, 100_000];

/** How busy a core may be for good: the rest is for bursts, upkeep and the operating system. */
const BUSY = 0.6;

/** @param {Record<string, object>} results by the bench's name */
export function capacityTable({ capacity }) {
  if (!capacity) return "Not measured: `npm run bench -- capacity --write` has not been run.";
  const of = (start) => capacity.answers.find(({ question }) => question.startsWith(start)).figures;
  const sum = (figures) => figures.enqueue.value + figures.deliver.value;
  const worker = of("Worker: processor time");
  const server = of("PostgreSQL: processor time");
  const commits = sum(of("PostgreSQL: transactions"));
  const wal = sum(of("PostgreSQL: write-ahead log"));
  const cores = (micros, rate) => Math.max(1, Math.ceil((micros * rate) / 1e6 / BUSY));
  const rows = [
    ["cores of senders without an outbox", (rate) => cores(worker["sign and send"].value, rate)],
    ["cores of workers that enqueue", (rate) => cores(worker.enqueue.value, rate)],
    ["cores of workers that deliver", (rate) => cores(worker.deliver.value, rate)],
    ["cores of PostgreSQL", (rate) => cores(sum(server), rate)],
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
