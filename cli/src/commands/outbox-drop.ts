// The command that deletes dead letters.

import type { Command } from "../command.js";
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
import { canAsk, confirm } from "../terminal/ask.js";

export const outboxDrop: Command = {
  name: "outbox drop",
  details:
    "They are never sent, and cannot be had back. One that blocks its ordering key lets the next event go. Counts them first and asks; with --dry-run it only counts.",
  positionals: [{ name: "id", required: false, describe: "only this event" }],
  flags: {
    ...OUTBOX_FLAGS,
    ...DEAD_LETTER_FLAGS,
    all: { type: "boolean", describe: "every dead letter; needed where nothing else selects some" },
    ...ASKING_FLAGS,
  },
  examples: [
    ["hookproof outbox drop 0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10", "one event, after asking"],
    [
      "hookproof outbox drop --listener offboarding --older-than 30d --dry-run",
      "how many of a listener would be removed",
    ],
  ],
  exits: [...OUTBOX_EXITS, [130, "interrupted, or the answer was no"]],
  async run(context) {
    const { args, io, global, out } = context;
    const selects = ["id", ...Object.keys(DEAD_LETTER_FLAGS)].some((name) => args.isGiven(name));
    if (selects === args.flag("all"))
      throw usageError("Give an event id, flags that select dead letters, or --all for every one of them.");
    const { store, close } = await openOutbox(context);
    try {
      const filter = deadLetterFilter(args, await store.now());
      const count = await store.drop(filter, { dryRun: true });
      const dryRun = args.flag("dry-run") || count === 0;
      const letters = countOf(count, "dead letter");
      if (!dryRun)
        await confirm(context, `Remove ${letters} permanently?`, `${letters} would be removed permanently.`);
      const dropped = dryRun ? 0 : await inSteps(context, count, (limit) => store.drop(filter, { limit }));
      const isWhole = dryRun || dropped >= count || !io.stopSignal.aborted;
      out.document({ type: "drop", ok: isWhole, dryRun: args.flag("dry-run"), found: count, dropped });
      out.line(dryRun ? `${letters} would be removed` : `${countOf(dropped, "dead letter")} removed`);
      if (count === 0) await warnOfUnknown(context, store);
      if (args.flag("dry-run") && count > 0 && !canAsk({ io, global })) out.note(ONLY_COUNTED);
      return isWhole ? EXIT.ok : EXIT.interrupted;
    } finally {
      await close();
    }
  },
};
