// Keeps what is asked about one ordering key cheap while a transaction holds its snapshot.
import type { OutboxNames } from "./names.js";

/*
 * An event of a key leaves an entry in the index of keys for each state that it had, and what asks for the first event in
 * a state goes over all of them. When a key has passed on at such length, it is noted where its events begin, new ones as
 * well: the key's floor, from which on all is asked. An event may appear below it because its transaction commits late:
 * it lowers the floor when it gets its place, which comes before that of each event that was enqueued after its commit. One
 * that is redriven to its old place lowers it at once. Floors are raised, and places given, under the lock of the order. Upkeep forgets floors now and then: a worker of an earlier version lowers none, and keys come and go.
 */

/** So many blocks of events that passing on reads are many: some hundred events of a key. */
export const SLOW_KEY_BLOCKS = 1_000;

/** How long a floor is kept. */
const KEPT_MS = 10 * 60_000;

/** The `seq` from which on a key's events are looked for. */
export function fromKeyFloor({ keyFloor }: OutboxNames, key: string): string {
  return `coalesce((SELECT low.seq_from FROM ${keyFloor} low
      WHERE low.listener = ${key}.listener AND low.ordering_key = ${key}.ordering_key), 0)`;
}

/**
 * Notes the floors of `keys`: where the first of `firsts` stands, which are null where there is none, or behind the
 * `seq` that ended last.
 */
export function raiseKeyFloors({ keyFloor }: OutboxNames, keys: string, firsts: readonly string[]): string {
  return `INSERT INTO ${keyFloor} AS low (listener, ordering_key, seq_from, noted_at)
        SELECT k.listener, k.ordering_key, coalesce(least(${firsts.join()}), k.seq + 1), now() FROM ${keys}
        ON CONFLICT (listener, ordering_key) DO UPDATE SET seq_from = excluded.seq_from
        WHERE low.seq_from < excluded.seq_from;`;
}

/** Lowers the floors of `keys`, each of which has one row with its first `seq`. */
export function lowerKeyFloors({ keyFloor }: OutboxNames, keys: string): string {
  return `UPDATE ${keyFloor} low SET seq_from = k.seq FROM ${keys} k
      WHERE low.listener = k.listener AND low.ordering_key = k.ordering_key AND low.seq_from > k.seq`;
}

/** Forgets floors that were noted long ago. */
export function forgetKeyFloors({ keyFloor }: OutboxNames): string {
  return `DELETE FROM ${keyFloor} WHERE noted_at < now() - ${KEPT_MS} * interval '1 ms'`;
}
