// PostgreSQL in a world: the store's SQL runs on a real server, each call of the store at one moment.
import { type PostgresPool, type PostgresPoolClient, postgresStore } from "hookproof/outbox/postgres";
import type pg from "pg";
import type { DrawnClock } from "./clocks.js";
import type { Engine, EngineWorld, StoreAccess } from "./engine.js";
import { Random } from "./random.js";
import { isIdle, runAt, sqlServer } from "./sql-server.js";
import { overNetwork } from "./store-network.js";

type Heard = (message: { readonly payload?: string }) => void;

const lost = () => new Error("Connection terminated unexpectedly");
const told = (code: string) => () => Object.assign(new Error(`told ${code}`), { code, severity: "ERROR" });

/** How a statement fails that was not executed: of no connection, of its end, and of the server's own words. */
const FAILURES = [lost, lost, told("57P01"), told("40001"), told("40P01"), told("53300")] as const;

/**
 * The server, and the processes that use it. Calls of the store come over a network as those of the memory store do; next
 * to it statements fail before they are executed, and producers have transactions that stay open beside all others.
 */
export function postgresServer(world: EngineWorld, clock: DrawnClock): Engine {
  const { plan, time, spells, trace } = world;
  const server = sqlServer();
  const empty = time.outside(server.begin(clock.now()));
  const random = new Random(plan.seed, "postgres");
  const strength = plan.faults["store refuses"] ?? 0;
  const connections = new Map<string, Set<Connection>>();
  const listening = new Map<Connection, Heard>();
  /** The failure of the call under way, and how many of its statements are before that. */
  let failure: { after: number; readonly error: () => Error } | undefined;

  /** A call may fail as long as it has committed nothing: then the ledger knows what it did. */
  function failed(): Error | undefined {
    if (!failure || failure.after-- > 0) return undefined;
    const { error } = failure;
    failure = undefined;
    return error();
  }

  /** A connection of a process. It has one of the server only while its transaction is open: few are enough for all. */
  class Connection implements PostgresPoolClient {
    readonly #owner: string;
    #real: pg.Client | undefined;
    #heard: Heard | undefined;

    constructor(owner: string) {
      this.#owner = owner;
      connections.set(owner, (connections.get(owner) ?? new Set()).add(this));
    }

    query(text: string, values?: unknown[]): Promise<unknown> {
      return time.outside(this.#run(text, values));
    }

    async #run(text: string, values?: unknown[]): Promise<unknown> {
      await empty;
      const error = failed();
      if (error) throw error;
      if (text.startsWith("LISTEN") && this.#heard) {
        listening.set(this, this.#heard);
        return { rows: [] };
      }
      const real = this.#real ?? (await server.take());
      this.#real = real;
      try {
        return await runAt(real, clock.now(), text, values);
      } finally {
        if (isIdle(real)) this.#giveBack(real);
        const sender = /SELECT pg_notify\('[^']*', '([^']*)'\)/.exec(text)?.[1];
        if (sender) notify(sender);
      }
    }

    #giveBack(real: pg.Client): void {
      server.give(real);
      this.#real = undefined;
      failure = undefined;
    }

    on(event: string, heard: Heard): void {
      if (event === "notification") this.#heard = heard;
    }

    getTransactionStatus(): string {
      return this.#real?.getTransactionStatus() ?? "I";
    }

    /** As the server does when it hears nothing more of a connection. */
    end(): Promise<void> {
      listening.delete(this);
      connections.get(this.#owner)?.delete(this);
      return time.outside(this.#rollBack());
    }

    async #rollBack(): Promise<void> {
      const real = this.#real;
      this.#real = undefined;
      if (!real) return;
      await real.query("ROLLBACK");
      server.give(real);
    }

    release(error?: Error | boolean): void {
      if (error || this.#real) void this.end();
      else connections.get(this.#owner)?.delete(this);
    }
  }

  function notify(sender: string): void {
    for (const heard of listening.values())
      time.after(random.between(0.1, 5), "store", () => {
        if (!spells.isOn("store is gone")) heard({ payload: sender });
      });
  }

  function connect(owner: string): Connection {
    if (spells.isOn("store is gone")) throw new Error("connect ECONNREFUSED");
    const error = failed();
    if (error) throw error;
    return new Connection(owner);
  }

  const poolOf = (owner: string): PostgresPool => ({
    options: { max: 10, connectionTimeoutMillis: 5_000 },
    connect: async () => connect(owner),
  });

  const open = overNetwork(world, async (run) => {
    const isHit = !spells.isHealed && random.chance(0.3 * strength);
    failure = isHit ? { after: random.below(4), error: random.pick(FAILURES) } : undefined;
    try {
      return await run();
    } finally {
      failure = undefined;
    }
  });

  async function begin(owner: string) {
    const tx = connect(owner);
    await tx.query("BEGIN");
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
