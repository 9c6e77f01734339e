import type { DeadLetter } from "hookproof/outbox";
import type { Command } from "../command.js";
import { EXIT } from "../failure.js";
import { DEAD_LETTER_FLAGS, deadLetterFilter } from "../outbox/dead-letter-filter.js";
import { OUTBOX_EXITS, OUTBOX_FLAGS, openOutbox } from "../outbox/open-outbox.js";
import { ROWS_FLAG, tableLines } from "../table.js";

export const outboxDead: Command = {
  name: "outbox dead",
  describe: "Events that could not be delivered, in the order of their deaths, and why. Shows no bodies.",
  flags: {
    ...OUTBOX_FLAGS,
    ...DEAD_LETTER_FLAGS,
    ...ROWS_FLAG,
  },
  examples: [
    ["hookproof outbox dead --outbox app.db", "the first 50"],
    ["hookproof outbox dead --listener offboarding --reason refused --json", "for a script"],
  ],
  exits: OUTBOX_EXITS,
  async run(context) {
    const { args, out } = context;
    const { store, close } = await openOutbox(context);
    try {
      const now = await store.now();
      const letters: DeadLetter[] = [];
      for await (const letter of store.dead(deadLetterFilter(args, now), {
        limit: args.number("limit") ?? 50,
      }))
        letters.push(letter);
      out.document({ type: "dead-letters", ok: true, letters: letters.map(shown) });
      const rows = letters.map(({ event, reason, code, diedAt, attempts }) => [
        new Date(diedAt).toISOString().slice(0, 19).replace("T", " "),
        event.id,
        event.listener,
        attempts.length,
        `${reason}: ${attempts.at(-1)?.status ?? ""} ${code}`.replace(/ {2}/, " "),
      ]);
      if (rows.length > 0)
        for (const line of tableLines(["died", "event id", "listener", "attempts", "why"], rows))
          out.line(line);
      out.note(
        rows.length === 0
          ? "No dead letter fits."
          : `next: hookproof outbox attempts ${letters[0]?.event.id}, or hookproof outbox redrive --dry-run`,
      );
    } finally {
      await close();
    }
    return EXIT.ok;
  },
};

function shown({ event, reason, code, diedAt, enqueuedAt, attempts }: DeadLetter): Record<string, unknown> {
  return {
    eventId: event.id,
    listener: event.listener,
    reason,
    code,
    diedAt: new Date(diedAt).toISOString(),
    enqueuedAt: new Date(enqueuedAt).toISOString(),
    orderingKey: event.orderingKey ?? null,
    bodyBytes: event.body.length,
    attempts,
  };
}
