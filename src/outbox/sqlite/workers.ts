// Workers and their last signs of life in SQLite.
import { preparedChanges, preparedQueries, type SqliteDatabase } from "../../sqlite/database.js";
import { MAX_WORKERS, WORKER_KEPT_MS } from "../engine.js";
import type { OutboxStore } from "../outbox-store.js";
import type { Access } from "./dead-letters.js";

type SeenWorkers = Required<Pick<OutboxStore, "alive" | "workers">>;

/** See `OutboxStore`. */
export function seenWorkers(db: SqliteDatabase, { changing, reading, clock }: Access): SeenWorkers {
  const ask = preparedQueries(db, {
    seen: `SELECT id, name, started_at AS startedAt, seen_at AS lastSeenAt, ? - seen_at AS silentMs
      FROM hookproof_outbox_workers
      ORDER BY seen_at DESC, id LIMIT ${MAX_WORKERS}`,
  });
  const change = preparedChanges(db, {
    see: `INSERT INTO hookproof_outbox_workers VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE
      SET name = excluded.name, started_at = excluded.started_at, seen_at = excluded.seen_at`,
    remove: "DELETE FROM hookproof_outbox_workers WHERE id = ?",
    forget: "DELETE FROM hookproof_outbox_workers WHERE seen_at < ?",
  });
  return {
    alive({ id, name, runsForMs }, isGone = false) {
      return changing(() => {
        const now = clock.now();
        change("forget", now - WORKER_KEPT_MS);
        if (isGone) change("remove", id);
        else change("see", id, name, now - Math.round(runsForMs), now);
      });
    },
    workers: async () => reading(() => ask("seen", clock.now())),
  };
}
