import { confirm } from "../ask.js";
import type { Command } from "../command.js";
import { EXIT } from "../failure.js";
import { forget, readHistory } from "../history.js";

export const eventsClear: Command = {
  name: "events clear",
  describe: "Forgets recorded events, all of them or those older than a time. Asks first.",
  flags: {
    "older-than": { type: "duration", value: "<dur>", describe: "only events sent longer ago, such as 1d" },
    yes: { type: "boolean", describe: "do not ask" },
  },
  examples: [
    ["hookproof events clear --older-than 1d", "keeps the last day"],
    ["hookproof events clear --yes", "everything, without asking"],
  ],
  exits: [[3, "the history cannot be read or written"]],
  async run(context) {
    const { args, io, out } = context;
    const before = Date.now() - (args.durationMs("older-than") ?? -1);
    const count = (await readHistory(io, out)).filter(({ at }) => at < before).length;
    await confirm(context, `Forget ${count} events?`, `${count} events would be forgotten.`);
    const removed = await forget(io, out, ({ at }) => at < before);
    out.document({ type: "events", ok: true, removed });
    out.line(`${removed} events forgotten`);
    return EXIT.ok;
  },
};
