// Calls of a store at the same moment: statement by statement on a real server, as the seed draws it.
import { setTimeout as realDelay } from "node:timers/promises";
import type pg from "pg";
import type { Rule } from "./facts.js";
import type { Random } from "./random.js";
import { sqlServer } from "./sql-server.js";
import type { Trace } from "./trace.js";
import type { VirtualTime } from "./virtual-time.js";

/** A connection of the world, as far as others may have to wait for it. */
export interface Talk {
  readonly owner: string;
  /** What it is asked at the moment; nothing, while the server waits for its client. */
  asks: string | undefined;
  /** Whether its transaction is the application's, and not one of the store's. */
  readonly isCallers: boolean;
}

/** A statement that was given to the server and has not come back. */
interface Running {
  readonly talk: Talk;
  readonly client: pg.Client;
  readonly text: string;
  /** Resolves when it has ended, one way or another. */
  readonly end: Promise<void>;
  isDone: boolean;
  isVictim: boolean;
  /** Goes on with its call; set while it waits for a lock. */
  goOn?: () => void;
}

interface MeetingsContext {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly trace: Trace;
  readonly onBroken: (rule: Rule, message: string) => void;
}

/** How long a statement may take until the server is asked whether it waits for a lock. */
const ASKED_AFTER_MS = 3;

const DEADLOCK = "40P01";
const CANCELLED = "57014";

/**
 * Which statement waits for which lock is the server's to say. What is drawn is when the next statement of each call is
 * made, and of two that wait for each other one fails, the last: the server would let time decide.
 */
export class Meetings {
  readonly #context: MeetingsContext;
  readonly #running = new Set<Running>();
  readonly #talks = new Map<number, Talk>();
  #observer: Promise<pg.Client> | undefined;
  /** For whom somebody waits. */
  #waitedFor: ReadonlySet<number> = new Set();
  /** Until what the server was asked last has ended, or waits. */
  #asking: Promise<void> | undefined;

  constructor(context: MeetingsContext) {
    this.#context = context;
  }

  /** While one waits, those alone go on that it waits for: of two that are freed at once, time would decide who is first. */
  async #turn(client: pg.Client): Promise<void> {
    const { time, random } = this.#context;
    while (this.#waitedFor.size > 0 && !this.#waitedFor.has(pidOf(client)))
      await new Promise<void>((resolve) => void time.after(random.between(0.2, 2), "store", resolve));
  }

  /** Makes one statement: resolves at once, or in a later step if it had to wait for a lock. */
  async statement<Value>(
    talk: Talk,
    client: pg.Client,
    text: string,
    run: () => Promise<Value>,
    /** Whether there is another transaction, for which it may have to wait. */
    mayWait: () => boolean,
  ): Promise<Value> {
    await this.#turn(client);
    while (this.#asking) {
      await this.#asking;
      await this.#turn(client);
    }
    this.#talks.set(pidOf(client), talk);
    const work = run();
    const end = work.then(
      () => void Object.assign(one, { isDone: true }),
      () => void Object.assign(one, { isDone: true }),
    );
    const one: Running = { talk, client, text, end, isDone: false, isVictim: false };
    this.#running.add(one);
    await this.#alone(mayWait() ? this.#quiet(one) : end);
    if (!one.isDone) {
      this.#context.trace.add(talk.owner, "waits for a lock in", short(text));
      await new Promise<void>((resolve) => {
        one.goOn = resolve;
      });
    }
    this.#running.delete(one);
    return work.catch((error) => {
      throw one.isVictim && (error as { code?: unknown }).code === CANCELLED ? deadlock() : error;
    });
  }

  /** Ends a transaction whose client has gone, and what it waits for, as the server does. */
  async end(client: pg.Client): Promise<void> {
    while (this.#asking) await this.#asking;
    await this.#alone(this.#rollBack(client));
  }

  async #rollBack(client: pg.Client): Promise<void> {
    await this.#cancel(client);
    await client.query("ROLLBACK");
    await this.#quiet();
  }

