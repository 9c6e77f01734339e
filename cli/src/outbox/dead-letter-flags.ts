// The flags that select dead letters.
import type { DeadLetterFilter } from "hookproof/outbox";
import type { Args, Flag } from "../command.js";
import { requireEventId } from "./whole-event-id.js";

const REASONS = ["refused", "attempts", "window", "unsendable"] as const;

/** The flags of every command that selects dead letters. */
export const DEAD_LETTER_FLAGS = {
  listener: { type: "string", value: "<name>", describe: "only this listener's" },
  reason: { type: "string", choices: REASONS, describe: "only those with this reason" },
  code: { type: "string", value: "<code>", describe: "only those with this code, such as REQUEST_REFUSED" },
  "older-than": {
    type: "duration",
    value: "<dur>",
    describe: "only those that failed longer ago, such as 1h",
  },
} as const satisfies Record<string, Flag>;

/** The flags of a command that counts what it would change, and asks. */
export const ASKING_FLAGS = {
  "dry-run": { type: "boolean", describe: "count, and change nothing" },
  yes: { type: "boolean", describe: "do not ask" },
} as const satisfies Record<string, Flag>;

/** What is said of a dry run where nobody can be asked. */
export const ONLY_COUNTED = "Nothing was changed: with --yes in place of --dry-run it is done.";

/** The filter that the flags and an event id make; a dead letter must match all of them. */
export function deadLetterFilter(args: Args, now: number): DeadLetterFilter {
  const id = args.text("id")?.toLowerCase();
  if (id !== undefined) requireEventId(args, id);
  const olderThanMs = args.durationMs("older-than");
  return {
    listener: args.text("listener"),
    ids: id === undefined ? undefined : [id],
    reason: REASONS.find((reason) => reason === args.text("reason")),
    code: args.text("code") as DeadLetterFilter["code"],
    before: olderThanMs === undefined ? undefined : now - olderThanMs,
  };
}
