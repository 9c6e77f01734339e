// The commands that list dead letters and send them again.
import type { DeadLetter, RedriveOptions } from "hookproof/outbox";
import type { OutboxStore } from "hookproof/outbox/store";
import { type Command, type Context, ROWS_FLAG } from "../command.js";
import { nextStep } from "../config/next-step.js";
import { EXIT, usageError } from "../failure.js";
import {
  ASKING_FLAGS,
  DEAD_LETTER_FLAGS,
  deadLetterFilter,
  ONLY_COUNTED,
} from "../outbox/dead-letter-flags.js";
import { inSteps } from "../outbox/in-steps.js";
import { OUTBOX_EXITS, OUTBOX_FLAGS, openOutbox } from "../outbox/open-outbox.js";
import { warnOfUnknown } from "../outbox/unknown-listener.js";
import { countOf } from "../output.js";
import { wordOf } from "../shell-word.js";
import { canAsk, confirm } from "../terminal/ask.js";
import { briefTime } from "../terminal/brief-time.js";
import { exactTime } from "../times.js";

export const outboxDead: Command = {
  name: "outbox dead",
  details: "The oldest first. Shows no bodies.",
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
    const { args, out, global } = context;
    const isBrief = out.isTerminal && global.verbose === 0;
    const { store, close } = await openOutbox(context);
    try {
      const now = await store.now();
      const letters: DeadLetter[] = [];
      for await (const letter of store.deadLetters(deadLetterFilter(args, now), {
        limit: args.number("limit") ?? 50,
      }))
        letters.push(letter);
      out.document({ type: "dead-letters", ok: true, letters: letters.map(shown) });
      const rows = letters.map(({ event, reason, code, failedAt, attempts }) => [
        isBrief ? briefTime(failedAt) : exactTime(failedAt).slice(0, 19).replace("T", " "),
        out.short(event.id),
        event.listener,
        attempts.length,
        `${reason}: ${attempts.at(-1)?.status ?? ""} ${code}`.replace(/ {2}/, " "),
      ]);
      out.table(["failed", isBrief ? "event" : "event id", "listener", "attempts", "why"], rows);
      out.note(
        rows.length === 0
          ? "No dead letter matches."
          : `next: ${nextStep(args, `hookproof outbox attempts ${wordOf(letters[0]?.event.id ?? "")}`)}      or: ${nextStep(args, "hookproof outbox redrive --dry-run", Object.keys(DEAD_LETTER_FLAGS))}`,
      );
      if (rows.length === 0) await warnOfUnknown(context, store);
    } finally {
      await close();
    }
    return EXIT.ok;
  },
};

function shown({ event, reason, code, failedAt, enqueuedAt, attempts }: DeadLetter): Record<string, unknown> {
  return {
    eventId: event.id,
    listener: event.listener,
    reason,
    code,
    failedAt: exactTime(failedAt),
    enqueuedAt: exactTime(enqueuedAt),
    orderingKey: event.orderingKey ?? null,
    bodyBytes: event.body.length,
    attempts,
  };
}

/** Listeners keep ids for 7 days; the last hour is for attempts under way. */
const WINDOW_MS = (7 * 24 - 1) * 3_600_000;

export const outboxRedrive: Command = {
  name: "outbox redrive",
  details: "Counts them first and asks; with --dry-run it only counts.",
  positionals: [{ name: "id", required: false, describe: "only this event" }],
  flags: {
    ...OUTBOX_FLAGS,
    ...DEAD_LETTER_FLAGS,
    limit: {
      type: "number",
      value: "<n>",
      range: [1, 999_999_999],
      describe: "at most this many, the oldest first",
    },
    place: {
      type: "string",
      choices: ["end", "kept"],
      default: "end",
      describe:
        "where events with an ordering key go: end, behind all that wait; kept, back to their own place",
    },
    "new-ids": {
      type: "boolean",
      describe: "with new ids, also after the 7 days; an event that has arrived runs twice",
    },
    ...ASKING_FLAGS,
  },
  examples: [
    ["hookproof outbox redrive --outbox app.db --dry-run", "how many would be returned"],
    [
      "hookproof outbox redrive --listener offboarding --code REQUEST_REFUSED --yes",
      "after a repair, without asking",
    ],
    ["hookproof outbox redrive 0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10", "one event"],
  ],
  exits: [...OUTBOX_EXITS, [130, "interrupted, or the answer was no"]],
  async run(context) {
    const { args, io, global, out } = context;
    const { store, close } = await openOutbox(context);
    try {
      const now = await store.now();
      const filter = deadLetterFilter(args, now);
      const options: RedriveOptions = {
        place: args.text("place") === "kept" ? "kept" : "end",
        newIds: args.flag("new-ids"),
      };
      if (options.newIds) await refuseEncrypted(store, filter);
      const limit = args.number("limit") ?? Number.POSITIVE_INFINITY;
      const { redriven: count, pastWindow } = await store.redrive(filter, WINDOW_MS, {
        ...options,
        limit,
        dryRun: true,
      });
      if (pastWindow > 0)
        out.warn(
          `${countOf(pastWindow, "dead letter")} had the first attempt too long ago to be sent under the same id: that needs --new-ids.`,
        );
      const dryRun = args.flag("dry-run") || count === 0;
      if (!dryRun) await confirm(context, question(context, count), question(context, count, true));
      const redriven = dryRun
        ? 0
        : await inSteps(
            context,
            count,
            async (limit) => (await store.redrive(filter, WINDOW_MS, { ...options, limit })).redriven,
          );
      const isWhole = dryRun || redriven >= count || !io.stopSignal.aborted;
      out.document({
        type: "redrive",
        ok: isWhole,
        dryRun: args.flag("dry-run"),
        found: count,
        redriven,
        pastWindow,
      });
      out.line(
        dryRun
          ? `${countOf(count, "dead letter")} would be redriven`
          : `${countOf(redriven, "dead letter")} redriven`,
      );
      if (count + pastWindow === 0) await warnOfUnknown(context, store);
      if (args.flag("dry-run") && count > 0 && !canAsk({ io, global })) out.note(ONLY_COUNTED);
      return isWhole ? EXIT.ok : EXIT.interrupted;
    } finally {
      await close();
    }
  },
};

/** A body is bound to its id by its encryption, and the command has no key to encrypt it for a new id. */
async function refuseEncrypted(
  store: OutboxStore,
  filter: Parameters<OutboxStore["deadLetters"]>[0],
): Promise<void> {
  for await (const { event } of store.deadLetters(filter))
    if (event.encryptionKeyId !== undefined)
      throw usageError(
        `The body of the event ${event.id} is encrypted, and bound to its id: it cannot have a new one here.`,
        "call outbox.redrive(filter, { newIds: true }) in the program that has the key",
      );
}

function question({ args }: Context, count: number, isStatement = false): string {
  const twice = args.flag("new-ids") ? "; with new ids, an event that has arrived runs twice" : "";
  return isStatement
    ? `${countOf(count, "dead letter")} would be redriven${twice}.`
    : `Redrive ${countOf(count, "dead letter")}${twice}?`;
}
