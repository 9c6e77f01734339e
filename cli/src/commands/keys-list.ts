import type { KeyStatus } from "hookproof/node";
import type { Command } from "../command.js";
import { EXIT } from "../failure.js";
import { openStore, STORE_FLAG, shownTime } from "../key-store-flags.js";

export const keysList: Command = {
  name: "keys list",
  describe: "Lists the keys of a store: their state, what happens to them next, and when.",
  flags: {
    ...STORE_FLAG,
    all: { type: "boolean", describe: "removed keys as well: their ids are never used again" },
  },
  examples: [
    ["hookproof keys list", "the user's own keys"],
    ["hookproof keys list --store ./keys --all --json", "every key there ever was, for a script"],
  ],
  exits: [[3, "the store cannot be used"]],
  async run({ args, io, out }) {
    const { store, folder } = await openStore(io, args);
    const keys = (await store.list()).filter(({ state }) => args.flag("all") || state !== "removed");
    out.document({ type: "keys", ok: true, store: folder, keys: keys.map(described) });
    for (const key of keys) {
      const { kid, alg, state, nextStep } = key;
      const next = nextStep
        ? `${NEXT[nextStep.step]} ${shownTime(nextStep.at)}`
        : state === "next"
          ? "waits to be rotated in"
          : "";
      out.line(`${kid.padEnd(22)} ${alg.padEnd(6)} ${state.padEnd(8)} ${next}`.trimEnd());
    }
    if (keys.length === 0)
      out.note(`There is no key in ${folder}. Make one with: hookproof keys generate --alg ES256`);
    return EXIT.ok;
  },
};

const NEXT = { publish: "is published", sign: "signs from", retire: "retires", remove: "is removed" };

function described({ kid, alg, state, createdAt, nextStep }: KeyStatus): Record<string, unknown> {
  return { kid, alg, state, createdAt, ...(nextStep ? { next: nextStep.step, at: nextStep.at } : {}) };
}
