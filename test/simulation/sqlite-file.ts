import { copyFileSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { sqliteStore } from "hookproof/outbox/sqlite";
import type { DrawnClock } from "./clocks.js";
import type { Engine, EngineWorld, StoreAccess } from "./engine.js";
import { Random } from "./random.js";
import { type Database, openFile, ownFolder } from "./scratch-file.js";
import { standStills } from "./stand-stills.js";
import { type Call, linkedStore } from "./store-link.js";

type Statement = ReturnType<Database["prepare"]>;

/** An empty outbox file, made once. */
function template(): string {
  const file = join(ownFolder(), "template.db");
  if (existsSync(file)) return file;
  const db = openFile(file);
  sqliteStore({ open: () => db });
  db.close(); // its tables are in the file itself only now
  return file;
}

let files = 0;

/** One SQLite file and the processes that have it open; what goes wrong goes wrong in the driver. */
export function sqliteFile(world: EngineWorld, clock: DrawnClock): Engine {
  const { plan, time, ledger, spells, trace, crash } = world;
  const file = join(ownFolder(), `${++files}.db`);
  copyFileSync(template(), file);
  const random = new Random(plan.seed, "store");
  const connections = new Map<string, Database[]>();
  const pollMs = Math.max(50, Math.round(plan.pollMs / 5));
  /** Whether a commit was acknowledged that a power failure would undo. */
  let isVolatile = false;

  /** Goes wrong before a statement, or after it. */
  function faults(owner: string, db: Database, sql: string, run: () => unknown): unknown {
    if (time.isDead(owner)) throw new Error("the process is dead");
    const isBegin = sql.startsWith("BEGIN");
    const isCommit = sql === "COMMIT";
    if (!spells.isHealed && time.now > 0 && sql !== "ROLLBACK") {
      if (spells.isOn("store is gone")) throw new Error("disk I/O error");
      if (isBegin && spells.isOn("store is busy") && random.chance(0.6))
        throw new Error("database is locked");
      if (isCommit && random.chance(0.1 * (plan.faults["store refuses"] ?? 0)))
        throw new Error("disk I/O error");
      const crashes =
        owner.startsWith("w") &&
        (isBegin || isCommit) &&
        random.chance(0.02 * (plan.faults["crash at a call"] ?? 0));
      if (crashes) {
        const isAfter = isCommit && random.chance(0.5);
        if (isAfter) run();
        trace.add(owner, `dies ${isAfter ? "after" : "before"} ${sql.toLowerCase()}`);
        crash(owner);
        if (isAfter) return undefined;
        throw new Error("the process is dead");
      }
    }
    const done = run();
    if (isCommit) {
      const [row] = db.prepare("PRAGMA synchronous").all() as { synchronous: number }[];
      isVolatile = Number(row?.synchronous) < 2;
    }
    return done;
  }

  function open(owner: string): Database {
    const db = openFile(file);
    connections.set(owner, [...(connections.get(owner) ?? []), db]);
    return {
      exec: (sql) => {
        // SQLite would sleep for real.
        if (sql.startsWith("PRAGMA busy_timeout")) return db.exec("PRAGMA busy_timeout = 0");
        return faults(owner, db, sql, () => db.exec(sql));
      },
      prepare: (sql) => {
        const statement = db.prepare(sql);
        return {
          all: (...values: never[]) => faults(owner, db, "", () => statement.all(...values)),
          run: (...values: never[]) => faults(owner, db, "", () => statement.run(...values)),
        } as Statement;
      },
      close: () => db.close(),
    };
  }

  let calls = 0;
  let notes: { readonly order: number; readonly write: () => void }[] = [];
  let written: Promise<void> | undefined;

  /** The calls of one commit were executed in the order in which they were made; their promises resolve in another. */
  async function writeNotes(): Promise<void> {
    for (let turn = 0; turn < 8; turn++) await undefined;
    const all = notes.sort((a, b) => a.order - b.order);
    notes = [];
    written = undefined;
    for (const { write } of all) write();
  }

  const standing = standStills(world);

  const callOf =
    (owner: string): Call =>
    async (name, run, note) => {
      if (time.isDead(owner)) return new Promise(() => {});
      const askedAt = time.now;
      if (name === "markDelivered") await standing(owner, name);
      const order = ++calls;
      const value = await run();
      if (!note) return value;
      notes.push({ order, write: () => note(value, askedAt) });
      written ??= writeNotes();
      await written;
      if (name === "claim" && (value as readonly unknown[]).length > 0) await standing(owner, name);
      return value;
    };

  function processOf(owner: string): StoreAccess {
    const inner = sqliteStore({ open: () => open(owner), clock, pollMs });
    const store = linkedStore(inner, owner, {
      call: callOf(owner),
      ledger,
      signs: plan.signs,
      onWork: (wake) => inner.onWork?.(wake) ?? (() => {}),
    });
    const tx = open(owner);
    tx.exec("PRAGMA busy_timeout = 0");
    tx.exec("PRAGMA synchronous = FULL");
    const transactions = {
      tx,
      begin: () => void tx.exec("BEGIN IMMEDIATE"),
      commit: () => void tx.exec("COMMIT"),
      rollBack: () => void tx.exec("ROLLBACK"),
    };
    return { store, transactions };
  }

  function died(owner: string): void {
    for (const db of connections.get(owner) ?? []) {
      // A driver may close for good only when its statements are collected, and hold the lock until then.
      try {
        db.exec("ROLLBACK");
      } catch {
        // There was no transaction.
      }
      db.close();
    }
    connections.delete(owner);
  }

  const own = openFile(file);
  const inner = sqliteStore({ open: () => own, clock });
  return {
    inner,
    process: processOf,
    died,
    losePower() {
      if (isVolatile) ledger.break("lost", "a commit that was acknowledged was not on the disk");
    },
    close() {
      for (const owner of [...connections.keys()]) died(owner);
      own.close();
      for (const end of ["", "-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
    },
  };
}
