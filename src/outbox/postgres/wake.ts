import { newEventId } from "../../protocol/event-id.js";
import { type Database, eventsOf, literal, type PostgresPoolClient, rowsOf } from "./database.js";
import type { OutboxNames } from "./schema.js";

const TRY_AGAIN_MS = 5_000;

/** How long after a notification the next one is sent, for all that was stored meanwhile. */
const REST_MS = 20;

/** How long after an enqueueing in a caller's transaction its commit is looked for; later it is found by asking. */
const COMMIT_MS = 10;

/** With fewer connections than these, none is kept for listening. */
const MIN_CONNECTIONS = 4;

/** Tells of new work: at once of what this process does, and soon of what others have stored by themselves. */
export interface Waker {
  subscribe(wake: () => void): () => void;
  /** Wakes this process now, and others by a notification that no caller waits for. */
  wakeAll(): void;
  /** Wakes this process now. */
  wakeHere(): void;
  /** Wakes this process when a caller's transaction is likely to have been committed. */
  wakeSoon(): void;
  stop(): void;
}

/**
 * Notifications only make work come sooner: workers find it by asking, ten times a second. They come from the
 * store's own connections after the commit, as one inside a transaction would make commits wait for each other.
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
    const told = `SELECT pg_notify(${literal(channel.slice(1, -1))}, '${self}')`;
    database.script(["SET LOCAL synchronous_commit = off", told]).catch(() => {}); // others will ask by themselves
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
        stopListening ??= listening(database, channel, (teller) => {
          if (teller !== self) wakeHere();
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

/** Listens on a connection of its own, and on another one when that is lost. */
function listening(database: Database, channel: string, tell: (teller: string) => void): () => void {
  let isStopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let current: PostgresPoolClient | undefined;

  const end = () => {
    const client = current;
    current = undefined;
    client?.release(true); // UNLISTEN is not needed for a connection that is closed
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
    events.on?.("notification", ({ payload }) => tell(payload ?? ""));
    const [own] = rowsOf<{ pid: number }>(await client.query("SELECT pg_backend_pid() AS pid"));
    // A pooler that gives each transaction another connection names itself: what it was told would never arrive here.
    if (isStopped || (events.processID ?? own?.pid) !== own?.pid) return end();
    await client.query(`LISTEN ${channel}`);
  }

  void listen().catch(again);
  return () => {
    isStopped = true;
    clearTimeout(timer);
    end();
  };
}
