// The command that serves the page of an outbox.
import { createOutbox } from "hookproof/outbox";
import type { Command } from "../command.js";
import { EXIT, usageError } from "../failure.js";
import { stopped } from "../io.js";
import { OUTBOX_EXITS, OUTBOX_FLAGS, openOutbox } from "../outbox/open-outbox.js";
import { openWithFlag } from "../serve/inspecting.js";
import { HOST_FLAG, started, warnIfOpen } from "../serve/serving.js";

const ACTIONS = ["redrive", "pause"] as const;

export const outboxUi: Command = {
  name: "outbox ui",
  details:
    "For anyone who has the printed address, on loopback unless --host says otherwise. It shows no bodies, and changes nothing without --allow.",
  flags: {
    ...OUTBOX_FLAGS,
    port: {
      type: "number",
      value: "<n>",
      range: [0, 65_535],
      describe: "the page's port; 4402 by default, or a free one where that is taken",
    },
    ...HOST_FLAG,
    allow: {
      type: "string",
      value: "<action>",
      repeatable: true,
      describe: "what the page may do: redrive (return dead letters), pause (and resume) listeners",
    },
    open: { type: "boolean", describe: "open the page in the browser" },
  },
  examples: [
    ["hookproof outbox ui --outbox app.db --open", "to look at a SQLite file that another program fills"],
    ["hookproof outbox ui --allow redrive --allow pause", "to look after it as well"],
  ],
  exits: OUTBOX_EXITS,
  async run(context) {
    const { args, io, out } = context;
    const allow = args.texts("allow").map((wanted) => {
      const action = ACTIONS.find((one) => one === wanted);
      if (action === undefined) throw usageError(`--allow must be ${ACTIONS.join(" or ")}.`);
      return action;
    });
    const { store, name, close } = await openOutbox(context);
    try {
      // It delivers nothing here, so it needs no listener.
      const outbox = createOutbox({ store, listeners: () => undefined, quiet: true });
      const { startOutboxPage } = await import("hookproof-service/listeners");
      const host = args.text("host");
      const port = args.isGiven("port") ? args.number("port") : undefined;
      const page = await started(() => startOutboxPage(outbox, { port, host, name, allow }), port ?? 0);
      out.document({ type: "listening", url: page.pageUrl, outbox: name, allow });
      out.line(page.pageUrl);
      warnIfOpen(context, "they see the page if they have its whole address.");
      await openWithFlag(context, page.pageUrl);
      await stopped(io.stopSignal);
      await page.stop();
    } finally {
      await close();
    }
    return EXIT.ok;
  },
};
