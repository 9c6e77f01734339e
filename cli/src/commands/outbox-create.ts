// The command that makes an outbox.
import type { Command } from "../command.js";
import { nextStep } from "../config/next-step.js";
import { EXIT } from "../failure.js";
import { OUTBOX_FLAGS, openOutbox } from "../outbox/open-outbox.js";
import { startProgress } from "../terminal/progress.js";

export const outboxCreate: Command = {
  name: "outbox create",
  details:
    "For outboxes that are filled by SQL alone, and for databases where programs may make no tables. Running it again changes nothing.",
  flags: OUTBOX_FLAGS,
  examples: [
    [
      "hookproof outbox create --outbox postgres://db.internal/app",
      "as a role that has CREATE on the database",
    ],
    ["hookproof outbox create --outbox app.db", "a SQLite file"],
  ],
  exits: [[3, "the outbox cannot be reached or made"]],
  async run(context) {
    const { args, out } = context;
    const { store, name, close } = await openOutbox(context, { create: true });
    const progress = startProgress(context, undefined);
    try {
      await store.stats(); // a store makes its tables, or brings them up to date, at its first call
    } finally {
      progress.finish();
      await close();
    }
    out.document({ type: "outbox-created", ok: true, outbox: name });
    out.line(name);
    out.note(`next: ${nextStep(args, "hookproof outbox work")}`);
    return EXIT.ok;
  },
};
