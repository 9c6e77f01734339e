import type { Algorithm } from "hookproof";
import type { Command } from "../command.js";
import { EXIT, usageError } from "../failure.js";
import { openStore, PRIVATE_STORE_FLAGS } from "../key-store-flags.js";
import { field } from "../output.js";

export const keysGenerate: Command = {
  name: "keys generate",
  describe: "Generates a key for signing tokens and keeps it in the key store, readable by its owner only.",
  flags: {
    alg: {
      type: "string",
      choices: ["ES256", "RS256", "EdDSA"],
      default: "ES256",
      describe: "the algorithm",
    },
    kid: { type: "string", value: "<id>", describe: "a key id of your own; date and thumbprint by default" },
    ...PRIVATE_STORE_FLAGS,
  },
  examples: [
    ["hookproof keys generate --alg EdDSA", "a key in the user's own store"],
    ["hookproof keys generate --alg RS256 --store ./keys", "a key in a folder of its own"],
  ],
  exits: [[3, "the store cannot be used"]],
  async run({ args, io, out }) {
    const wanted = args.text("kid");
    if (wanted?.startsWith("-")) throw usageError("--kid must not start with -.");
    const { store: keys, folder: store } = await openStore(io, args);
    const { kid, alg, state } = await keys.generate({
      alg: args.text("alg") as Algorithm,
      kid: wanted,
    });
    out.document({ type: "key", ok: true, kid, alg, state, store });
    out.line(kid);
    out.note(
      field(
        "algorithm",
        `${alg}, ${state === "active" ? "active: it signs from now on" : "next: published, and does not sign yet"}`,
      ),
    );
    out.note(`next: hookproof jwks serve --store ${store}      host the key set for the listener`);
    return EXIT.ok;
  },
};
