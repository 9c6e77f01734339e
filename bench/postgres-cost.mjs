// What the PostgreSQL of DATABASE_URL has cost so far, from outside of it.
import { readdirSync, readFileSync } from "node:fs";
import pg from "pg";

/** Asks over a connection of its own. */
export async function postgresCost() {
  const admin = new pg.Client({ connectionString: process.env.DATABASE_URL });
  await admin.connect();
  const { rows } = await admin.query("SELECT pg_backend_pid() AS pid");
  const [, parent] = statOf(rows[0].pid);
  return {
    /**
     * Processor time in microseconds, with that of processes that have ended; transactions that wrote, and what they
     * wrote.
     */
    async now() {
      const { rows: counted } = await admin.query(
        "SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS xid, pg_current_wal_lsn() - '0/0' AS wal",
      );
      // With those that have just ended and are not in the server's own count yet.
      const children = readdirSync("/proc").filter((pid) => statOf(pid)[1] === parent);
      const living = children.map(statOf).reduce((sum, stat) => sum + stat[11] + stat[12], 0);
      const [ended, endedInKernel] = statOf(parent).slice(13);
      return {
        micros: (living + ended + endedInKernel) * 10_000,
        commits: Number(counted[0].xid),
        wal: Number(counted[0].wal),
      };
    },
    end: () => admin.end(),
  };
}

/** The numbers of /proc/{pid}/stat on Linux, from the state on; times are hundredths of a second. */
function statOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ").map(Number);
  } catch {
    return Array(20).fill(0); // a process that has gone
  }
}
