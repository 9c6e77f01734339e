import { postgresStore } from "hookproof/outbox";
import { CliError, EXIT } from "../failure.js";
import type { OpenOutbox } from "./open-outbox.js";

/** Opens an outbox on PostgreSQL; the driver is loaded only here, and is not installed with this program. */
export async function openPostgresOutbox(url: URL, schema: string): Promise<OpenOutbox> {
  const { default: pg } = await import("pg").catch(() => {
    throw new CliError(EXIT.setup, "DRIVER_MISSING", "An outbox on PostgreSQL needs the package pg.", {
      hint: "Install it beside this program: npm install pg (with --global, if this is).",
    });
  });
  const name = `${url.protocol}//${url.host}${url.pathname}`;
  const pool = new pg.Pool({ connectionString: url.href, connectionTimeoutMillis: 10_000 });
  pool.on("error", () => {}); // whoever asks next is told
  const close = () => pool.end();
  try {
    // The tables are not made here: that is for the program that enqueues.
    const { rows } = await pool.query("SELECT to_regclass($1) AS found", [`"${schema}".event`]);
    if (rows[0]?.found === null) throw new Error(`it has no outbox in the schema ${schema}`);
  } catch (error) {
    await close().catch(() => {});
    const words = error instanceof Error && error.message !== "" ? error.message : "no connection";
    throw new CliError(EXIT.setup, "OUTBOX_NOT_FOUND", `The outbox ${name} cannot be opened: ${words}.`);
  }
  const store = postgresStore({ pool, schema });
  return {
    store,
    name,
    async close() {
      await store.close();
      await close();
    },
  };
}
