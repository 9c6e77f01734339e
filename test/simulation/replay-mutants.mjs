// @ts-check
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are pieces of source
// Mutants of the receiving side, as those of mutants.mjs are of the outbox.

const VERIFIER = "src/schemes/access-governance/verify.ts";
const RECEIVER = "src/receiver/accept.ts";
const MEMORY = "src/replay/memory-replay-store.ts";
const SQLITE = "src/replay/node/sqlite-replay-store.ts";

/** By what mutants.json has a mutant. */
/** @param {{ store: string, name: string }} mutant */
export function replayKeyOf({ store, name }) {
  return `receiver, ${store}: ${name}`;
}

/** @type {readonly (readonly ["memory" | "sqlite", string, string, string, string])[]} */
const CHANGES = [
  [
    "memory",
    "the fence is out of commit",
    MEMORY,
    "if (holder && String(holder.token) !== token)",
    "if (!holder)",
  ],
  [
    "memory",
    "the fence is out of release",
    MEMORY,
    "if (String(reserved.get(key)?.token) === token) reserved",
    "reserved",
  ],
  ["memory", "a reservation never expires", MEMORY, "expiresAt: now + reservationMs", "expiresAt: Infinity"],
  ["memory", "a reservation expires at once", MEMORY, "expiresAt: now + reservationMs", "expiresAt: now"],
  [
    "memory",
    "an id is forgotten an hour early",
    MEMORY,
    "now + EVENT_ID_RETENTION_MS",
    "now + EVENT_ID_RETENTION_MS - 3_600_000",
  ],
  ["memory", "an id is never forgotten", MEMORY, "now + EVENT_ID_RETENTION_MS", "Infinity"],
  [
    "memory",
    "release commits",
    MEMORY,
    "if (String(reserved.get(key)?.token) === token) reserved.delete(key);",
    "const held = reserved.get(key); if (held) processed.add(held.mark, { token: held.token, expiresAt: Infinity });",
  ],
  [
    "memory",
    "release forgets a processed id",
    MEMORY,
    "if (String(reserved.get(key)?.token) === token) reserved.delete(key);",
    "reserved.delete(key); processed.removeFirst();",
  ],
  ["memory", "commit frees the id", MEMORY, "if (done) return;", "return;"],
  [
    "memory",
    "an id is one for all listeners",
    MEMORY,
    "const key = `${listenerId} ${eventId}`;\n      const now = nowOf();\n      forgetExpired(now);\n      const mark",
    "const key = `lst_1 ${eventId}`;\n      const now = nowOf();\n      forgetExpired(now);\n      const mark",
  ],
  [
    "memory",
    "what is in flight counts as processed",
    MEMORY,
    'return { state: "in-flight" }',
    'return { state: "processed" }',
  ],
  [
    "memory",
    "times are those of the clock on the wall",
    MEMORY,
    "last = monotonicMs(clock);",
    "last = clock.now();",
  ],
  [
    "memory",
    "a reservation that comes too late is kept",
    "src/replay/replay-store.ts",
    "isLate && undo(value)",
    "value",
  ],
  [
    "sqlite",
    "the fence is out of commit",
    SQLITE,
    "WHERE ids.token = excluded.token OR ids.expires_at <= ?",
    "WHERE ids.expires_at > ? - 9e15",
  ],
  [
    "sqlite",
    "the fence is out of release",
    SQLITE,
    "AND token = ? AND processed = 0",
    "AND ? <> '' AND processed = 0",
  ],
  ["sqlite", "release forgets a processed id", SQLITE, "AND token = ? AND processed = 0", "AND token = ?"],
  [
    "sqlite",
    "a reservation takes over what is held",
    SQLITE,
    "WHERE ids.expires_at <= ?\n      RETURNING token`,\n    look",
    "WHERE ids.expires_at <= ? + 9e15\n      RETURNING token`,\n    look",
  ],
  [
    "sqlite",
    "a reservation never expires",
    SQLITE,
    "token, now + reservationMs, now)",
    "token, now + 9e15, now)",
  ],
  [
    "sqlite",
    "an id is forgotten an hour early",
    SQLITE,
    "now + EVENT_ID_RETENTION_MS, now",
    "now + EVENT_ID_RETENTION_MS - 3_600_000, now",
  ],
  ["sqlite", "expired ids are not removed", SQLITE, "if (cleanup.isDue(now))", "if (now < 0)"],
  [
    "sqlite",
    "the clean-up removes what is not expired",
    SQLITE,
    "WHERE expires_at <= ? LIMIT",
    "WHERE expires_at <= ? + 86400000 LIMIT",
  ],
  ["sqlite", "a processed id counts as in flight", SQLITE, "held?.processed === 1", "held?.processed === 2"],
  [
    "sqlite",
    "commits are not synchronous",
    SQLITE,
    "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL",
    "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL",
  ],
  [
    "memory",
    "nothing is released after a run that failed",
    RECEIVER,
    'return giveBack(failed("run", "RUN_FAILED", "a run that failed"), cause);',
    'return refuse(failed("run", "RUN_FAILED", "a run that failed"), cause);',
  ],
  [
    "memory",
    "nothing is released when the trigger is inactive",
    RECEIVER,
    "if (!active) return giveBack(",
    "if (!active) return refuse(",
  ],
  [
    "memory",
    "a failed commit is answered 200",
    RECEIVER,
    'return refuse(failed("run", "REPLAY_STORE_UNAVAILABLE", STORE_FAILED), cause);',
    "void cause;",
  ],
  [
    "memory",
    "the id is released when its commit has failed",
    RECEIVER,
    'return refuse(failed("run", "REPLAY_STORE_UNAVAILABLE", STORE_FAILED), cause);',
    'return giveBack(failed("run", "REPLAY_STORE_UNAVAILABLE", STORE_FAILED), cause);',
  ],
  [
    "memory",
    "a run that failed is committed",
    RECEIVER,
    'return giveBack(failed("run", "RUN_FAILED", "a run that failed"), cause);',
    "void cause;\n    await release(replayStore, reservation);",
  ],
  [
    "memory",
    "the id is committed before the run",
    RECEIVER,
    "await run(event, reservation);",
    "await replayStore.commit(reservation);\n    await run(event, reservation);",
  ],
  [
    "memory",
    "a copy in flight waits for ever",
    RECEIVER,
    "monotonicMs(systemClock) - from >= inFlightWaitMs",
    "from * 0 >= inFlightWaitMs",
  ],
  [
    "memory",
    "a copy in flight is a duplicate",
    RECEIVER,
    'failed("replay", "EVENT_IN_FLIGHT")',
    'failed("replay", "EVENT_DUPLICATE")',
  ],
  ["memory", "ids differ by their case", VERIFIER, "id: id.toLowerCase(),", "id,"],
  [
    "memory",
    "the window of timestamps is an hour",
    VERIFIER,
    "if (Math.abs(age) <= TIMESTAMP_TOLERANCE_SECONDS)",
    "if (Math.abs(age) <= 3_600)",
  ],
  [
    "memory",
    "signatures are not compared",
    VERIFIER,
    "if (verifier.matches(head, body, signature))",
    "if (verifier)",
  ],
];

/** The stores differ, and what they share is looked for in the one that is named. */
export const REPLAY_MUTANTS = CHANGES.map(([store, name, file, text, instead]) => ({
  ...{ name, store, file, text, instead },
  from: "the page",
}));
