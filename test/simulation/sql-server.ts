// The PostgreSQL server of the simulator's process, on which time is what the simulated world says.
import { postgresStore } from "hookproof/outbox/postgres";
import pg from "pg";
import { emptyDatabase, testPostgres } from "../kit/postgres.js";
import { EPOCH } from "./virtual-time.js";

/**
 * Both times are settings: the one at which the transaction began, and that of the statement. How much was read is as the
 * server counts it, or each time so much more as a setting says: as much as it is where a snapshot keeps what has gone.
 */
const CLOCK = `
  CREATE SCHEMA sim;
  CREATE FUNCTION sim.blocks(regclass) RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE
      more bigint := pg_catalog.current_setting('sim.more')::bigint;
    BEGIN
      IF more = 0 THEN
        RETURN pg_catalog.pg_stat_get_xact_blocks_fetched($1);
      END IF;
      more := more + pg_catalog.current_setting('sim.read')::bigint;
      RETURN pg_catalog.set_config('sim.read', more::text, false)::bigint;
    END $$;
  CREATE FUNCTION sim.now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS
    $$ SELECT pg_catalog.to_timestamp(pg_catalog.current_setting('sim.now')::float8) $$;
  CREATE FUNCTION sim.moment() RETURNS timestamptz LANGUAGE sql PARALLEL SAFE AS
    $$ SELECT pg_catalog.to_timestamp(pg_catalog.current_setting('sim.moment')::float8) $$;`;

/** What SQL calls the time, and how much it has read, and what stands in their place. */
function byClock(sql: string): string {
  return sql
    .replaceAll("pg_stat_get_xact_blocks_fetched(", "sim.blocks(")
    .replace(/(?<![\w.])(?:pg_catalog\.)?now\(\)/g, "sim.now()")
    .replace(/(?<![\w.])(?:pg_catalog\.)?clock_timestamp\(\)/g, "sim.moment()");
}

/** What the server does by itself has transactions as well, by the machine's time: they show in the number of the oldest. */
export const QUIET = ["autovacuum=off"];

/** One database of a real server, for one world after another. */
export interface SqlServer {
  /** Takes a connection; whoever has it gives it back without an open transaction. */
  take(): Promise<pg.Client>;
  give(client: pg.Client): void;
  /** A connection to look at the others from. */
  observer(): Promise<pg.Client>;
  /** Empties all tables. */
  begin(now: number): Promise<void>;
}

let started: Promise<SqlServer> | undefined;
let current: SqlServer | undefined;
let stop: () => Promise<void> = async () => {};

/** The server that was started. */
export function sqlServer(): SqlServer {
  if (!current) throw new Error("PostgreSQL was not started");
  return current;
}

/** Starts the server, or finds that of TEST_DATABASE_URL, and makes the outbox's tables: once for each process. */
export async function startSqlServer(): Promise<void> {
  started ??= start();
  current = await started;
}

/** Ends what was started. */
export async function stopSqlServer(): Promise<void> {
  await started?.catch(() => {});
  await stop();
}

async function start(): Promise<SqlServer> {
  const server = await testPostgres(QUIET);
  if (!server) throw new Error("PostgreSQL is not installed, and TEST_DATABASE_URL names no server");
  const name = `hookproof_simulation_${process.pid}`;
  const all: pg.Client[] = [];
  stop = async () => {
    for (const client of all) await client.end();
    const admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
    await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await admin.end();
    await server.stop();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void stop().finally(() => process.exit(1)));
  const connectionString = await emptyDatabase(server.url, name);
  const connected = async () => {
    const client = new pg.Client({ connectionString });
    client.on("error", () => {}); // what is asked fails as well
    all.push(client);
    await client.connect();
    await client.query("SET synchronous_commit = off; SET sim.more = 0; SET sim.read = 0");
    return client;
  };
  const free = [await connected()];
  const take = async () => free.pop() ?? connected();
  const give = (client: pg.Client) => void free.push(client);
  await makeTables(take, give);
  const tables = await withClient(take, give, (client) => tablesOf(client));
  let observer: Promise<pg.Client> | undefined;
  const empties = `TRUNCATE ${tables.join()} RESTART IDENTITY; INSERT INTO hookproof.clock VALUES (now())`;
  return {
    take,
    give,
    observer() {
      observer ??= connected();
      return observer;
    },
    begin: (now) => withClient(take, give, (client) => runAt(client, now, empties)).then(() => {}),
  };
}

async function withClient<Value>(
  take: SqlServer["take"],
  give: SqlServer["give"],
  work: (client: pg.Client) => Promise<Value>,
): Promise<Value> {
  const client = await take();
  const value = await work(client);
  give(client);
  return value;
}

/** The tables of the store itself, whose functions and defaults take the time from the simulator. */
async function makeTables(take: SqlServer["take"], give: SqlServer["give"]): Promise<void> {
  await withClient(take, give, (client) => client.query(CLOCK));
  const connect = async () => {
    const client = await take();
    const query = (text: string, values?: unknown[]) => runAt(client, EPOCH, text, values);
    return { query, release: () => give(client) };
  };
  const store = postgresStore({ pool: { connect, options: { max: 1, connectionTimeoutMillis: 10_000 } } });
  await store.now();
}

/** Those that are emptied. A vacuum in between would move where rows are put, and with it their order. */
async function tablesOf(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query(
    "SELECT format('hookproof.%I', tablename) AS name FROM pg_tables WHERE schemaname = 'hookproof' AND tablename <> 'version' ORDER BY 1",
  );
  const names = (rows as { name: string }[]).map(({ name }) => name);
  for (const name of names) await client.query(`ALTER TABLE ${name} SET (autovacuum_enabled = off)`);
  return names;
}

/** Whether a connection is outside of a transaction. */
export function isIdle(client: pg.Client): boolean {
  return client.getTransactionStatus() === "I";
}

/** Runs statements at a time in milliseconds, and gives what `pg` gives for them. */
export async function runAt(
  client: pg.Client,
  now: number,
  text: string,
  values?: unknown[],
  /** What is set with the time. */
  others: readonly string[] = ["SET sim.more = 0"],
): Promise<unknown> {
  const sql = byClock(text);
  if (client.getTransactionStatus() === "E") return client.query(sql); // nothing but its end
  const at = `= '${now / 1_000}'`;
  const settings = [...(isIdle(client) ? [`SET sim.now ${at}`] : []), `SET sim.moment ${at}`, ...others];
  if (values) {
    await client.query(settings.join(";"));
    return client.query(sql, values);
  }
  const results = (await client.query([...settings, sql].join(";\n"))) as unknown as unknown[];
  const own = results.slice(settings.length);
  return own.length === 1 ? own[0] : own;
}
