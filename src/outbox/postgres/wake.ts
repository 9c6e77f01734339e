// Wakes workers by notifications of PostgreSQL.
import { newEventId } from "../../core/event.js";
import {
  type Database,
  eventsOf,
  literal,
  type PostgresPoolClient,
  rowsOf,
} from "../../postgres/database.js";
import type { OutboxNames } from "./names.js";

const TRY_AGAIN_MS = 5_000;

/** The time between two notifications; one covers everything that was stored meanwhile. */
const REST_MS = 20;

/** How long after `enqueue` in a caller's transaction the loop looks for its commit. Later ones are found by polling. */
const COMMIT_MS = 10;

/** A pool with fewer connections keeps none of them for listening. */
const MIN_CONNECTIONS = 4;

/** Wakes the dispatcher for new work: at once for work of this process, soon for work of others. */
interface Waker {
  subscribe(wake: () => void): () => void;
  /** Wakes this process now, and the others by a notification; no caller waits for it. */
  wakeAll(): void;
  /** Wakes this process now. */
  wakeHere(): void;
  /** Wakes this process when a caller's transaction is likely to have been committed. */
  wakeSoon(): void;
  stop(): void;
}

/**
 * Notifications only save time: workers also ask, ten times a second. They are sent over the store's own connections
 * after the commit, because a notification inside a transaction makes commits wait for each other.
 */
export function createWaker(database: Database, { channel }: OutboxNames, connections: number): Waker {
  const self = newEventId();
  const wakes = new Set<() => void>();
  let stopListening: (() => void) | undefined;
  let resting: ReturnType<typeof setTimeout> | undefined;
  let looking: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;

  const wakeHere = () => {
    for (const wake of wakes) wake();
  };
  const notify = () => {
    resting = undefined;
    if (isStopped) return;
    const sql = `SELECT pg_notify(${literal(channel.slice(1, -1))}, '${self}')`;
    database.script(["SET LOCAL synchronous_commit = off", sql]).catch(() => {}); // the others find the work by asking
  };

  return {
    wakeHere,
    wakeSoon() {
      if (wakes.size === 0) return;
      looking ??= setTimeout(() => {
        looking = undefined;
        wakeHere();
      }, COMMIT_MS);
    },
    subscribe(wake) {
      wakes.add(wake);
      if (connections >= MIN_CONNECTIONS)
        stopListening ??= listening(database, channel, (sender) => {
          if (sender !== self) wakeHere();
        });
      return () => {
        wakes.delete(wake);
        if (wakes.size > 0) return;
        stopListening?.();
        stopListening = undefined;
      };
    },
    wakeAll() {
      wakeHere();
      resting ??= setTimeout(notify, REST_MS);
    },
    stop() {
      isStopped = true;
      clearTimeout(resting);
      clearTimeout(looking);
      wakes.clear();
      stopListening?.();
      stopListening = undefined;
    },
  };
}

/**
 * Listens on a connection of its own, and makes a new one when that is lost, or any other: one that only listens would
 * not learn that its server has gone without a word.
 */
function listening(database: Database, channel: string, onMessage: (sender: string) => void): () => void {
  let isStopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let current: PostgresPoolClient | undefined;

  const end = () => {
    const client = current;
    current = undefined;
    client?.release(true); // closes the connection, so no UNLISTEN is needed
  };
  const again = () => {
    end();
    clearTimeout(timer);
    if (!isStopped) timer = setTimeout(() => void listen().catch(again), TRY_AGAIN_MS);
  };

  async function listen(): Promise<void> {
    const client = await database.connect();
    current = client;
    const lost = () => {
      if (current === client) again();
    };
    const events = eventsOf(client);
    events.on?.("error", lost);
    events.on?.("end", lost);
    events.on?.("notification", ({ payload }) => onMessage(payload ?? ""));
    const [own] = rowsOf<{ pid: number }>(await client.query("SELECT pg_backend_pid() AS pid"));
    // Behind a pooler in transaction mode the process id is another one, and notifications would not arrive.
    if (isStopped || (events.processID ?? own?.pid) !== own?.pid) return end();
    await client.query(`LISTEN ${channel}`);
  }

  const stopHearing = database.onLoss(() => current && again());
  void listen().catch(again);
  return () => {
    isStopped = true;
    stopHearing();
    clearTimeout(timer);
    end();
  };
}
