// Claims events and ends leases in PostgreSQL.
import { newEventId } from "../../core/event.js";
import { type Database, jsonLiteral } from "../../postgres/database.js";
import { CLOCK_AHEAD_MS, inTurn } from "../engine.js";
import type { ClaimedEvent, ClaimRequest, ClaimShare } from "../outbox-store.js";
import type { Delivery, DeliveryFailure, Lease, OutboxAttempt } from "../records.js";
import { aboveFloor, belowLook } from "./floor.js";
import type { WantedRow } from "./functions.js";
import { FROM_FIRST, type From, type Looks, type Seen } from "./looks.js";
import type { OutboxNames } from "./names.js";
import { givenBack, lockOrder, noteKeys, openState, passOn, settle } from "./order.js";
import { attemptText, type ClaimedRow, claimedEvent, KEYED } from "./rows.js";

/** How often one claim asks again because some listeners had less than their share. */
const ROUNDS = 4;

/** Leases due events; see `OutboxStore`. */
type Claim = (request: ClaimRequest) => Promise<ClaimedEvent[]>;

export function claimOf(database: Database, names: OutboxNames, looks: Looks): Claim {
  /** From where on the last claim saw something that `settle` has to handle first. */
  let unsettled: From | undefined;
  const below = belowLook(database, names);
  /** Tokens of claims whose answer was lost. Their events are given back, or they would wait until the lease expires. */
  const unanswered = new Set<string>();

  async function round(request: ClaimRequest): Promise<ClaimedRow[]> {
    await below.look();
    const token = newEventId();
    const lost = [...unanswered];
    const before = lost.length > 0 ? [giveBackSql(names, lost)] : [];
    const from = lost.length > 0 ? FROM_FIRST : unsettled;
    const settling = from ? [settle(names, from, before)] : [];
    const claim = [claimSql(names, request, token), looks.sql()];
    // Two transactions, because a claim sees only what was committed before it.
    const results = await database.scripts([...settling, claim]).catch((error) => {
      if ((error as { code?: unknown }).code === "OUTBOX_OUTCOME_UNKNOWN") unanswered.add(token);
      throw error;
    });
    for (const one of lost) unanswered.delete(one);
    const [rows, [state]] = results.at(-1) as [ClaimedRow[], Seen[]];
    unsettled = looks.saw(state);
    below.saw(state?.below);
    return rows;
  }

  return async (request) => {
    const { limit, leaseMs } = request;
    let listeners = new Map([...request.listeners].filter(([, { most }]) => most > 0));
    const claimed: ClaimedRow[] = [];
    for (let n = 0; n < ROUNDS && listeners.size > 0 && claimed.length < limit; n++) {
      const wasUnsettled = unsettled;
      const rows = await round({ limit: limit - claimed.length, leaseMs, listeners }).catch((error) => {
        if (claimed.length > 0) return undefined; // what was claimed must not wait until its lease ends
        throw error;
      });
      if (!rows) break;
      claimed.push(...rows);
      if (unsettled && !wasUnsettled) continue; // events that were new or had an expired lease may be due now
      listeners = withMore(listeners, rows);
    }
    return inOrder(claimed, request.listeners.keys()).map(claimedEvent);
  };
}

/** The listeners whose whole share was taken, which may have more events. */
function withMore(
  listeners: ReadonlyMap<string, ClaimShare>,
  rows: readonly ClaimedRow[],
): Map<string, ClaimShare> {
  const given = new Map<string, number>();
  for (const { listener } of rows) given.set(listener, (given.get(listener) ?? 0) + 1);
  const share = rows[0]?.share ?? 0;
  const open = [...listeners].flatMap(([name, own]): [string, ClaimShare][] => {
    const count = given.get(name) ?? 0;
    return count === share && count < own.most && count > 0
      ? [[name, { ...own, most: own.most - count }]]
      : [];
  });
  return new Map(open);
}

/** Leases events by the function of the tables. */
function claimSql(names: OutboxNames, { limit, leaseMs, listeners }: ClaimRequest, token: string): string {
  const wanted = [...listeners].map(([listener, share], place): WantedRow => {
    const { most, windowMs: window_ms, concurrency, rate } = share;
    const { perSecond: per_second, burst = Math.max(1, per_second ?? 0) } = rate ?? {};
    return { place, listener, most, window_ms, concurrency, per_second, burst };
  });
  const given = `${jsonLiteral(wanted)}, ${Number(limit)}, ${Number(leaseMs)}, '${token}'`;
  return `SELECT * FROM ${names.schema}.claim(${given})`;
}

/** Releases the events of claims whose answer was lost, and takes back the attempt that they counted. */
function giveBackSql(names: OutboxNames, tokens: readonly string[]): string {
  const list = tokens.map((token) => `'${token}'`).join();
  return `UPDATE ${names.event} e SET ${released(names)} WHERE e.state = 'leased' AND e.leased_until > now() AND e.token IN (${list})`;
}

/** Makes a claimed event that was not sent as it was before the claim. */
function released(names: OutboxNames): string {
  return `${givenBack(names)}, token = NULL, attempts = greatest(e.attempts - 1, 0),
  first_attempt_at = CASE WHEN e.first_attempt_at = e.claimed_at THEN NULL ELSE e.first_attempt_at END`;
}

