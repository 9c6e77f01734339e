// Lets producers and workers go on for as long as one likes while everything goes wrong around them: npm run soak.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { postgresStore } from "hookproof/outbox/postgres";
import type pg from "pg";
import { ownPostgres, testPool } from "../kit/postgres.js";
import { TIMES } from "../kit/postgres-outbox.js";
import { seed } from "../kit/seed.mjs";
import { tcpProxy } from "../kit/tcp-proxy.js";
import { type ChaosEngine, type ChaosResult, outboxChaos } from "./outbox-chaos.js";
import { sqliteEngine } from "./sqlite-engine.js";

const HELP = `npm run soak -- --minutes 10       rounds until the time is over; the last one ends as well
  --engine postgres|sqlite     one engine instead of both in turn
  --fault <part of a name>     one fault instead of all in turn
  --write                      writes what came of it to docs/soak.md
HOOKPROOF_SEED=<number>        draws the same again`;

const SIZE = { events: 1_500, disturbances: 8 };
const HOUR_MS = 3_600_000;
const UNKNOWN = [{ listener: "", pending: 1, inFlight: 0, delivered: 0, dead: 0, oldestAgeMs: 0 }];

const pass = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** What a fault can reach. */
interface Scene {
  readonly server: NonNullable<Awaited<ReturnType<typeof ownPostgres>>>;
  /** What the processes' connections go through. */
  readonly proxy: Awaited<ReturnType<typeof tcpProxy>>;
  readonly pool: pg.Pool;
  /** Called when the round is over. */
  readonly after: (() => Promise<unknown>)[];
}

/** Runs work on a connection of its own, which is closed. */
async function apart(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<unknown>): Promise<void> {
  const client = await pool.connect();
  try {
    await work(client);
  } finally {
    client.release(true);
  }
}

const FAULTS: readonly { readonly name: string; run(scene: Scene): Promise<unknown> }[] = [
  {
    name: "the server is killed",
    async run({ server }) {
      await server.kill();
      await server.restart();
    },
  },
  {
    name: "all connections are terminated, again and again",
    async run({ pool }) {
      for (let count = 0; count < 20; count++) {
        await pool.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'worker'",
        );
        await pass(50);
      }
    },
  },
  {
    name: "connections are cut while a commit is on its way",
    async run({ proxy }) {
      for (let count = 0; count < 10; count++) {
        proxy.cutAfter("COMMIT");
        await pass(50);
      }
    },
  },
  {
    name: "every answer is lost for a second",
    async run({ proxy }) {
      proxy.losesAnswers = true;
      await pass(1_000);
      proxy.losesAnswers = false;
    },
  },
  {
    name: "the network forgets its connections, and closes none",
    async run({ proxy }) {
      proxy.forget();
      await pass(11_000); // an idle connection may be asked after 5 s, and hang for 5 more
    },
  },
  {
    name: "the table of events is locked",
    run: ({ pool }) =>
      apart(pool, async (client) => {
        await client.query("BEGIN; LOCK TABLE hookproof.event");
        await pass(2_000);
        await client.query("COMMIT");
      }),
  },
  {
    name: "the database is read-only",
    async run({ pool }) {
      const set = (value: string) => pool.query(`ALTER DATABASE postgres SET ${value}`);
      const ends = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'worker'";
      await set("default_transaction_read_only = on");
      await pool.query(ends);
      await pass(1_500);
      await pool.query("SET default_transaction_read_only = off");
      await apart(pool, async (client) => {
        await client.query("SET default_transaction_read_only = off");
        await client.query("ALTER DATABASE postgres RESET default_transaction_read_only");
        await client.query(ends);
      });
    },
  },
  {
    name: "a snapshot is held to the end",
    async run({ pool, after }) {
      const client = await pool.connect();
      await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM hookproof.event");
      after.push(async () => client.release(true));
    },
  },
  {
    name: "the clock is put back by an hour",
    run: ({ pool }) =>
      apart(pool, async (client) => {
        // Stored times that lie an hour ahead are what a clock that was put back leaves.
        await client.query(`BEGIN; LOCK TABLE ${Object.keys(TIMES).map((name) => `hookproof.${name}`)}`);
        for (const [table, columns] of Object.entries(TIMES))
          await client.query(
            `UPDATE hookproof.${table} SET ${columns.map((name) => `${name} = ${name} + ${HOUR_MS} * interval '1 ms'`)}`,
          );
        await client.query("COMMIT");
      }),
  },
  {
    name: "a thousand events come for names that nobody has",
    async run({ pool, after }) {
      await pool.query("SELECT hookproof.enqueue('stranger ' || n, '{}') FROM generate_series(1, 1000) n");
      const store = postgresStore({ pool });
      const cancel = async () => {
        for (const { listener } of await store.stats())
          if (listener.startsWith("stranger ")) await store.cancel({ listener });
      };
      after.push(cancel);
    },
  },
];

