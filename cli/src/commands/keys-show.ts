import type { Command } from "../command.js";
import { CliError, EXIT } from "../failure.js";
import { openStore, STORE_FLAG, shownTime } from "../key-store-flags.js";
import { field } from "../output.js";

export const keysShow: Command = {
  name: "keys show",
  describe: "Shows a key: its state, its times and its public half. Nothing private.",
  positionals: [{ name: "kid", describe: "the key", required: true }],
  flags: STORE_FLAG,
  examples: [
    ["hookproof keys show 2026-01-01-kPrK_qmx", "a key of the user's own store"],
    ["hookproof keys show 2026-01-01-kPrK_qmx --json", "the same for a script"],
  ],
  exits: [[3, "the store cannot be used, or there is no such key"]],
  async run({ args, io, out }) {
    const { store, folder } = await openStore(io, args);
    const kid = args.text("kid") ?? "";
    const key = (await store.list()).find((one) => one.kid === kid);
    if (!key)
      throw new CliError(EXIT.setup, "KEY_NOT_FOUND", `No key ${JSON.stringify(kid)} in ${folder}.`, {
        hint: "hookproof keys list",
      });
    const { nextStep: _, ...facts } = key;
    out.document({ type: "key", ok: true, ...facts });
    out.line(`${key.kid}  ${key.alg}  ${key.state}`);
    const times = [
      ["created", key.createdAt],
      ["signs", key.signsAt],
      ["retires", key.retiresAt],
      ["removed", key.removesAt],
    ] as const;
    for (const [name, at] of times) out.line(field(name, shownTime(at)));
    if (key.publicJwk) out.line(field("public", JSON.stringify(key.publicJwk)));
    return EXIT.ok;
  },
};
