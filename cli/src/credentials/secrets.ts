// Finds a command's signing secrets in flags, environment and files.
import { resolve } from "node:path";
import { secretFingerprint, secretWarnings } from "hookproof";
import type { Args, Context } from "../command.js";
import type { Config } from "../config/config.js";
import { requireInside } from "../config/folder-file.js";
import { SETTINGS } from "../config/settings.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { readText, requirePrivate } from "../files/files.js";
import type { Io } from "../io.js";
import type { Output } from "../output.js";
import { type Binding, checkedOrigin, type FoundSecrets, originOf } from "./origin-rule.js";
import { ownerInShort, storedSecrets } from "./stored-secrets.js";

/** Names the origin that HOOKPROOF_SECRET, or the file of HOOKPROOF_SECRET_FILE, may sign for. */
export const ORIGIN_VARIABLE = "HOOKPROOF_SECRET_ORIGIN";

/**
 * The secrets of a command: flag, environment, the profile's files, the profile's stored secret. `local`, a running
 * listener's own, comes before a profile's that is for another target, or where there is none; undefined when there is
 * none at all.
 */
export async function findSecrets(
  { args, io, out, config }: Pick<Context, "args" | "io" | "out" | "config">,
  local?: FoundSecrets,
): Promise<FoundSecrets | undefined> {
  if (args.isGiven("secret-file"))
    return { ...(await fromFiles(io, out, config, !ofScheme(args))), binding: { kind: "typed" } };
  const binding = environmentBinding(io);
  // A secret of the environment for another origin must not replace a local listener's own.
  const isForLocal =
    binding.kind === "environment" || local === undefined || sameBinding(binding, local.binding);
  if (io.env.HOOKPROOF_SECRET && isForLocal) {
    const secret = io.env.HOOKPROOF_SECRET;
    if (secret.includes("\uFFFD"))
      (await import("../input/given-text.js")).requireReadable(secret, "HOOKPROOF_SECRET");
    if (!ofScheme(args)) for (const warning of secretWarnings(secret)) out.warn(warning);
    const fingerprint = secretFingerprint(secret);
    return { secrets: [secret], credential: { kind: "environment", fingerprint }, binding };
  }
  const files = config.find("secretFiles");
  const isFromEnvironment = files?.origin === SETTINGS.secretFiles.env;
  if (isFromEnvironment && isForLocal)
    return { ...(await fromFiles(io, out, config, !ofScheme(args))), binding };
  const own = await profileSecrets({ args, io, out, config }, !ofScheme(args), local);
  if (!local || !own || !sameBinding(own.binding, local.binding)) return local ?? own;
  if (!own.secrets.some((one) => local.secrets.includes(one))) {
    const [ours, theirs] = [own, local].map((found) => found.secrets.map(secretFingerprint).join("…, "));
    out.warn(
      `The secret of the profile (${ours}…) signs; the listener that runs there has another one (${theirs}…).`,
    );
  }
  return own;
}

/**
 * What the profile has: the secrets of its files, or the stored one.
 *
 * @param local a listener's own secret: files of a profile with another target are not read next to it
 */
async function profileSecrets(
  { args, io, out, config }: Pick<Context, "args" | "io" | "out" | "config">,
  warns: boolean,
  local: FoundSecrets | undefined,
): Promise<FoundSecrets | undefined> {
  const files = config.find("secretFiles");
  if (files && files.origin !== SETTINGS.secretFiles.env) {
    const origin = originOf(config.ownText("target"));
    const binding: Binding = origin === undefined ? { kind: "environment" } : { kind: "origin", origin };
    if (local && !sameBinding(binding, local.binding)) return undefined;
    requireInside(config, "secretFiles", {
      code: "SECRET_FILE_OUTSIDE",
      what: "secret file",
      flag: "--secret-file",
    });
    return { ...(await fromFiles(io, out, config, warns)), binding };
  }
  const stored = storedSecrets(io, args, config.owner);
  if (stored === undefined) return undefined;
  const { origin } = stored;
  return {
    secrets: stored.secrets,
    credential: { kind: "profile", ...config.owner },
    binding: origin === undefined ? { kind: "none" } : { kind: "origin", origin },
  };
}

function environmentBinding({ env }: Io): Binding {
  const origin = env[ORIGIN_VARIABLE];
  return origin
    ? { kind: "origin", origin: checkedOrigin(origin, ORIGIN_VARIABLE) }
    : { kind: "environment" };
}

function sameBinding(one: Binding, other: Binding): boolean {
  return one.kind === "origin" && other.kind === "origin" && one.origin === other.origin;
}

async function fromFiles(
  io: Io,
  out: Output,
  config: Config,
  warns: boolean,
): Promise<Pick<FoundSecrets, "secrets" | "credential">> {
  const files = config.texts("secretFiles");
  return {
    secrets: await readSecrets(io, out, files, warns),
    credential: { kind: "secret-files", files: files.map(absolute) },
  };
}

function absolute(file: string): string {
  return file === "-" ? file : resolve(file);
}

/** Whether secrets are of another scheme, whose own form the warnings would take for a mistake. */
function ofScheme(args: Args): boolean {
  return args.text("scheme") !== undefined;
}

/** The secrets in files; `-` is standard input. `warns` of what looks wrong about them in the default scheme. */
export async function readSecrets(
  io: Io,
  out: Output,
  files: readonly string[],
  warns = true,
): Promise<string[]> {
  if (files.filter((file) => file === "-").length > 1)
    throw usageError("--secret-file - can be given once: there is one standard input.");
  const secrets: string[] = [];
  for (const file of files) secrets.push(await readSecret(io, file));
  if (warns) for (const warning of secrets.flatMap(secretWarnings)) out.warn(warning);
  return secrets;
}

async function readSecret(io: Io, file: string): Promise<string> {
  if (file !== "-") requirePrivate(file, ", or give it with --secret-file - or HOOKPROOF_SECRET");
  const text = await readText(io, file);
  // Editors and echo end a file with one newline; anything further would be part of the key.
  const secret = text.replace(/\r?\n$/, "");
  if (secret === "")
    throw new CliError(
      EXIT.setup,
      "SECRET_INVALID",
      `The secret in ${file === "-" ? "standard input" : file} is empty.`,
    );
  return secret;
}

/** Where a secret came from, in the same words at every surface: an option, a variable, a setting, a profile. */
export function sourceOf({ credential, binding }: FoundSecrets, config: Config): string | undefined {
  if (credential.kind === "profile")
    return ownerInShort(credential, binding.kind === "origin" ? binding.origin : undefined);
  if (credential.kind === "environment") return "HOOKPROOF_SECRET";
  if (credential.kind !== "secret-files") return undefined;
  // A replay may sign with the files of then.
  const isSet = `${config.texts("secretFiles").map(absolute)}` === `${credential.files}`;
  return isSet ? config.find("secretFiles")?.origin : undefined;
}
