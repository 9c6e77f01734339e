// A transaction of the caller's, by its client or through an ORM, and whether it is one.
import {
  type PostgresClient,
  type PostgresPool,
  type PostgresRows,
  type PostgresTransaction,
  sqlState,
} from "../../postgres/database.js";
import type { OutboxNames } from "./names.js";

/** Something was handed in as a transaction that is none. */
export class OutsideTransaction extends TypeError {
  override readonly name = "TypeError";
}

/**
 * The caller's transaction as a client.
 *
 * @throws {TypeError} for a pool, and for a client that says that it has no transaction
 */
export function transactionOf(tx: PostgresTransaction, pool: PostgresPool): PostgresClient {
  if (typeof tx === "function")
    return { query: async (text, values = []) => rowsGiven(await tx(text, values as string[])) };
  if (typeof tx?.query !== "function")
    throw new OutsideTransaction(
      "tx must be a client of pg inside a transaction, have a query(text, values) of one, or be a function (text, values) => rows",
    );
  if ((tx as unknown) === pool || typeof (tx as { totalCount?: unknown }).totalCount === "number")
    throw new OutsideTransaction("tx must be a client inside a transaction, and not a pool");
  if (statusOf(tx) === "I")
    throw new OutsideTransaction("tx is a client without a transaction: run BEGIN on it first");
  return { query: async (text, values = []) => rowsGiven(await tx.query(text, values)) };
}

/**
 * Refuses what runs each statement in a transaction of its own: an event would be stored, and sent, of a change that is
 * rolled back. Clients of `pg` know it by themselves; elsewhere a statement tells that is refused outside a transaction.
 */
export async function requireTransaction(
  tx: PostgresTransaction,
  client: PostgresClient,
  { schema }: OutboxNames,
): Promise<void> {
  if (typeof tx !== "function" && statusOf(tx) !== undefined) return;
  try {
    await client.query(`LOCK TABLE ${schema}.version IN ACCESS SHARE MODE`, []);
  } catch (error) {
    if (sqlState(error) !== NO_TRANSACTION) throw error;
    const words =
      "tx runs its statements outside a transaction: hand in what your ORM gives to the function of its transaction, and not the database itself";
    throw new OutsideTransaction(words, { cause: error });
  }
}

const NO_TRANSACTION = "25P01";

/** What a client of `pg` says of itself: "I" outside a transaction. */
function statusOf(tx: PostgresClient): unknown {
  const { getTransactionStatus } = tx as { getTransactionStatus?: unknown };
  return typeof getTransactionStatus === "function" ? getTransactionStatus.call(tx) : undefined;
}

function rowsGiven(result: unknown): PostgresRows {
  const rows: unknown = Array.isArray(result) ? result : Object(result).rows;
  if (Array.isArray(rows)) return { rows };
  throw new OutsideTransaction(
    "tx gave no rows: it must give those of the statement, or an object with them as rows",
  );
}
