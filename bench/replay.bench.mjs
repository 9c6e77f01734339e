// What does remembering event ids cost as they become many: to remember one, to forget one, and to keep them?
// `--long` takes SQLite and PostgreSQL further. PostgreSQL takes part where DATABASE_URL names a server.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { long, reportFigures, reportGrowth } from "./support.mjs";

const sizes = {
  memory: [1e3, 1e4, 1e5, 1e6, 1e7],
  sqlite: long ? [1e3, 1e4, 1e5, 1e6, 3e6] : [1e3, 1e4, 1e5, 1e6],
  ...(process.env.DATABASE_URL && { postgres: long ? [1e3, 1e4, 1e5] : [1e3, 1e4] }),
};
const titles = { memory: "memory", sqlite: "SQLite, 50 at once", postgres: "PostgreSQL, 50 at once" };
const folder = mkdtempSync(join(tmpdir(), "hookproof-bench-"));
const results = {};
try {
  for (const [kind, all] of Object.entries(sizes)) {
    results[titles[kind]] = [];
    for (const size of all) {
      const child = fork(
        new URL("replay-case.mjs", import.meta.url),
        [kind, String(size), join(folder, `${kind}-${size}.db`)],
        { execArgv: ["--expose-gc", "--max-old-space-size=8192"] },
      );
      const [result] = await once(child, "message");
      results[titles[kind]].push([size, result]);
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The points of a figure, for the stores that have it. */
function seriesOf(field) {
  const all = Object.entries(results).map(([title, sized]) => [
    title,
    sized.filter(([, result]) => field in result).map(([size, result]) => [size, result[field]]),
  ]);
  return Object.fromEntries(all.filter(([, points]) => points.length > 0));
}

const x = { label: "ids remembered", log: true };
const micros = { label: "µs an id", log: true };
reportGrowth({
  plot: "replay-insert",
  question: "Replay stores: reserving and committing an id",
  x,
  y: micros,
  series: seriesOf("insert"),
});
reportGrowth({
  plot: "replay-steady",
  question: "Replay stores: the same while for each id another one's week ends",
  x,
  y: micros,
  series: seriesOf("steady"),
});
reportGrowth({
  plot: "replay-bytes",
  question: "Replay stores: what an id takes",
  x,
  y: { label: "bytes an id", log: true },
  series: seriesOf("bytesPerId"),
});
const [many, { bytesPerId }] = results.memory.at(-1);
reportFigures({
  question: "What the memory store takes when it is full",
  unit: "bytes an id",
  figures: { [`memory, of ${many.toLocaleString("en")}`]: { value: bytesPerId, atMost: 60 } },
});
const processor = Object.entries(seriesOf("processor")).flatMap(([title, points]) =>
  points.map(([size, value]) => [`${title}, of ${size.toLocaleString("en")}`, { value, atMost: 150 }]),
);
if (processor.length > 0) {
  reportFigures({
    question: "Reserving and committing an id: processor time of the receiver and the server together",
    unit: "µs an id",
    figures: Object.fromEntries(processor),
  });
}
const removal = Object.entries(seriesOf("removal")).flatMap(([title, points]) =>
  points.map(([size, value]) => [`${title}, of ${size.toLocaleString("en")}`, { value }]),
);
if (removal.length > 0) {
  reportFigures({
    question: "Removing ids whose week is over, 500 a call",
    unit: "µs an id",
    figures: Object.fromEntries(removal),
  });
}
