import type { ClaimedEvent } from "./outbox-store.js";

/** An event as its row is after a claim that has counted an attempt. */
interface CountedRow {
  readonly attempts: number;
  readonly attemptsBeforeRedrive: number;
  readonly firstAttemptAt: number;
  readonly now: number;
}

/** The attempt that a claim has counted, and the event as it was before. */
export function countedClaim({
  attempts,
  attemptsBeforeRedrive,
  firstAttemptAt,
  now,
}: CountedRow): Pick<ClaimedEvent, "attempts" | "firstAttemptAt" | "begun"> {
  const isFirst = firstAttemptAt === now && attempts === attemptsBeforeRedrive + 1;
  return {
    attempts: attempts - 1,
    firstAttemptAt: isFirst ? undefined : firstAttemptAt,
    begun: { attempt: attempts, firstAttemptAt, now },
  };
}
