// Refuses what is no whole event id, and says where one is shown.
import { isEventId } from "hookproof";
import { type GivenFlags, nextStep } from "../config/next-step.js";
import { usageError } from "../failure.js";

/** Throws for anything but a whole event id: a terminal shows the beginning of each. */
export function requireEventId(args: GivenFlags, id: string): void {
  if (isEventId(id)) return;
  throw usageError(
    `${JSON.stringify(id)} is not an event id.`,
    `With whole ids: ${nextStep(args, "hookproof outbox list -v")}, or ${nextStep(args, "hookproof outbox dead -v")}`,
  );
}
