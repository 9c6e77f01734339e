import { type KeyStore, openKeyStore } from "hookproof/node";
import type { Args, Flag } from "./command.js";
import { durationMs } from "./duration.js";
import type { Io } from "./io.js";
import { storeFolder } from "./keys.js";
import { readTextFile, requirePrivate } from "./private-file.js";

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
    describe: "the passphrase the store's keys are encrypted under",
  },
} as const satisfies Record<string, Flag>;

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
  return (await readTextFile(file)).replace(/\r?\n$/, "");
}

/** A duration flag in milliseconds, if it was given. */
export function durationOf(args: Args, flag: string): number | undefined {
  const text = args.text(flag);
  return text === undefined ? undefined : durationMs(flag, text);
}

/** A time as people read it. */
export function shownTime(at: number | undefined): string {
  return at === undefined ? "-" : new Date(Math.floor(at / 1000) * 1000).toISOString().replace(".000Z", "Z");
}
