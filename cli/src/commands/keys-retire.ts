import type { Command } from "../command.js";
import { EXIT } from "../failure.js";
import { durationOf, openStore, STORE_FLAG } from "../key-store-flags.js";

export const keysRetire: Command = {
  name: "keys retire",
  describe: "Retires a key now: it signs no more, and leaves the set once its last tokens are over.",
  positionals: [{ name: "kid", describe: "the key", required: true }],
  flags: {
    ...STORE_FLAG,
    "retire-after": {
      type: "string",
      value: "<dur>",
      describe: "how long it stays in the set; 15m by default",
    },
    force: { type: "boolean", describe: "the active key as well: nothing signs in its place" },
  },
  examples: [
    ["hookproof keys retire 2026-01-01-kPrK_qmx", "a key that waits, and is not wanted"],
    ["hookproof keys retire 2026-01-01-kPrK_qmx --force", "the active key, with nothing in its place"],
  ],
  exits: [[3, "the store cannot be used, there is no such key, or it is in use"]],
  async run({ args, io, out }) {
    const { store } = await openStore(io, args);
    const kid = args.text("kid") ?? "";
    const retireAfterMs = durationOf(args, "retire-after");
    await store.retire(kid, {
      force: args.flag("force"),
      ...(retireAfterMs === undefined ? {} : { retireAfterMs }),
    });
    out.document({ type: "key", ok: true, kid, state: "retired" });
    out.line(kid);
    out.note("retired: it signs no more, and is in the set until its tokens are over");
    return EXIT.ok;
  },
};
