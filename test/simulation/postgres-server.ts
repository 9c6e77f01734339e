// PostgreSQL in a world: the store's SQL runs on a real server, at one moment or statement by statement.
import { AsyncLocalStorage } from "node:async_hooks";
import { type PostgresPool, type PostgresPoolClient, postgresStore } from "hookproof/outbox/postgres";
import type pg from "pg";
import type { DrawnClock } from "./clocks.js";
import type { Engine, EngineWorld, StoreAccess } from "./engine.js";
import { holdSnapshots } from "./held-snapshots.js";
import { Random } from "./random.js";
import { SqlCall } from "./sql-call.js";
import { Meetings, type Talk } from "./sql-meetings.js";
import { isIdle, runAt, sqlServer } from "./sql-server.js";
import { overNetwork } from "./store-network.js";

type Heard = (message: { readonly payload?: string }) => void;

const lost = () => new Error("Connection terminated unexpectedly");
const told = (code: string) => () => Object.assign(new Error(`told ${code}`), { code, severity: "ERROR" });

/** How a statement fails that was not executed: of no connection, of its end, and of the server's own words. */
const FAILURES = [lost, lost, told("57P01"), told("40001"), told("40P01"), told("53300")] as const;

/** Not serializable: which of two then fails is for plans and pages to say. */
const LEVELS = ["read committed", "repeatable read"] as const;

/** How many blocks a walk may have read where a snapshot is held: few, and more than each of the bounds in `floor.ts`. */
const BLOCKS = [1, 400, 1_500, 4_000] as const;

/**
 * A script in pieces, between which others' statements are made: after each statement if it `rests`, and ahead of what
 * commits in any case, so that of two transactions the first to end is the first that the ledger is told of.
 */
function piecesOf(text: string, isAlone: boolean, rests = false): string[][] {
  const statements = text.split(";\n");
  if (isAlone && !rests) return [statements];
  const pieces: string[][] = [[]];
  for (const statement of statements) {
    if (statement === "COMMIT") pieces.push([]);
    pieces.at(-1)?.push(statement);
    if (statement === "COMMIT" || (rests && !/^(?:BEGIN|SET) /.test(statement))) pieces.push([]);
  }
  return pieces.filter(({ length }) => length > 0);
}

/** Limits of time are the world's: those of the server would go by the machine's. */
function withoutLimits(statement: string): string {
  return statement.replace(
    /^SET LOCAL (statement_timeout|idle_in_transaction_session_timeout) = \d+$/,
    "SET LOCAL $1 = 0",
  );
}

/**
 * The server, and the processes that use it. Calls of the store come over a network as those of the memory store do; next
 * to it statements fail before they are executed, and producers have transactions that stay open beside all others.
 */
