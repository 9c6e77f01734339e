/**
 * The outbox in PostgreSQL, 13 or later, through `pg`.
 *
 * @packageDocumentation
 */

export { type PostgresStoreOptions, postgresStore } from "./store.js";

// The parts of `pg` that it uses

export type {
  PostgresClient,
  PostgresPool,
  PostgresPoolClient,
  PostgresQuery,
  PostgresRows,
  PostgresTransaction,
} from "../../postgres/database.js";
