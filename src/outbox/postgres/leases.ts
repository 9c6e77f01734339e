import type { Burial, Completion, Lease, OutboxAttempt } from "../outbox-store.js";
import { RELEASED } from "./claim.js";
import { type Database, jsonLiteral } from "./database.js";
import { GIVEN_BACK, lockOrder, noteKeys, passOn } from "./order.js";
import { attemptText, KEYED } from "./rows.js";
import type { OutboxNames } from "./schema.js";

/** What a lease's holder may do; see `OutboxStore`. */
export interface Leases {
  complete(completions: readonly Completion[]): Promise<number>;
  reschedule(lease: Lease, at: number, attempt: OutboxAttempt): Promise<boolean>;
  bury(lease: Lease, burial: Burial): Promise<boolean>;
  release(leases: readonly Lease[]): Promise<void>;
}

const HISTORY = "history = CASE WHEN i.attempt IS NULL THEN e.history ELSE e.history || i.attempt::json END";

/** A lease that ran out is as good as before until the event is claimed again, which changes the token. */
const IS_HELD = "e.id = i.id AND e.listener = i.listener AND e.token = i.token";

export function leasing(database: Database, names: OutboxNames): Leases {
  const { event, tally } = names;

  const held = (input: readonly object[]) => `i AS (SELECT * FROM json_to_recordset(${jsonLiteral(input)})
    AS i(id uuid, listener text, token uuid, outcome text, attempt text, at timestamptz, reason text, code text,
      blocks_key boolean))`;

  /** Ends events: `change` says how, and `tallied` what it does to the counts of pending, delivered and dead ones. */
  async function end(
    leases: readonly Lease[],
    input: readonly object[],
    change: string,
    tallied: string,
  ): Promise<number> {
    const isKeyed = leases.some(({ token }) => token.endsWith(KEYED));
    const ending = `WITH ${held(input)},
      done AS (UPDATE ${event} e SET ended_at = now(), leased_until = NULL, token = NULL, ${HISTORY}, ${change}
        FROM i WHERE ${IS_HELD} RETURNING e.listener, e.ordering_key),
      counted AS (INSERT INTO ${tally} SELECT listener, -count(*), ${tallied} FROM done GROUP BY listener)
      SELECT (SELECT count(*)::int FROM done) AS good${isKeyed ? `, ${noteKeys("done WHERE ordering_key IS NOT NULL")}` : ""}`;
    const script = isKeyed ? [lockOrder(names), ending, passOn(names)] : [ending];
    const results = await database.script(script);
    return (results[isKeyed ? 1 : 0] as { good: number }[])[0]?.good ?? 0;
  }

  /** Changes events that stay; resolves to how many it did. */
  async function giveBack(input: readonly object[], change: string): Promise<number> {
    const [rows] = await database.script([
      `WITH ${held(input)} UPDATE ${event} e SET ${change} FROM i WHERE ${IS_HELD} RETURNING 1`,
    ]);
    return rows?.length ?? 0;
  }

  return {
    async complete(completions) {
      if (completions.length === 0) return 0;
      const input = completions.map(({ lease, outcome, attempt }) => {
        return { ...named(lease), outcome, attempt: attemptText(attempt) };
      });
      const leases = completions.map(({ lease }) => lease);
      // The bytes are not needed any more; the digest is.
      return end(leases, input, "state = 'delivered', outcome = i.outcome, body = NULL", "count(*), 0");
    },
    async reschedule(lease, at, attempt) {
      const input = { ...named(lease), at: new Date(at).toISOString(), attempt: attemptText(attempt) };
      return (await giveBack([input], `due_at = i.at, token = NULL, ${HISTORY}, ${GIVEN_BACK}`)) > 0;
    },
    async bury(lease, { reason, code, attempt, blocksKey }) {
      const why = { reason, code, attempt: attemptText(attempt), blocks_key: blocksKey };
      return (await end([lease], [{ ...named(lease), ...why }], DEATH, "0, count(*)")) > 0;
    },
    async release(leases) {
      if (leases.length > 0) await giveBack(leases.map(named), RELEASED);
    },
  };
}

/** What becomes of an event that dies; its reason, code and `blocks_key` come from `i`. */
export const DEATH = `state = 'dead', reason = i.reason, code = i.code,
  blocks_key = i.blocks_key AND e.ordering_key IS NOT NULL`;

function named({ id, listener, token }: Lease): object {
  return { id, listener, token: token.endsWith(KEYED) ? token.slice(0, -KEYED.length) : token };
}
