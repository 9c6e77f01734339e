import { spawn } from "node:child_process";
import { join } from "node:path";
import { sqliteStore } from "hookproof/outbox/sqlite";
import { expect } from "vitest";
import { seededRandom } from "../../kit/seed.mjs";
import { itOn, newOutboxFile, SQLITE_DRIVERS } from "./files.js";

const LONG = Boolean(process.env.HOOKPROOF_LONG);
const KILLS = LONG ? 150 : 4;
const SCRIPT = join(import.meta.dirname, "process.mjs");
const random = seededRandom("sqlite-kills");
const FROM = new URL("../../native/package.json", import.meta.url).href;

interface Told {
  stored: string[];
  ended: string[];
}

/** Runs a process that works on the file, kills it at a random moment, and gives what it told of. */
function killedAtRandom(file: string, driver: string): Promise<Told[]> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [SCRIPT, file, driver, FROM, String(random())], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      // Counted from the first sign of life, so that the kill falls among its work and not into its start.
      if (text === "") setTimeout(() => child.kill("SIGKILL"), random() * 300);
      text += chunk;
    });
    child.on("close", () => {
      const complete = text.slice(0, text.lastIndexOf("\n")).split("\n");
      resolve(complete.filter((line) => line !== "").map((line) => JSON.parse(line) as Told));
    });
  });
}

/** What can only be seen inside the file, and must always hold. */
const BROKEN = {
  "counts that are off": `SELECT listener, state FROM hookproof_outbox_counts AS counts WHERE events <>
    (SELECT count(*) FROM hookproof_outbox AS o WHERE o.listener = counts.listener AND o.state = counts.state)`,
  "unfinished events without a body": `SELECT seq FROM hookproof_outbox AS o WHERE state <> 1
    AND NOT EXISTS (SELECT 1 FROM hookproof_outbox_bodies AS b WHERE b.seq = o.seq)`,
  "bodies without an event": `SELECT seq FROM hookproof_outbox_bodies AS b WHERE NOT EXISTS
    (SELECT 1 FROM hookproof_outbox AS o WHERE o.seq = b.seq AND state <> 1)`,
  "keys where not just the first has the turn": `SELECT listener, ordering_key FROM hookproof_outbox
    WHERE ordering_key IS NOT NULL AND turn IS NOT NULL GROUP BY 1, 2
    HAVING sum(turn) <> 1 OR min(seq) <> min(CASE turn WHEN 1 THEN seq END)`,
};

for (const [driver, openFile] of Object.entries(SQLITE_DRIVERS).slice(0, LONG ? undefined : 1))
  itOn(driver)(
    `${driver}: after each of ${KILLS * 2} kills the file is whole, and no event is lost`,
    {
      timeout: 600_000,
    },
    async () => {
      const { file, remove } = newOutboxFile();
      const told: Told[] = [];
      try {
        for (let kill = 0; kill < KILLS; kill++) {
          // Two at once, so that one is also killed while the other writes.
          told.push(
            ...(await Promise.all([killedAtRandom(file, driver), killedAtRandom(file, driver)])).flat(),
          );
          const db = openFile(file);
          expect(db.prepare("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
          for (const [what, sql] of Object.entries(BROKEN))
            expect([what, db.prepare(sql).all()]).toEqual([what, []]);
          db.close();
        }
        const store = sqliteStore({ open: () => openFile(file) });
        const stateOf = async (id: string) => (await store.find(id))[0]?.state;
        const states = await Promise.all(told.flatMap(({ stored }) => stored).map(stateOf));
        expect(states.length).toBeGreaterThan(0);
        expect(states).not.toContain(undefined);
        const ended = await Promise.all(told.flatMap((one) => one.ended).map(stateOf));
        expect(new Set(ended)).toEqual(new Set(["delivered"]));
        await store.close();
      } finally {
        remove();
      }
    },
  );
