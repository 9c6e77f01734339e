import { newEventId } from "hookproof";
import type { OutboxStore, RedriveOptions } from "hookproof/outbox";
import { canAsk, confirm } from "../ask.js";
import type { Command, Context } from "../command.js";
import { EXIT, usageError } from "../failure.js";
import { DEAD_LETTER_FLAGS, deadLetterFilter } from "../outbox/dead-letter-filter.js";
import { OUTBOX_EXITS, OUTBOX_FLAGS, openOutbox } from "../outbox/open-outbox.js";
import { startProgress } from "../progress.js";

/** Receivers remember ids for 7 days; the last hour is left to what is under way. */
const WINDOW_MS = (7 * 24 - 1) * 3_600_000;
/** How many come back at a time; an interruption stops between two such steps. */
const STEP = 200;

export const outboxRedrive: Command = {
  name: "outbox redrive",
  describe:
    "Brings dead letters back, to be delivered again by a worker. Counts them first and asks; with --dry-run it only counts.",
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
      describe: "where events of an ordering key go: behind what waits, or where they were",
    },
    "new-ids": {
      type: "boolean",
      describe: "under new ids, also past the 7 days; what had arrived after all runs twice",
    },
    "dry-run": { type: "boolean", describe: "count, and change nothing" },
    yes: { type: "boolean", describe: "do not ask" },
  },
  examples: [
    ["hookproof outbox redrive --outbox app.db --dry-run", "how many would come back"],
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
        windowMs: WINDOW_MS,
        ...(args.flag("new-ids") ? { newId: newEventId } : {}),
      };
      if (options.newId) await refuseEncrypted(store, filter);
      const limit = args.number("limit") ?? Number.POSITIVE_INFINITY;
      const { redriven: count, pastWindow } = await store.redrive(filter, {
        ...options,
        limit,
        dryRun: true,
      });
      if (pastWindow > 0)
        out.warn(
          `${pastWindow} died too long ago to be sent under their ids; only --new-ids brings them back.`,
        );
      const dryRun = args.flag("dry-run") || count === 0;
      if (!dryRun) await confirm(context, question(context, count), question(context, count, true));
      const redriven = dryRun ? 0 : await redriveAll(context, store, filter, options, count);
      const isWhole = dryRun || redriven >= count || !io.stopSignal.aborted;
      out.document({
        type: "redrive",
        ok: isWhole,
        dryRun: args.flag("dry-run"),
        found: count,
        redriven,
        pastWindow,
      });
      out.line(dryRun ? `${count} dead letters would be redriven` : `${redriven} dead letters redriven`);
      if (args.flag("dry-run") && count > 0 && !canAsk({ io, global })) out.note("next: the same with --yes");
      return isWhole ? EXIT.ok : EXIT.interrupted;
    } finally {
      await close();
    }
  },
};

/** A body is bound to its id by a key that nobody has here. */
async function refuseEncrypted(
  store: OutboxStore,
  filter: Parameters<OutboxStore["dead"]>[0],
): Promise<void> {
  for await (const { event } of store.dead(filter))
    if (event.encryptionKeyId !== undefined)
      throw usageError(
        `The body of the event ${event.id} is encrypted, and bound to its id: it cannot have a new one here.`,
        "call outbox.redrive(filter, { newIds: true }) in the program that has the key",
      );
}

function question({ args }: Context, count: number, isStatement = false): string {
  const twice = args.flag("new-ids") ? "; under new ids, what had arrived after all runs twice" : "";
  return isStatement
    ? `${count} dead letters would be redriven${twice}.`
    : `Redrive ${count} dead letters${twice}?`;
}

async function redriveAll(
  { io, global }: Context,
  store: OutboxStore,
  filter: Parameters<OutboxStore["redrive"]>[0],
  options: RedriveOptions,
  count: number,
): Promise<number> {
  const progress = startProgress(io, global.quiet || global.json, count);
  let done = 0;
  try {
    while (done < count && !io.stopSignal.aborted) {
      const { redriven } = await store.redrive(filter, { ...options, limit: Math.min(STEP, count - done) });
      if (redriven === 0) break; // somebody else was faster
      done += redriven;
      progress.advance(redriven);
    }
  } finally {
    progress.finish();
  }
  return done;
}