  /** Of two that one step asks for, the second is asked after the first: the machine's time would order them. */
  async #alone(asked: Promise<void>): Promise<void> {
    this.#asking = asked;
    try {
      await this.#context.time.outside(asked);
    } finally {
      this.#asking = undefined;
    }
  }

  async #cancel(client: pg.Client): Promise<void> {
    for (const one of this.#running)
      if (one.client === client && !one.isDone) {
        await (await this.#watch()).query("SELECT pg_cancel_backend($1)", [pidOf(client)]);
        await one.end;
      }
  }

  /** Until each statement has ended or waits for a lock; whoever need not wait any more goes on in a step of its own. */
  async #quiet(asked?: Running): Promise<void> {
    for (;;) {
      const open = [...this.#running].filter(({ isDone }) => !isDone);
      if (open.length === 0) {
        this.#waitedFor = new Set();
        break;
      }
      await Promise.race([...open.map(({ end }) => end), realDelay(ASKED_AFTER_MS)]);
      if (open.some(({ isDone }) => isDone)) continue;
      const waits = await this.#waits(open);
      if (open.some(({ isDone }) => isDone) || waits.size < open.length) continue;
      this.#waitedFor = new Set([...waits.values()].flat());
      if (!asked || asked.isDone || !(await this.#look(asked, waits))) break;
      asked.isVictim = true;
      await this.#cancel(asked.client);
    }
    for (const one of this.#running) {
      const { goOn } = one;
      if (!one.isDone || !goOn) continue;
      delete one.goOn;
      this.#context.time.after(this.#context.random.between(0.01, 2), "store", goOn);
    }
  }

  /** By process id, for whom each of these waits. */
  async #waits(open: readonly Running[]): Promise<Map<number, readonly number[]>> {
    const { rows } = await (await this.#watch()).query(
      "SELECT pid, pg_blocking_pids(pid) AS by FROM unnest($1::int[]) AS pid",
      [open.map(({ client }) => pidOf(client))],
    );
    const found = rows as { pid: number; by: number[] }[];
    return new Map(found.filter(({ by }) => by.length > 0).map(({ pid, by }) => [pid, by]));
  }

  /** Whether a statement that has just begun to wait closes a circle; and whether those it waits for may be waited for. */
  async #look(
    { client, talk, text }: Running,
    waits: ReadonlyMap<number, readonly number[]>,
  ): Promise<boolean> {
    const own = pidOf(client);
    const found = new Set(waits.get(own));
    for (const pid of found) for (const by of waits.get(pid) ?? []) found.add(by);
    const { onBroken } = this.#context;
    const what = `${talk.owner} waits in ${short(text)}`;
    for (const pid of waits.get(own) ?? []) {
      const other = this.#talks.get(pid);
      if (!other) continue;
      if (other.isCallers) onBroken("locks", `${what} for a transaction of ${other.owner}'s`);
      else if (other.asks === undefined)
        onBroken("locks", `${what} for ${other.owner}, whom the server waits for`);
    }
    if (/\.claim\(/.test(text) && (await this.#isForEvent(own)))
      onBroken("locks", `${what} for an event that another one changes`);
    const isCircle = found.has(own);
    if (isCircle)
      onBroken(
        "locks",
        `${what}, in a circle with ${[...found].map((pid) => this.#talks.get(pid)?.asks ?? "?").map(short)}`,
      );
    return isCircle;
  }

  /** Whether it waits for a row of the table of events: then it has the right to be the next to lock it. */
  async #isForEvent(pid: number): Promise<boolean> {
    const { rowCount } = await (await this.#watch()).query(
      "SELECT FROM pg_locks WHERE pid = $1 AND locktype = 'tuple' AND relation = 'hookproof.event'::regclass",
      [pid],
    );
    return rowCount !== 0;
  }

  /** A connection that is in no world. */
  #watch(): Promise<pg.Client> {
    this.#observer ??= sqlServer().observer();
    return this.#observer;
  }
}

function pidOf(client: pg.Client): number {
  return Number((client as unknown as { processID: number }).processID);
}

function deadlock(): Error {
  return Object.assign(new Error("deadlock detected"), { code: DEADLOCK, severity: "ERROR" });
}

/** The end of what is asked, without its settings. */
function short(text: string): string {
  const statements = text.split(";\n").filter((statement) => !/^(?:SET|BEGIN) /.test(statement));
  return statements.join("; ").replace(/\s+/g, " ").trim().slice(0, 70);
}