/** One round over PostgreSQL, with one fault. */
async function postgresRound(fault: (typeof FAULTS)[number]): Promise<ChaosResult> {
  const server = await ownPostgres();
  if (!server) throw new Error("PostgreSQL is not installed: --engine sqlite does without");
  const proxy = await tcpProxy({ port: Number(new URL(server.url).port) });
  const pool = testPool({ connectionString: server.url });
  pool.on("connect", (client) => client.on("error", () => {}));
  const after: Scene["after"] = [];
  try {
    await pool.query("CREATE TABLE orders (id text)");
    const store = postgresStore({ pool });
    await store.stats(); // the tables are there before anything goes wrong
    const own = async () =>
      (await store.stats().catch(() => UNKNOWN)).filter(({ listener }) => !listener.startsWith("stranger "));
    const place = { url: Object.assign(new URL(server.url), { port: String(proxy.port) }).href };
    const cutStore = () => fault.run({ server, proxy, pool, after }).then(() => {});
    return await outboxChaos(
      {
        ...{ name: "postgres", place, speed: 1, leaseMs: 10_000, cutStore },
        open: async () => ({ ...store, stats: own, close: async () => {} }),
      },
      SIZE,
    );
  } finally {
    for (const end of after) await end().catch(() => {});
    await pool.end();
    await proxy.stop();
    await server.stop();
  }
}

async function sqliteRound(): Promise<ChaosResult> {
  const folder = mkdtempSync(join(tmpdir(), "hookproof-soak-"));
  const { engine, close } = sqliteEngine(folder);
  try {
    return await outboxChaos(engine satisfies ChaosEngine, SIZE);
  } finally {
    close();
    rmSync(folder, { recursive: true });
  }
}

/** What came of all rounds with one fault. */
interface Row {
  readonly fault: string;
  readonly rounds: number;
  readonly sums: Readonly<Record<string, number>>;
}

const SHOWN = {
  acknowledged: "acknowledged",
  runs: "ran",
  deadLetters: "dead letters",
  requests: "requests",
  answered409: "answered 409",
  "kill-dispatcher": "workers killed",
  "kill-producer": "producers killed",
  "stop-dispatcher": "workers stopped",
  "cut-store": "faults",
} as const;

function page(rows: readonly Row[], minutes: number, broken: readonly string[]): string {
  const head = ["what goes wrong", "rounds", ...Object.values(SHOWN)];
  const lines = rows.map(({ fault, rounds, sums }) => [
    fault,
    rounds,
    ...Object.keys(SHOWN).map((name) => sums[name] ?? 0),
  ]);
  const table = [head, head.map((_, index) => (index === 0 ? "---" : "---:")), ...lines];
  const verdict =
    broken.length === 0
      ? "No promise was broken: every acknowledged event ran once or is a dead letter with its reason, nothing that was rolled back ran, and the order of each key was kept."
      : `**${broken.length} promises were broken:** ${broken.slice(0, 5).join("; ")}`;
  return `# The last soak

What \`npm run soak -- --minutes ${minutes} --write\` printed last: two producers and two workers as processes of their own, a receiver that fails in every way of test/kit/receiver-failures.ts, and in each round one more thing that goes wrong while workers are killed and stopped. A ledger that the outbox does not see keeps what was acknowledged and what ran; the judge of the chaos runs compares (\`test/chaos/outbox-judge.ts\`). Seed ${seed}, Node ${process.versions.node}, ${cpus().length} processors.

${verdict}

${table.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}
`;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "10" },
      engine: { type: "string", default: "both" },
      fault: { type: "string", default: "" },
      write: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return console.info(HELP);
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new RangeError("--minutes must be above 0");
  const faults = FAULTS.filter(({ name }) => name.includes(values.fault));
  const rounds = [
    ...(values.engine === "sqlite"
      ? []
      : faults.map((one) => ({ name: one.name, run: () => postgresRound(one) }))),
    ...(values.engine === "postgres" || values.fault !== ""
      ? []
      : [{ name: "SQLite: the file is locked", run: sqliteRound }]),
  ];
  if (rounds.length === 0)
    throw new RangeError(`there is no such round: ${FAULTS.map(({ name }) => name).join("; ")}`);
  const startedAt = performance.now();
  const rows = new Map<string, Row>();
  const broken: string[] = [];
  for (let count = 0; performance.now() - startedAt < minutes * 60_000; count++) {
    const round = rounds[count % rounds.length];
    if (!round) break;
    const { summary, broken: found } = await round.run();
    broken.push(...found.map((one) => `${round.name}: ${one}`));
    const { rounds: before = 0, sums = {} } = rows.get(round.name) ?? {};
    const summed = Object.keys(SHOWN).map((name) => [name, (sums[name] ?? 0) + (summary[name] ?? 0)]);
    rows.set(round.name, { fault: round.name, rounds: before + 1, sums: Object.fromEntries(summed) });
    const took = Math.round((performance.now() - startedAt) / 1_000);
    console.info(
      `${took} s  ${round.name}: ${summary.acknowledged} acknowledged, ${summary.runs} ran, ${summary.deadLetters} dead letters, ${found.length === 0 ? "kept" : `BROKEN: ${found[0]}`} (${summary.seconds} s)`,
    );
  }
  const text = page([...rows.values()], minutes, broken);
  if (values.write) writeFileSync(new URL("../../docs/soak.md", import.meta.url), text);
  else console.info(`\n${text}`);
  if (broken.length > 0) process.exitCode = 1;
}

await main();
process.exit();
