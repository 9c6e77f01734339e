import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Algorithm, SigningKey } from "hookproof";
import { openKeyStore } from "hookproof/node";
import type { Config } from "./config/config.js";
import { requireInside } from "./config/folder-file.js";
import { CliError, EXIT } from "./failure.js";
import { dataFolder } from "./folders.js";
import type { Io } from "./io.js";
import { readTextFile, requirePrivate } from "./private-file.js";

/** The folder of the user's keys, unless `--store` names another. */
export function storeFolder(io: Io, given: string | undefined): string {
  return given ?? join(dataFolder(io), "keys");
}

/** The key store that flag, environment or configuration names; a folder's file names one in that folder. */
export function storeOf(config: Config): string | undefined {
  requireInside(config, "store", { code: "SECRET_FILE_OUTSIDE", what: "key store", flag: "--store" });
  return config.text("store");
}

/** The key that `--key` means: a kid of the store, or a file with a private JWK. Without it, the newest active key. */
export async function signingKey(store: string, given: string | undefined): Promise<SigningKey> {
  if (given !== undefined && existsSync(given)) return keyFromFile(given);
  const records = await openKeyStore(store).load();
  const usable = records.filter(
    ({ state }) => state === "active" || (given !== undefined && state === "next"),
  );
  const found = given === undefined ? usable.at(-1) : usable.find(({ kid }) => kid === given);
  if (found) return { key: found.privateJwk, kid: found.kid, alg: found.alg };
  throw new CliError(
    EXIT.setup,
    "KEY_NOT_FOUND",
    `${given === undefined ? "No active key" : `No key ${JSON.stringify(given)}`} in ${store}.`,
    {
      hint: "Make one with: hookproof keys generate --alg ES256",
    },
  );
}

async function keyFromFile(path: string): Promise<SigningKey> {
  requirePrivate(path);
  const text = await readTextFile(path);
  const invalid = (reason: string) =>
    new CliError(EXIT.setup, "KEY_UNFIT", `${path} ${reason}.`, {
      hint: "A key file is a private JWK with kid and alg.",
    });
  let jwk: { kid?: unknown; alg?: unknown; kty?: unknown };
  try {
    jwk = JSON.parse(text);
  } catch {
    throw invalid("is not JSON");
  }
  if (typeof jwk?.kid !== "string" || typeof jwk.alg !== "string" || typeof jwk.kty !== "string")
    throw invalid("is not a JWK with kty, kid and alg");
  return {
    key: { ...jwk, kty: jwk.kty } as Exclude<SigningKey["key"], string>,
    kid: jwk.kid,
    alg: jwk.alg as Algorithm,
  };
}
