import { rmSync } from "node:fs";
import { join } from "node:path";
import { sqliteReplayStore } from "hookproof/replay";
import type { DrawnClock } from "./clocks.js";
import { Random } from "./random.js";
import type { ReplayAccess, ReplayEngine, ReplayWorldParts } from "./replay-engine.js";
import { recordedStore } from "./replay-ledger.js";
import { type Database, openFile, ownFolder } from "./scratch-file.js";

type Statement = ReturnType<Database["prepare"]>;

let files = 0;

/** One SQLite file of event ids and the processes that have it open; what goes wrong goes wrong in the driver. */
export function replayFile(world: ReplayWorldParts, clock: DrawnClock): ReplayEngine {
  const { plan, time, ledger, spells, trace, crash } = world;
  const file = join(ownFolder(), `ids-${++files}.db`);
  const random = new Random(plan.seed, "store");
  const connections = new Map<string, Database>();
  const own = openFile(file);
  own.exec("PRAGMA journal_mode = WAL; CREATE TABLE jobs (event_id TEXT, token TEXT)");

  /** Goes wrong before a statement, or dies before or after it. */
  function faulty(owner: string, db: Database, sql: string, run: () => unknown): unknown {
    if (time.isDead(owner)) throw new Error("the process is dead");
    const { "store refuses": refuses = 0, "crash at a call": crashes = 0 } = plan.faults;
    const [isBegin, isCommit] = [sql.startsWith("BEGIN"), sql === "COMMIT"];
    if (!spells.isHealed && (isBegin || isCommit)) {
      if (spells.isOn("store is gone") || random.chance(0.1 * refuses)) throw new Error("disk I/O error");
      if (isBegin && spells.isOn("store is busy") && random.chance(0.6))
        throw new Error("database is locked");
      if (random.chance(0.03 * crashes)) {
        const isAfter = isCommit && random.chance(0.5);
        if (isAfter) run();
        trace.add(owner, `dies ${isAfter ? "after" : "before"} ${sql.toLowerCase()}`);
        crash(owner);
        if (isAfter) return undefined;
        throw new Error("the process is dead");
      }
    }
    const done = run();
    const [row] = isCommit ? (db.prepare("PRAGMA synchronous").all() as { synchronous: number }[]) : [];
    if (row && row.synchronous < 2) ledger.break("disk", `${owner} has synchronous = ${row.synchronous}`);
    return done;
  }

  function open(owner: string): Database {
    const db = openFile(file);
    connections.set(owner, db);
    return {
      exec: (sql) =>
        // SQLite would sleep for real.
        faulty(owner, db, sql, () => db.exec(sql.replace("busy_timeout = 5000", "busy_timeout = 0"))),
      prepare: (sql) => {
        const statement = db.prepare(sql);
        return {
          all: (...values: never[]) => faulty(owner, db, "", () => statement.all(...values)),
          run: (...values: never[]) => faulty(owner, db, "", () => statement.run(...values)),
        } as Statement;
      },
      close: () => db.close(),
    };
  }

  /** With one connection for ids and work, as docs/guides/receiving.md has it. */
  function processOf(owner: string): ReplayAccess {
    let db: Database | undefined;
    const open1 = () => {
      db = open(owner);
      return db;
    };
    const inner = sqliteReplayStore({ open: open1, clock, reservationMs: plan.reservationMs });
    const insert = db?.prepare("INSERT INTO jobs VALUES (?, ?)");
    return {
      store: recordedStore(inner, owner, ledger),
      async inTransaction(reservation) {
        const { commit } = recordedStore(
          {
            ...inner,
            async commit() {
              db?.exec("BEGIN IMMEDIATE");
              try {
                insert?.run(reservation.eventId, reservation.token);
                inner.commitSync(reservation);
                db?.exec("COMMIT");
              } catch (error) {
                rollBack(connections.get(owner));
                throw error;
              }
            },
          },
          owner,
          ledger,
          () => ledger.ran(owner, reservation),
        );
        await commit(reservation);
      },
    };
  }

  function died(owner: string): void {
    const db = connections.get(owner);
    rollBack(db);
    db?.close();
    connections.delete(owner);
  }

  return {
    process: processOf,
    died,
    size: () => own.prepare("SELECT 1 FROM hookproof_event_ids").all().length,
    close() {
      for (const owner of [...connections.keys()]) died(owner);
      own.close();
      for (const end of ["", "-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
    },
  };
}

/** A driver may close for good only when its statements are collected, and hold the lock until then. */
function rollBack(db: Database | undefined): void {
  try {
    db?.exec("ROLLBACK");
  } catch {
    // There was no transaction.
  }
}
