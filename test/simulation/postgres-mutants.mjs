// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are pieces of source
// Changes of the store in PostgreSQL that the worlds over a real server have to notice: see mutants.mjs.

/** @type {readonly [name: string, file: string, text: string, instead: string][]} */
const CHANGES = [
  [
    "the fence is out of every change",
    "leases.ts",
    'IS_HELD = "e.id = i.id AND e.listener = i.listener AND e.token = i.token"',
    'IS_HELD = "e.id = i.id AND e.listener = i.listener"',
  ],
  [
    "release counts the attempt",
    "leases.ts",
    "attempts = greatest(e.attempts - 1, 0)",
    "attempts = e.attempts",
  ],
  [
    "the turn of a key is not passed on",
    "leases.ts",
    "[lockOrder(names), ending, passOn(names)]",
    '[lockOrder(names), ending, "SELECT 1"]',
  ],
  [
    "a waiting head gives way to nobody",
    "order.ts",
    "place, giveWay, passOn(names)]",
    'place, "SELECT 1", passOn(names)]',
  ],
  [
    "a later event of a key has its turn at once",
    "order.ts",
    "f.place = 1 AND NOT k.behind THEN 'waiting'",
    "NOT k.behind THEN 'waiting'",
  ],
  [
    "the place of a new event is not looked at",
    "order.ts",
    "${hasHead(names)} OR coalesce(",
    "false OR coalesce(",
  ],
  [
    "the store does not count what others have leased",
    "functions.ts",
    "AND l.token IS NOT NULL AND l.leased_until > now()) END",
    "AND l.token = $4) END",
  ],
  [
    "a pause is not looked at",
    "functions.ts",
    "SELECT h.paused_at IS NOT NULL OR h.rest_until > now() FROM",
    "SELECT h.rest_until > now() FROM",
  ],
  [
    "a claim does not look at the window",
    "functions.ts",
    "OR e.first_attempt_at >= now() - due.window_ms * interval '1 ms')",
    "OR true)",
  ],
  [
    "each claim begins the window again",
    "functions.ts",
    "first_attempt_at = coalesce(e.first_attempt_at, now())",
    "first_attempt_at = now()",
  ],
  [
    "an enqueueing is stored outside of the transaction",
    "store.ts",
    "await this.#enqueueInside(tx, given);",
    "await this.#run(() => this.#enqueue.byItself(this.#database, given));",
  ],
  [
    "a clock that was put back is not followed",
    "clock.ts",
    "if (!seen?.back || (await followEvents()) > 0) return 0;",
    "return 0;",
  ],
  [
    "what is put off never becomes due",
    "order.ts",
    "WHERE ${LATER_OF_ALL} AND l.due_at > ${after}",
    "WHERE l.state = 'never' AND l.due_at > ${after}",
  ],
  [
    "no wake-up by notifications",
    "wake.ts",
    "if (sender !== self) wakeHere();",
    "if (sender === self) wakeHere();",
  ],
  [
    "expired events are not counted",
    "upkeep.ts",
    "SELECT listener, -count(*), 0, count(*) FROM done GROUP BY listener)\n      SELECT listener, id",
    "SELECT listener, 0, 0, 0 FROM done GROUP BY listener)\n      SELECT listener, id",
  ],
  [
    "a redrive with new ids keeps the window of the old one",
    "dead-letters.ts",
    "body = ${bodyOf(this.#names)}, first_attempt_at = NULL,",
    "body = ${bodyOf(this.#names)},",
  ],
  // Of calls at the same moment.
  [
    "a claim locks no listener",
    "functions.ts",
    "WHERE pg_try_advisory_xact_lock(${claimLock}, key)),",
    "WHERE ${claimLock} IS NOT NULL),",
  ],
  [
    "the order of keys is locked after events were changed",
    "order.ts",
    "return [lockOrder(names), ...before, ...settled];",
    "return [...before, ...settled.slice(0, -1), lockOrder(names), ...settled.slice(-1)];",
  ],
  [
    "new events have their place without a lock",
    "order.ts",
    "return [lockOrder(names), ...before, ...settled];",
    "return [...before, ...settled];",
  ],
  [
    "the lock of the order is held over a round trip",
    "leases.ts",
    "const results = await database.script(script);",
    `const results: unknown[][] = await database.transaction(async (client) => {
      const all: unknown[][] = [];
      for (const one of script) all.push(((await client.query(one)) as { rows: unknown[] }).rows);
      return all;
    });`,
  ],
  // Of held snapshots.
  ["nobody looks below a floor", "floor.ts", "if (!isDue) return;", "if (isDue || !isDue) return;"],
];

export const POSTGRES_MUTANTS = CHANGES.map(([name, file, text, instead]) => ({
  ...{
    name,
    from: "the page",
    store: /** @type {const} */ ("postgres"),
    file: `src/outbox/postgres/${file}`,
  },
  ...{ text, instead },
}));
