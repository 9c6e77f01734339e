import type { Command } from "../command.js";
import { EXIT, usageError } from "../failure.js";
import { openStore, PRIVATE_STORE_FLAGS, passphraseOf } from "../key-store-flags.js";

export const keysExport: Command = {
  name: "keys export",
  describe: "Writes a key to standard output: its public half, or with --private the whole of it.",
  positionals: [{ name: "kid", describe: "the key", required: true }],
  flags: {
    ...PRIVATE_STORE_FLAGS,
    format: { type: "string", choices: ["jwk", "pem"], default: "jwk", describe: "JWK, or PEM" },
    private: { type: "boolean", describe: "the private key; needs --yes" },
    yes: { type: "boolean", describe: "write a private key to standard output" },
    "key-passphrase-file": {
      type: "string",
      value: "<file>",
      describe: "encrypt the PEM under this passphrase",
    },
  },
  examples: [
    ["hookproof keys export 2026-01-01-kPrK_qmx --format pem", "the public half as PEM"],
    [
      "hookproof keys export 2026-01-01-kPrK_qmx --private --yes > key.jwk",
      "the private JWK; run it with umask 077",
    ],
  ],
  exits: [[3, "the store cannot be used, or there is no such key"]],
  async run({ args, io, out }) {
    const half = args.flag("private") ? "private" : "public";
    if (half === "private" && !args.flag("yes"))
      throw usageError(
        "--private writes a private key to standard output; add --yes if that is what you want.",
      );
    const { store } = await openStore(io, args);
    const [kid, format, passphrase] = [
      args.text("kid") ?? "",
      args.text("format") === "pem" ? "pem" : "jwk",
      await passphraseOf(args, "key-passphrase-file"),
    ] as const;
    const text = await store.exportKey(kid, {
      half,
      format,
      ...(passphrase === undefined ? {} : { passphrase }),
    });
    out.document({
      type: "key",
      ok: true,
      kid,
      half,
      format,
      ...(format === "pem" ? { pem: text } : { jwk: JSON.parse(text) }),
    });
    if (!out.json) out.write(`${text.trimEnd()}\n`);
    return EXIT.ok;
  },
};
