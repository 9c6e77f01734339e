import type { Algorithm } from "hookproof";
import type { Command } from "../command.js";
import { EXIT } from "../failure.js";
import { readStdin } from "../io.js";
import { openStore, PRIVATE_STORE_FLAGS, passphraseOf } from "../key-store-flags.js";
import { readTextFile, requirePrivate } from "../private-file.js";

export const keysImport: Command = {
  name: "keys import",
  describe:
    "Stores a private key that was made elsewhere, from a JWK or PEM. Keys that are unfit are refused by name.",
  positionals: [{ name: "file", describe: "a private JWK or PEM, or - for standard input", required: true }],
  flags: {
    ...PRIVATE_STORE_FLAGS,
    alg: {
      type: "string",
      choices: ["ES256", "RS256", "EdDSA"],
      describe: "found from the key's kind by default",
    },
    kid: { type: "string", value: "<id>", describe: "the JWK's own by default, or date and thumbprint" },
    "key-passphrase-file": {
      type: "string",
      value: "<file>",
      describe: "the passphrase the PEM is encrypted under",
    },
  },
  examples: [
    ["hookproof keys import key.pem", "a PEM into the user's own store"],
    ["hookproof keys import - --store ./keys < key.jwk", "a JWK from standard input"],
  ],
  exits: [[3, "the store or the key cannot be used"]],
  async run({ args, io, out }) {
    const file = args.text("file") ?? "-";
    if (file !== "-") requirePrivate(file);
    const text = file === "-" ? (await readStdin(io)).toString("utf8") : await readTextFile(file);
    const { store, folder } = await openStore(io, args);
    const [alg, kid, passphrase] = [
      args.text("alg"),
      args.text("kid"),
      await passphraseOf(args, "key-passphrase-file"),
    ];
    const key = await store.importKey(text, {
      ...(alg === undefined ? {} : { alg: alg as Algorithm }),
      ...(kid === undefined ? {} : { kid }),
      ...(passphrase === undefined ? {} : { passphrase }),
    });
    out.document({ type: "key", ok: true, kid: key.kid, alg: key.alg, state: key.state, store: folder });
    out.line(key.kid);
    out.note(
      `${key.alg}, ${key.state === "active" ? "active: it signs from now on" : "next: published, and does not sign yet"}`,
    );
    return EXIT.ok;
  },
};