export function postgresServer(world: EngineWorld, clock: DrawnClock): Engine {
  const { plan, time, ledger, spells, trace } = world;
  const server = sqlServer();
  const empty = time.outside(server.begin(clock.now()));
  const random = new Random(plan.seed, "postgres");
  const pauses = new Random(plan.seed, "pauses of calls");
  const strength = plan.faults["store refuses"] ?? 0;
  const connections = new Map<string, Set<Connection>>();
  const listening = new Map<Connection, Heard>();
  /** Those that have a connection of the server's. */
  const inUse = new Set<Connection>();
  const calls = new AsyncLocalStorage<SqlCall>();
  /** What was asked last where calls do not meet: of two in one step the machine's time would say which is first. */
  let asked: Promise<unknown> = Promise.resolve();
  const meets = plan.faults["calls meet"];
  const meetings =
    meets === undefined
      ? undefined
      : new Meetings({
          ...{ time, trace, random: new Random(plan.seed, "calls meet") },
          onBroken: (rule, message) => ledger.break(rule, message),
        });
  const dear = new Random(plan.seed, "what a snapshot costs");
  const levels = new Random(plan.seed, "isolation levels");
  const level = meets === undefined ? "read committed" : levels.pick(LEVELS);

  /** While a snapshot is held, any walk may be a long one: see sql-server.ts. */
  function settings(): string[] {
    const isHeld = spells.isOn("a snapshot is held");
    const more = isHeld && dear.chance(0.6) ? dear.pick(BLOCKS) : 0;
    return [`SET sim.more = ${more}`, `SET default_transaction_isolation = '${level}'`];
  }

  /** A connection of a process. It has one of the server only while its transaction is open: few are enough for all. */
  class Connection implements PostgresPoolClient, Talk {
    readonly owner: string;
    readonly isCallers: boolean;
    asks: string | undefined;
    #real: pg.Client | undefined;
    #heard: Heard | undefined;
    #isEnded = false;

    constructor(owner: string, isCallers = false) {
      this.owner = owner;
      this.isCallers = isCallers;
      connections.set(owner, (connections.get(owner) ?? new Set()).add(this));
    }

    query(text: string, values?: unknown[]): Promise<unknown> {
      return meetings ? this.#run(text, values) : time.outside(this.#run(text, values));
    }

    async #run(text: string, values?: unknown[]): Promise<unknown> {
      await time.outside(empty);
      const call = calls.getStore();
      if (this.#real) await this.#pass(call); // the answer to what was asked before is on its way
      const error = call?.failed();
      if (error) throw error;
      if (text.startsWith("LISTEN") && this.#heard) {
        listening.set(this, this.#heard);
        return { rows: [] };
      }
      if (this.#isEnded) throw lost();
      const real = this.#real ?? (await time.outside(server.take()));
      this.#real = real;
      inUse.add(this);
      try {
        if (meetings) return await this.#stepByStep(real, text, values);
        const atOnce = () => this.#atOnce(real, text, values);
        asked = asked.then(atOnce, atOnce);
        return await asked;
      } finally {
        if (!this.#isEnded) this.asks = undefined;
        if (this.#real === real && isIdle(real)) this.#giveBack(real);
        const sender = /SELECT pg_notify\('[^']*', '([^']*)'\)/.exec(text)?.[1];
        if (sender) notify(sender);
      }
    }

    #atOnce(real: pg.Client, text: string, values?: unknown[]): Promise<unknown> {
      return runAt(real, clock.now(), text, values, settings());
    }

    /** Each piece of a script by itself; others' go on in between. */
    async #stepByStep(real: pg.Client, text: string, values?: unknown[]): Promise<unknown> {
      const call = calls.getStore();
      const isAlone = inUse.size === 1;
      const results: unknown[] = [];
      for (const [index, statements] of piecesOf(text, isAlone, call?.rests).entries()) {
        const piece = statements.join(";\n");
        this.asks = piece;
        if (index > 0) await this.#pass(call);
        const run = async () => {
          if (this.#isEnded) throw lost();
          call?.begins(piece, isIdle(real), clock.now());
          return this.#atOnce(real, statements.map(withoutLimits).join(";\n"), values);
        };
        const answer = await meetings?.statement(this, real, piece, run, () => inUse.size > 1);
        if (this.#isEnded) throw lost();
        const own = Array.isArray(answer) ? answer : [answer];
        call?.ended(statements, own);
        results.push(...own);
      }
      return results.length === 1 ? results[0] : results;
    }

    /** Nothing of this call's for a moment. */
    async #pass(call: SqlCall | undefined): Promise<void> {
      const ms = call?.pause() ?? 0;
      if (ms > 0) await new Promise<void>((resolve) => void time.after(ms, "store", resolve));
      if (this.#isEnded) throw lost();
    }

    #giveBack(real: pg.Client): void {
      server.give(real);
      this.#real = undefined;
      inUse.delete(this);
      calls.getStore()?.hasEnded();
    }

    on(event: string, heard: Heard): void {
      if (event === "notification") this.#heard = heard;
    }

    getTransactionStatus(): string {
      return this.#real?.getTransactionStatus() ?? "I";
    }

    /** As the server does when it hears nothing more of a connection. */
    end(): Promise<void> {
      this.#isEnded = true;
      this.asks = "ROLLBACK";
      listening.delete(this);
      connections.get(this.owner)?.delete(this);
      return time.outside(this.#rollBack());
    }

    async #rollBack(): Promise<void> {
      const real = this.#real;
      this.#real = undefined;
      if (!real) return;
      await (meetings ? meetings.end(real) : real.query("ROLLBACK"));
      server.give(real);
      inUse.delete(this);
    }

    release(error?: Error | boolean): void {
      if (error || this.#real) void this.end();
      else connections.get(this.owner)?.delete(this);
    }
  }

  function notify(sender: string): void {
    for (const heard of listening.values())
      time.after(random.between(0.1, 5), "store", () => {
        if (!spells.isOn("store is gone")) heard({ payload: sender });
      });
  }

  function connect(owner: string, isCallers = false): Connection {
    if (spells.isOn("store is gone")) throw new Error("connect ECONNREFUSED");
    const error = calls.getStore()?.failed();
    if (error) throw error;
    return new Connection(owner, isCallers);
  }

  const poolOf = (owner: string): PostgresPool => ({
    options: { max: 10, connectionTimeoutMillis: 5_000 },
    connect: async () => connect(owner),
  });

  const open = overNetwork(world, async (run, { owner, name, note }) => {
    const isHit = !spells.isHealed && random.chance(0.3 * strength);
    const failure = isHit ? { after: random.below(4), error: random.pick(FAILURES) } : undefined;
    const call = new SqlCall({
      ...{ name, note, failure, clock, time, random: pauses, nextPlace: () => ledger.nextPlace() },
      pauses: meets === undefined || spells.isHealed ? undefined : meets,
      isToEnd: () => ledger.stops.isTold(owner),
    });
    try {
      const value = await calls.run(call, run as () => Promise<Awaited<ReturnType<typeof run>>>);
      call.note(value);
      return value;
    } finally {
      call.hasEnded();
    }
  });

  async function begin(owner: string) {
    const tx = connect(owner, true);
    await tx.query(meets === undefined ? "BEGIN" : `BEGIN ISOLATION LEVEL ${levels.pick(LEVELS)}`);
    const transaction = {
      tx,
      isCommitted: false,
      async commit() {
        const isGone = spells.isOn("store is gone") || (!spells.isHealed && random.chance(0.2 * strength));
        const isLate = random.chance(0.5);
        if (isGone && !isLate) return tx.end().then(() => Promise.reject(lost()));
        await tx.query("COMMIT");
        transaction.isCommitted = true;
        if (!isGone) return tx.release();
        trace.add(owner, "commits, and the answer is lost");
        throw lost();
      },
      rollBack: () => tx.end(),
    };
    return transaction;
  }

  function processOf(owner: string): StoreAccess {
    const inner = postgresStore({ pool: poolOf(owner) });
    return { store: open(inner, owner), begin: () => begin(owner) };
  }

  function died(owner: string): void {
    for (const connection of connections.get(owner) ?? []) void connection.end();
    connections.delete(owner);
  }

  holdSnapshots(world, { begin: () => new Connection("snapshot", true), end: () => died("snapshot") });

  // From outside of the world nothing fails.
  const look = async () => {
    await empty;
    const client = await server.take();
    const query = (text: string, values?: unknown[]) => runAt(client, clock.now(), text, values);
    return { query, release: () => server.give(client) };
  };
  const pool = { connect: look, options: { max: 1, connectionTimeoutMillis: 5_000 } };
  return {
    inner: postgresStore({ pool }),
    process: processOf,
    died,
    close() {
      for (const owner of [...connections.keys()]) died(owner);
    },
  };
}
