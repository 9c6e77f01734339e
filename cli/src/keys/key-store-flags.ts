// The flags of commands that work on a key store, and its passphrase.
import { type KeyStore, openKeyStore } from "hookproof/node";
import type { Args, Flag } from "../command.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { readTextFile, requirePrivate } from "../files/files.js";
import type { Io } from "../io.js";
import { storeFolder } from "./keys.js";

/** The flag of every command that works on a key store. */
export const STORE_FLAG = {
  store: { type: "string", value: "<dir>", describe: "the key store; the user's own by default" },
} as const satisfies Record<string, Flag>;

/** The flags of a command that reads or writes private keys. */
export const PRIVATE_STORE_FLAGS = {
  ...STORE_FLAG,
  "passphrase-file": {
    type: "string",
    value: "<file>",
    describe: "the passphrase that the store's keys are encrypted with",
  },
} as const satisfies Record<string, Flag>;

/** The argument of commands that work on one key. */
export const KID_POSITIONAL = { name: "kid", describe: "the key", required: true, completes: "kid" } as const;

/** The store a command line means, with its passphrase. */
export async function openStore(io: Io, args: Args): Promise<{ store: KeyStore; folder: string }> {
  const folder = storeFolder(io, args.text("store"));
  const passphrase = await passphraseOf(args, "passphrase-file");
  return { store: openKeyStore(folder, { passphrase }), folder };
}

/** A passphrase from a private file; one final newline is not part of it. */
export async function passphraseOf(args: Args, flag: string): Promise<string | undefined> {
  const file = args.text(flag);
  if (file === undefined) return undefined;
  requirePrivate(file);
  const passphrase = (await readTextFile(file)).replace(/\r?\n$/, "");
  if (passphrase !== "") return passphrase;
  throw new CliError(EXIT.setup, "KEY_STORE_PASSPHRASE", `--${flag}: the passphrase in ${file} is empty.`);
}

/** An error of rotating at intervals, in the words of its flag. */
export function ofRotation(error: unknown): unknown {
  if (!(error instanceof RangeError)) return error;
  return usageError(
    `--rotate-every must be longer than a key is published before it signs: ${error.message}.`,
  );
}
