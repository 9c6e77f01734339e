import { pgBossStore } from "hookproof/outbox";
import { CliError, EXIT } from "../failure.js";
import type { OpenOutbox } from "./open-outbox.js";

/** Opens an outbox on PostgreSQL; pg-boss is loaded only here, and is not installed with this program. */
export async function openPostgresOutbox(url: URL, schema: string): Promise<OpenOutbox> {
  const { PgBoss } = await import("pg-boss").catch(() => {
    throw new CliError(EXIT.setup, "DRIVER_MISSING", "An outbox on PostgreSQL needs the package pg-boss.", {
      hint: "Install it beside this program: npm install pg-boss@12.35.0 (with --global, if this is).",
    });
  });
  const name = `${url.protocol}//${url.host}${url.pathname}`;
  // Neither pg-boss's own tables nor ours are made here: that is for the program that enqueues.
  const boss = new PgBoss({
    connectionString: url.href,
    migrate: false,
    createSchema: false,
    supervise: false,
    schedule: false,
  });
  boss.on("error", () => {}); // whoever asks next is told
  const close = () => boss.stop({ graceful: false });
  try {
    await boss.start();
    const { rows } = await boss.getDb().executeSql("SELECT to_regclass($1) AS found", [`"${schema}".event`]);
    if (rows[0]?.found === null) throw new Error(`it has no outbox in the schema ${schema}`);
  } catch (error) {
    await close().catch(() => {});
    const words = error instanceof Error && error.message !== "" ? error.message : "no connection";
    throw new CliError(EXIT.setup, "OUTBOX_NOT_FOUND", `The outbox ${name} cannot be opened: ${words}.`);
  }
  const store = pgBossStore({ boss, schema });
  return {
    store,
    name,
    async close() {
      await store.close();
      await close();
    },
  };
}
