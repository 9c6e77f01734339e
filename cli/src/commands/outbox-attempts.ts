import { isEventId } from "hookproof";
import type { OutboxAttempt, OutboxEntry } from "hookproof/outbox";
import type { Command } from "../command.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { OUTBOX_EXITS, OUTBOX_FLAGS, openOutbox } from "../outbox/open-outbox.js";
import { field } from "../output.js";

export const outboxAttempts: Command = {
  name: "outbox attempts",
  describe: "Where an event stands at each listener, and every attempt to deliver it.",
  positionals: [{ name: "id", required: true, describe: "an event id" }],
  flags: OUTBOX_FLAGS,
  examples: [
    ["hookproof outbox attempts 0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10 --outbox app.db", "one event's history"],
    [
      "hookproof outbox attempts 0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10 --json | jq .entries[].state",
      "whether it has arrived, for a script",
    ],
  ],
  exits: [...OUTBOX_EXITS, [3, "the outbox does not know the event"]],
  async run(context) {
    const { args, out } = context;
    const id = (args.text("id") ?? "").toLowerCase();
    if (!isEventId(id)) throw usageError(`${JSON.stringify(id)} is not an event id.`);
    const { store, close } = await openOutbox(context);
    try {
      const entries = await store.find(id);
      if (entries.length === 0)
        throw new CliError(EXIT.setup, "EVENT_NOT_IN_OUTBOX", `The outbox does not know the event ${id}.`, {
          hint: "What was delivered is forgotten after 7 days, unless the program says otherwise.",
        });
      out.document({ type: "attempts", ok: true, eventId: id, entries: entries.map(shown) });
      for (const entry of entries) {
        out.line(`${entry.listener}  ${entry.state}${entry.outcome ? `, ${entry.outcome}` : ""}`);
        out.line(field("enqueued", timeOf(entry.enqueuedAt)));
        if (entry.dueAt !== undefined) out.line(field("due", timeOf(entry.dueAt)));
        for (const attempt of entry.attempts) out.line(field(`attempt ${attempt.number}`, inWords(attempt)));
      }
    } finally {
      await close();
    }
    return EXIT.ok;
  },
};

function shown({
  id: _id,
  enqueuedAt,
  dueAt,
  firstAttemptAt,
  ...entry
}: OutboxEntry): Record<string, unknown> {
  return {
    ...entry,
    enqueuedAt: timeOf(enqueuedAt),
    ...(dueAt === undefined ? {} : { dueAt: timeOf(dueAt) }),
    ...(firstAttemptAt === undefined ? {} : { firstAttemptAt: timeOf(firstAttemptAt) }),
  };
}

function inWords({ startedAt, durationMs, status, code, answer }: OutboxAttempt): string {
  const result = [status ?? "no answer", code].filter(Boolean).join(" ");
  return `${timeOf(startedAt)}  ${durationMs} ms  ${result}${answer ? `  ${answer}` : ""}`;
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
