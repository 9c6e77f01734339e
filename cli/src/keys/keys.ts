// Finds the key that signs and the key set that verifies.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Algorithm, SigningKey, Transport } from "hookproof";
import type { KeyResolver, localKeys } from "hookproof/jwks";
import type { Context } from "../command.js";
import { requireInside } from "../config/folder-file.js";
import { CliError, EXIT, refuseIdle } from "../failure.js";
import { dataFolder, readBytes, readTextFile, requirePrivate } from "../files.js";
import type { Io } from "../io.js";
import { agentFor } from "../send/agent.js";

/** The folder of the user's keys, unless `--store` names another. */
export function storeFolder(io: Io, given: string | undefined): string {
  return given ?? join(dataFolder(io), "keys");
}

/** The key that `--key` means: a kid of the store, or a file with a private JWK. Without it, the newest active key. */
export async function signingKey(store: string, given: string | undefined): Promise<SigningKey> {
  if (given !== undefined && existsSync(given)) return keyFromFile(given);
  const { openKeyStore } = await import("hookproof/node");
  const records = await openKeyStore(store).load();
  const usable = records.filter(
    ({ state }) => state === "active" || (given !== undefined && state === "next"),
  );
  const found = given === undefined ? usable.at(-1) : usable.find(({ kid }) => kid === given);
  const retired = found ? undefined : records.find(({ kid }) => kid === given);
  if (retired)
    throw new CliError(
      EXIT.setup,
      "KEY_NOT_FOUND",
      `The key ${JSON.stringify(given)} in ${store} is ${retired.state}, and signs no more.`,
      { hint: "Leave out --key: the newest active key signs then. hookproof keys list shows them." },
    );
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

/** The document, or the text itself: what it is instead of a key set is said of both. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A transport that trusts the local authority, for a key set of this machine; undefined for any other. */
export async function keySetTransport(io: Io, url: string): Promise<Transport | undefined> {
  if (!/^https:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::|\/|$)/i.test(url)) return undefined;
  const agent = await agentFor(url, { ca: undefined, insecure: false, io });
  const { nodeTransport } = await import("hookproof/node");
  return agent && nodeTransport({ agent });
}

/**
 * The key set that verifies: the one that is given, or the profile's unless the command line asks for a secret. A folder's
 * file names a URL, or a file of that folder.
 */
export function keySetOf({ args, config }: Pick<Context, "args" | "config">): string | undefined {
  if (args.isGiven("jwks")) {
    refuseIdle(args, ["secret-file"], "is not looked at with --jwks: a key set or a secret, not both.");
    return args.text("jwks");
  }
  if (args.isGiven("secret-file") || args.text("method") === "hmac") return undefined;
  const found = config.text("jwks");
  if (found !== undefined && !/^https?:/.test(found))
    requireInside(config, "jwks", { code: "SECRET_FILE_OUTSIDE", what: "key set", flag: "--jwks" });
  return found;
}

/** A key set from its host, or from a file. */
export async function keysFrom(io: Io, source: string, allowInsecure = false): Promise<KeyResolver> {
  const { localKeys, remoteKeys } = await import("hookproof/jwks");
  if (/^https?:/.test(source))
    return remoteKeys(source, {
      transport: await keySetTransport(io, source),
      allowInsecureLoopback: true,
      ...(allowInsecure ? { allowPrivateNetwork: true } : {}),
    });
  const bytes = await readBytes(source);
  const text = bytes.toString("utf8");
  try {
    return localKeys(parsed(text) as Parameters<typeof localKeys>[0]);
  } catch (error) {
    const reason = (error as Error).message.replace(/\.$/, "");
    throw new CliError(EXIT.setup, "KEY_SET_INVALID", `${source} is not a key set. ${reason}.`);
  }
}
