// From where on a process looks for what is to be settled in PostgreSQL, after its server's clock was put back.
import { expect, it } from "vitest";
import { looks, type Seen } from "../../src/outbox/postgres/looks.js";
import { outboxNames } from "../../src/outbox/postgres/names.js";

const HOUR_MS = 3_600_000;
/** More than a look reads that is repeated at once. */
const SLOW = 100_000;

it("a clock that was put back is followed: new events are looked for before the time that was known", () => {
  const seen = looks(outboxNames("hookproof"));
  /** One look at a time, while transactions from this number on run. */
  const look = (now: number, oldest: number) => {
    const asked = seen.sql();
    const none = { expired: null, ripe: null, fresh: null };
    seen.saw({ ...none, read: SLOW, below: false, oldest, next: oldest + 1, now } satisfies Seen);
    return asked;
  };
  look(2 * HOUR_MS, 5);
  look(2 * HOUR_MS + 100, 6); // no transaction is left that may have stored one before the first look
  expect(look(2 * HOUR_MS + 200, 6)).toContain(`to_timestamp(${(2 * HOUR_MS - 2_000) / 1_000}))`);
  look(HOUR_MS, 6); // put back, while a transaction stays open
  look(HOUR_MS + 100, 6);
  expect(look(HOUR_MS + 200, 6)).toMatch(/, '-infinity'\) u$/);
});