/** One event of each listener in turn; within a listener, those that have been due for longest first. */
function inOrder(rows: readonly ClaimedRow[], listeners: Iterable<string>): ClaimedRow[] {
  const queues = new Map([...listeners].map((name): [string, ClaimedRow[]] => [name, []]));
  for (const row of [...rows].sort((a, b) => a.due_at - b.due_at || a.seq - b.seq))
    queues.get(row.listener)?.push(row);
  return inTurn([...queues.values()]);
}

/** What the holder of a lease may do; see `OutboxStore`. */
interface Leases {
  markDelivered(deliveries: readonly Delivery[]): Promise<number>;
  reschedule(lease: Lease, at: number, attempt: OutboxAttempt): Promise<boolean>;
  fail(lease: Lease, failure: DeliveryFailure): Promise<boolean>;
  release(leases: readonly Lease[]): Promise<void>;
}

const HISTORY = "history = CASE WHEN i.attempt IS NULL THEN e.history ELSE e.history || i.attempt::json END";

/** When an event is due that its holder makes due at `i.at`, having a lease until `i.held_until`: see `stepBack`. */
const DUE = `(i.at - CASE WHEN i.held_until - e.leased_until > ${CLOCK_AHEAD_MS} * interval '1 ms'
  THEN i.held_until - e.leased_until ELSE interval '0' END)`;

/** An expired lease stays valid until the event is claimed again, which changes the token. */
const IS_HELD = "e.id = i.id AND e.listener = i.listener AND e.token = i.token";

export function leasesOf(database: Database, names: OutboxNames): Leases {
  const { event, tally } = names;

  const held = (input: readonly object[]) => `i AS (SELECT * FROM json_to_recordset(${jsonLiteral(input)})
    AS i(id uuid, listener text, token uuid, outcome text, attempt text, at timestamptz, reason text, code text,
      blocks_key boolean, held_until timestamptz))`;

  /** Ends events: `change` sets their columns, `tallied` is the change of the counts of delivered and dead events. */
  async function end(
    leases: readonly Lease[],
    input: readonly object[],
    change: string,
    tallied: string,
  ): Promise<number> {
    const isKeyed = leases.some(({ token }) => token.endsWith(KEYED));
    const ending = `WITH ${held(input)},
      done AS (UPDATE ${event} e SET ended_at = now(), leased_until = NULL, token = NULL, ${HISTORY}, ${change}
        FROM i WHERE ${IS_HELD} RETURNING e.listener, e.ordering_key, e.seq),
      counted AS (INSERT INTO ${tally} SELECT listener, -count(*), ${tallied} FROM done GROUP BY listener)
      SELECT (SELECT count(*)::int FROM done) AS ended${isKeyed ? `, ${noteKeys("done WHERE ordering_key IS NOT NULL")}` : ""}`;
    const script = isKeyed ? [lockOrder(names), ending, passOn(names)] : [ending];
    const results = await database.script(script);
    return (results[isKeyed ? 1 : 0] as { ended: number }[])[0]?.ended ?? 0;
  }

  /** Changes events that do not end; resolves to how many. */
  async function giveBack(input: readonly object[], change: string): Promise<number> {
    const [rows] = await database.script([
      `WITH ${held(input)} UPDATE ${event} e SET ${change} FROM i WHERE ${IS_HELD} RETURNING 1`,
    ]);
    return rows?.length ?? 0;
  }

  return {
    async markDelivered(deliveries) {
      if (deliveries.length === 0) return 0;
      const input = deliveries.map(({ lease, outcome, attempt }) => {
        return { ...named(lease), outcome, attempt: attemptText(attempt) };
      });
      const leases = deliveries.map(({ lease }) => lease);
      // The body is no longer needed; the digest is, for events that are enqueued again.
      return end(leases, input, "state = 'delivered', outcome = i.outcome, body = NULL", "count(*), 0");
    },
    async reschedule(lease, at, attempt) {
      const times = { at: new Date(at).toISOString(), held_until: new Date(lease.expiresAt).toISOString() };
      const input = { ...named(lease), ...times, attempt: attemptText(attempt) };
      const change = `due_at = ${aboveFloor(names, DUE)}, claimed_at = greatest(e.claimed_at, now()),
        token = NULL, leased_until = NULL, ${HISTORY}, state = ${openState("e.ordering_key", DUE)}`;
      return (await giveBack([input], change)) > 0;
    },
    async fail(lease, { reason, code, attempt, blocksKey }) {
      const why = { reason, code, attempt: attemptText(attempt), blocks_key: blocksKey };
      return (await end([lease], [{ ...named(lease), ...why }], FAILED, "0, count(*)")) > 0;
    },
    async release(leases) {
      if (leases.length > 0) await giveBack(leases.map(named), released(names));
    },
  };
}

/** Makes an event a dead letter; `i` has its reason, code and `blocks_key`. */
export const FAILED = `state = 'dead', reason = i.reason, code = i.code,
  blocks_key = i.blocks_key AND e.ordering_key IS NOT NULL`;

function named({ id, listener, token }: Lease): object {
  return { id, listener, token: token.endsWith(KEYED) ? token.slice(0, -KEYED.length) : token };
}
