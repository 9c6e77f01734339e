// Lets go on what waits in SQLite when the clock is put back.
import { nextTurn } from "../../core/clock.js";
import { preparedChanges, preparedQueries, type SqliteDatabase } from "../../sqlite/database.js";
import { CLOCK_AHEAD_MS, CLOCK_SEEN_MS, CLOCK_STEP_MS, CLOCK_UNSEEN_MS } from "../engine.js";
import type { Access } from "./dead-letters.js";
import { PENDING } from "./schema.js";

/** How many events one transaction goes over: a few milliseconds. */
const PAGE = 2_000;

/** A time that was given as `deliverAt`, of an event that was never tried. */
const KEEPS_TIME = "(attempts = 0 AND attempts_before_redrive = 0 AND ready_at > enqueued_at)";

/** Events that were written before the clock was put back, or became due again then; `ahead` is a little after `now`. */
const STALE = `state = ${PENDING} AND (enqueued_at > ahead OR claimed_at > ahead OR first_attempt_at > ahead
  OR visible_at > ahead AND lease_until IS NULL AND attempts = attempts_before_redrive AND NOT ${KEEPS_TIME})`;

/** As long after now as it was to be after the claim. */
const later = (time: string) => `now + max(0, ${time} - claimed_at)`;

const FOLLOW = `UPDATE hookproof_outbox SET
    enqueued_at = min(enqueued_at, now),
    claimed_at = min(claimed_at, now),
    first_attempt_at = min(first_attempt_at, now),
    ready_at = iif(${KEEPS_TIME}, ready_at, min(ready_at, now)),
    due_at = iif(${KEEPS_TIME}, due_at, min(due_at, now)),
    lease_until = iif(claimed_at > ahead, ${later("lease_until")}, lease_until),
    visible_at = CASE WHEN lease_until IS NULL AND ${KEEPS_TIME} THEN ready_at
      WHEN lease_until IS NOT NULL OR attempts > attempts_before_redrive
        THEN iif(claimed_at > ahead, ${later("visible_at")}, visible_at)
      ELSE min(visible_at, now) END
  FROM (SELECT ? AS now, ? AS ahead) WHERE seq > ? AND seq <= ? AND ${STALE}`;

/** When something of an event that has not ended was noted last; the last one is when it was redriven. */
const NOTED = `SELECT max(max(enqueued_at, coalesce(claimed_at, 0), coalesce(first_attempt_at, 0),
    iif(attempts > 0 AND attempts = attempts_before_redrive, due_at, 0))) AS at
  FROM hookproof_outbox WHERE seq > ? AND seq <= ? AND state = ${PENDING}`;

const FOLLOW_LISTENERS = `UPDATE hookproof_outbox_listeners SET
    rest_until = iif(rested_at > now, rest_until - (rested_at - now), rest_until), rested_at = min(rested_at, now),
    unknown_until = iif(unknown_until > seen, unknown_until - (seen - now), min(unknown_until, now)),
    unknown_since = min(unknown_since, now), paused_at = min(paused_at, now)
  FROM (SELECT ? AS now, ? AS seen) WHERE max(coalesce(rested_at, 0), unknown_until, coalesce(unknown_since, 0), coalesce(paused_at, 0)) > now`;

/** See `OutboxStore.followClock`. */
export function clockFollower(
  db: SqliteDatabase,
  { changing, reading, clock }: Access,
): () => Promise<number> {
  const ask = preparedQueries(db, {
    seen: "SELECT seen_at FROM hookproof_outbox_clock",
    noted: NOTED,
    held: `SELECT max(max(coalesce(rested_at, 0), coalesce(unknown_since, 0), coalesce(paused_at, 0))) AS at
      FROM hookproof_outbox_listeners`,
    next: "SELECT max(seq) AS seq FROM (SELECT seq FROM hookproof_outbox WHERE seq > ? ORDER BY seq LIMIT ?)",
  });
  const change = preparedChanges(db, {
    forget: "DELETE FROM hookproof_outbox_clock",
    see: "INSERT INTO hookproof_outbox_clock VALUES (?)",
    follow: FOLLOW,
    listeners: FOLLOW_LISTENERS,
    workers: `UPDATE hookproof_outbox_workers
      SET seen_at = min(seen_at - (seen - now), now), started_at = started_at - (seen - now)
      FROM (SELECT ? AS now, ? AS seen) WHERE seen_at > now`,
  });
  const nextPage = (after: number) => ask<{ seq: number | null }>("next", after, PAGE)[0]?.seq ?? undefined;
  const timeOf = (rows: readonly { at: number | null }[]) => rows[0]?.at ?? Number.NEGATIVE_INFINITY;
  const seenAt = () => ask<{ seen_at: number }>("seen")[0]?.seen_at ?? Number.NEGATIVE_INFINITY;

  function see(now: number): void {
    change("forget");
    change("see", now);
  }

  /** The latest time at which something was noted of a listener or of what has not ended, by the clock of then. */
  async function lastNoted(): Promise<number> {
    let last = reading(() => timeOf(ask("held")));
    let place: number | undefined = 0;
    while (place !== undefined) {
      const after: number = place;
      place = reading(() => {
        const to = nextPage(after);
        if (to !== undefined) last = Math.max(last, timeOf(ask("noted", after, to)));
        return to;
      });
      await nextTurn();
    }
    return last;
  }

  return async () => {
    if (clock.now() - reading(seenAt) > CLOCK_UNSEEN_MS) {
      const last = await lastNoted();
      if (last - clock.now() > CLOCK_STEP_MS) await changing(() => see(Math.max(last, seenAt())));
    }
    const [now, seen] = [clock.now(), reading(seenAt)];
    if (seen - now <= CLOCK_STEP_MS) {
      // Not at each look: a commit wakes the other processes.
      if (now - seen >= CLOCK_SEEN_MS) await changing(() => see(clock.now()));
      return 0;
    }
    let place: number | undefined = 0;
    while (place !== undefined) {
      const after: number = place;
      place = await changing(() => {
        const last = nextPage(after);
        if (last !== undefined) change("follow", clock.now(), clock.now() + CLOCK_AHEAD_MS, after, last);
        return last;
      });
      await nextTurn();
    }
    return changing(() => {
      const [at, last] = [clock.now(), seenAt()];
      if (last - at <= CLOCK_STEP_MS) return 0;
      change("listeners", at, last);
      change("workers", at, last);
      see(at);
      return last - at;
    });
  };
}
