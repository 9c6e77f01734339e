import { newEventId } from "../../protocol/event-id.js";
import { type Database, eventsOf, literal, type PostgresPoolClient } from "./database.js";
import type { OutboxNames } from "./schema.js";

const TRY_AGAIN_MS = 5_000;

/** How long after a notification the next one is sent, for all that was stored meanwhile. */
const REST_MS = 20;

/** How long its own notification may take to come back: one that does not never will, as behind some poolers. */
const ECHO_MS = 5_000;

/** With fewer connections than these, none is kept for listening. */
const MIN_CONNECTIONS = 4;

/** Tells of new work: at once of what this process does, and soon of what others have stored by themselves. */
export interface Waker {
  subscribe(wake: () => void): () => void;
  /** Wakes this process now, and others by a notification that no caller waits for. */
  wakeAll(): void;
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
    subscribe(wake) {
      wakes.add(wake);
      if (connections >= MIN_CONNECTIONS)
        stopListening ??= listening(database, { channel, self, wake: wakeHere });
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
      wakes.clear();
      stopListening?.();
      stopListening = undefined;
    },
  };
}

/** Listens on a connection of its own for as long as it hears itself; where it never does, it gives up silently. */
function listening(
  database: Database,
  { channel, self, wake }: { channel: string; self: string; wake: () => void },
): () => void {
  let isStopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let current: PostgresPoolClient | undefined;

  const end = () => {
    const client = current;
    current = undefined;
    client?.release(true); // UNLISTEN is not needed for a connection that is closed
  };

  async function listen(): Promise<void> {
    const client = await database.connect();
    if (isStopped) return client.release();
    current = client;
    const lost = () => {
      if (current !== client) return;
      end();
      again();
    };
    const events = eventsOf(client);
    events.on?.("error", lost);
    events.on?.("end", lost);
    let isHeard = false;
    events.on?.("notification", ({ payload }) => {
      if (payload === self) isHeard = true;
      else wake();
    });
    await client.query(`LISTEN ${channel}`);
    await database.write(`SELECT pg_notify(${literal(channel.slice(1, -1))}, $1::text)`, [self]);
    later(ECHO_MS, () => {
      if (!isHeard && current === client) end();
    });
  }

  const later = (ms: number, work: () => void) => {
    clearTimeout(timer);
    if (isStopped) return;
    timer = setTimeout(work, ms);
  };
  const again = () =>
    later(TRY_AGAIN_MS, () => {
      listen().catch(failed);
    });
  const failed = () => {
    end();
    again();
  };

  listen().catch(failed);
  return () => {
    isStopped = true;
    clearTimeout(timer);
    end();
  };
}
