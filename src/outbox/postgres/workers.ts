// Workers and their last signs of life in PostgreSQL.
import { type Database, literal } from "../../postgres/database.js";
import { MAX_WORKERS, WORKER_KEPT_MS } from "../engine.js";
import type { OutboxStore } from "../outbox-store.js";
import type { OutboxNames } from "./names.js";
import { ms } from "./rows.js";

type SeenWorker = Awaited<ReturnType<OutboxStore["workers"]>>[number];

/** How many forgotten workers one sign of life removes: another role may have written any number. */
const BATCH = 1_000;

/** See `OutboxStore`. */
export function seenWorkers(
  database: Database,
  { worker }: OutboxNames,
): Pick<OutboxStore, "alive" | "workers"> & { followClock(backMs: number): Promise<void> } {
  return {
    async alive({ id, name, runsForMs }, isGone = false) {
      const own = `${literal(id)}::uuid`;
      const sign = isGone
        ? `DELETE FROM ${worker} WHERE id = ${own}`
        : `INSERT INTO ${worker} AS w VALUES (${own}, ${literal(name)}, now() - ${Math.round(runsForMs)} * interval '1 ms', now())
           ON CONFLICT (id) DO UPDATE
           SET name = excluded.name, started_at = excluded.started_at, seen_at = excluded.seen_at`;
      // One that another worker removes is left to it.
      const forget = `DELETE FROM ${worker} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${worker} WHERE seen_at < now() - ${WORKER_KEPT_MS} * interval '1 ms'
        LIMIT ${BATCH} FOR UPDATE SKIP LOCKED))`;
      await database.script([sign]);
      // A role that may not delete is seen as well.
      if (!isGone) await database.script([forget]).catch(() => {});
    },
    workers: () =>
      database.read<SeenWorker>(
        `SELECT id, name, ${ms("started_at")} AS "startedAt", ${ms("seen_at")} AS "lastSeenAt",
           ${ms("now() - seen_at")} AS "silentMs" FROM ${worker}
         ORDER BY seen_at DESC, id LIMIT ${MAX_WORKERS}`,
      ),
    /** Nobody waits for it: where the role lacks a right here, what is due goes on all the same. */
    async followClock(backMs) {
      const back = `${Math.round(backMs)} * interval '1 ms'`;
      const follow = `UPDATE ${worker} SET seen_at = least(seen_at - ${back}, now()), started_at = started_at - ${back}
        WHERE seen_at > now()`;
      await database.script([follow]).catch(() => {});
    },
  };
}
