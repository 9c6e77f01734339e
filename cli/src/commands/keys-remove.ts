import type { Command } from "../command.js";
import { EXIT } from "../failure.js";
import { openStore, STORE_FLAG } from "../key-store-flags.js";

export const keysRemove: Command = {
  name: "keys remove",
  describe: "Takes a key out of the set and erases it. Its id stays, so that it is never used again.",
  positionals: [{ name: "kid", describe: "the key", required: true }],
  flags: {
    ...STORE_FLAG,
    force: {
      type: "boolean",
      describe: "an active or retired key as well: its tokens are refused from then on",
    },
  },
  examples: [
    ["hookproof keys remove 2026-01-01-kPrK_qmx", "a key that never signed"],
    ["hookproof keys remove 2026-01-01-kPrK_qmx --force", "a key that has leaked"],
  ],
  exits: [[3, "the store cannot be used, there is no such key, or it is in use"]],
  async run({ args, io, out }) {
    const { store } = await openStore(io, args);
    const kid = args.text("kid") ?? "";
    await store.remove(kid, { force: args.flag("force") });
    out.document({ type: "key", ok: true, kid, state: "removed" });
    out.line(kid);
    out.note("removed: listeners refuse its tokens once they have fetched the set again, within 10 minutes");
    return EXIT.ok;
  },
};
