// Finds the key that signs and the key set that verifies.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { HookproofError, SigningKey, Transport } from "hookproof";
import type { Jwks, KeyResolver } from "hookproof/jwks";
import type { Context } from "../command.js";
import { isOfFolder, requireInside } from "../config/folder-file.js";
import { isAddress, SETTINGS } from "../config/settings.js";
import { CliError, EXIT, refuseIdle, usageError } from "../failure.js";
import { dataFolder, readKeyFile, readTextFile, requirePrivate } from "../files/files.js";
import type { Io } from "../io.js";
import { agentFor } from "../send/agent.js";
import { wordOf } from "../shell-word.js";

/** The folder of the user's keys, unless `--store` names another. */
export function storeFolder(io: Io, given: string | undefined): string {
  return given ?? join(dataFolder(io), "keys");
}

/**
 * The key that `--key` means: a kid of the store, or a file with a private key, whose id is `kid` if it has none. Without
 * it, the newest active key.
 */
export async function signingKey(
  store: string,
  given: string | undefined,
  kid?: string,
): Promise<SigningKey> {
  if (given !== undefined && existsSync(given)) return keyFromFile(given, kid);
  if (kid !== undefined)
    throw usageError(
      `--kid names the key of a file, and ${given === undefined ? "--key is missing" : `${JSON.stringify(given)} is none`}.`,
      "--key <file> --kid <id>; a key of the store is named by --key <kid> alone",
    );
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

async function keyFromFile(path: string, kid: string | undefined): Promise<SigningKey> {
  requirePrivate(path);
  const text = await readKeyFile(path);
  const { readSigningKey } = await import("hookproof/node");
  try {
    return readSigningKey(text, { ...(kid === undefined ? {} : { kid }) });
  } catch (error) {
    const { code, message } = error as HookproofError;
    const hint =
      code === "KEY_STORE_PASSPHRASE"
        ? `openssl pkey -in ${wordOf(path)} -out decrypted.pem, or hookproof keys import ${wordOf(path)} --key-passphrase-file <file>`
        : message.includes("has no id")
          ? `--key ${wordOf(path)} --kid <id>, with the kid that your key set gives it`
          : "A key file is a private key as PEM or JWK; docs/guides/keys.md has the forms.";
    throw new CliError(EXIT.setup, code, `${path}: ${message}`, { hint });
  }
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
 * file names a file of that folder, and none where this user's environment has a secret.
 */
export function keySetOf({ args, config, io }: Pick<Context, "args" | "config" | "io">): string | undefined {
  if (args.isGiven("jwks")) {
    refuseIdle(args, ["secret-file"], "is not looked at with --jwks: a key set or a secret, not both.");
    return args.text("jwks");
  }
  if (args.isGiven("secret-file") || args.text("method") === "hmac") return undefined;
  const isSecretGiven = Boolean(io.env.HOOKPROOF_SECRET || io.env[SETTINGS.secretFiles.env]);
  if (isSecretGiven && args.text("method") !== "jwt" && isOfFolder(config, "jwks")) return undefined;
  requireInside(config, "jwks", { code: "SECRET_FILE_OUTSIDE", what: "key set", flag: "--jwks" });
  return config.text("jwks");
}

/** A key set that verifies, with what it was read from. */
export interface ReadKeySet {
  readonly keys: KeyResolver;
  /** The document as it was read last, for a diagnosis; undefined where none could be read. */
  document(): Promise<Jwks | undefined>;
}

/** A key set from its host, or from a file. */
export async function keysFrom(io: Io, source: string, allowInsecure = false): Promise<ReadKeySet> {
  const { localKeys, remoteKeys } = await import("hookproof/jwks");
  if (isAddress("jwks", source)) {
    // A resolver with a transport leaves the addresses to it, so both are told the same.
    const near = await keySetTransport(io, source);
    const allowPrivateNetwork = allowInsecure || near !== undefined || source.startsWith("http:");
    const { nodeTransport } = await import("hookproof/node");
    const kept = withLastBody(near ?? nodeTransport({ allowPrivateNetwork }));
    const { transport } = kept;
    const keys = remoteKeys(source, { transport, allowInsecureLoopback: true, allowPrivateNetwork });
    const document = async () => {
      // The set is read when a key is asked for, and a request may be refused before that.
      if (kept.last() === undefined) await keys.resolve("", "ES256");
      const body = kept.last();
      return body && (parsed(unzippedText(body)) as Jwks);
    };
    return { keys, document };
  }
  const document = parsed(await readTextFile(source)) as Jwks;
  try {
    return { keys: localKeys(document), document: async () => document };
  } catch (error) {
    const reason = (error as Error).message.replace(/\.$/, "");
    throw new CliError(EXIT.setup, "KEY_SET_INVALID", `${source} is not a key set. ${reason}.`);
  }
}

/** A transport that keeps the last body that came whole. */
function withLastBody(transport: Transport): { transport: Transport; last(): Uint8Array | undefined } {
  let last: Uint8Array | undefined;
  return {
    async transport(request) {
      const answer = await transport(request);
      const isWhole = answer.status === 200 && !answer.truncated && answer.bodyError === undefined;
      last = isWhole ? answer.body : undefined;
      return answer;
    },
    last: () => last,
  };
}

function unzippedText(bytes: Uint8Array): string {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  try {
    const plain = isGzip ? gunzipSync(bytes, { maxOutputLength: 65_536 }) : bytes;
    return Buffer.from(plain).toString("utf8");
  } catch {
    return "";
  }
}
