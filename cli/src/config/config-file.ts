// Reads and writes configuration files, one for a project and one for a user.
import { readFileSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { CliError, didYouMean, EXIT, usageError } from "../failure.js";
import { isLink, readBytes, reasonOf, writePrivateFile } from "../files/files.js";
import { jsonMistake } from "../input/json-mistake.js";
import { textOf } from "../input/text.js";
import { SETTING_NAMES, SETTINGS, type SettingName, type SettingValues, wrongValue } from "./settings.js";

/** A configuration file as it was read and found right. */
export interface ConfigFile {
  readonly path: string;
  /** The profile that is used when none is named. */
  readonly profile?: string;
  /** What every profile shares. */
  readonly shared: SettingValues;
  readonly profiles: Readonly<Record<string, SettingValues>>;
}

/** What is written to a configuration file. */
export type ConfigDocument = SettingValues & {
  readonly $schema?: string;
  readonly profile?: string;
  readonly profiles?: Readonly<Record<string, SettingValues>>;
};

const MAX_BYTES = 4 * 1024 * 1024;
/** What may name a profile: it is part of a file's name. */
export const PROFILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const SECRETS = /^(?:secret|secrets|password|token|privatekey|private_key|passphrase)$/i;

/** A profile's name, or a refusal. */
export function checkProfileName(name: string): string {
  if (PROFILE_NAME.test(name)) return name;
  throw usageError(
    `${JSON.stringify(name)} cannot name a profile: use letters, digits, ".", "_" and "-", 64 at most.`,
  );
}

/** What pipes gave that the user has named, or why nothing: settings are looked up more than once, and a pipe gives nothing again. */
const pipes = new Map<string, Buffer | CliError>();

/** Reads the pipes among the files that the user has named, such as `<(command)`; those in a folder are not waited for. */
export async function readPipes(paths: readonly (string | false | undefined)[]): Promise<void> {
  for (const path of paths)
    if (path && !pipes.has(path) && isPipe(path))
      pipes.set(path, await readBytes(path).catch((error: CliError) => error));
}

function isPipe(path: string): boolean {
  try {
    return statSync(path).isFIFO();
  } catch {
    return false; // the reader says why
  }
}

/** The text of a file, which anybody may have put there: a pipe would be waited for, and a device need not end. */
export function readAtOnce(path: string): string {
  const kept = pipes.get(path);
  if (kept instanceof CliError) throw kept;
  if (kept) return textOf(kept, path);
  const stats = statSync(path);
  if (stats.isFIFO() || stats.isCharacterDevice()) throw Object.assign(new Error(), { code: "ENXIO" });
  if (stats.size > MAX_BYTES) throw Object.assign(new Error(), { code: "EFBIG" });
  return textOf(readFileSync(path), path);
}

/** Reads a configuration file; undefined when there is none and none was asked for. */
export function readConfigFile(
  path: string,
  { required }: { required: boolean },
): (ConfigFile & { readonly document: ConfigDocument }) | undefined {
  let text: string;
  try {
    text = readAtOnce(path);
  } catch (error) {
    if (error instanceof CliError)
      throw error === pipes.get(path) ? new CliError(EXIT.setup, "CONFIG_UNREADABLE", error.message) : error;
    const { code } = error as NodeJS.ErrnoException;
    if (!required && (code === "ENOENT" || code === "ENOTDIR")) return undefined;
    throw new CliError(EXIT.setup, "CONFIG_UNREADABLE", `${path} cannot be read: ${reasonOf(error)}.`, {
      hint: code === "ENOENT" ? "hookproof init writes a configuration." : undefined,
    });
  }
  const document = parsed(path, text);
  const { $schema: _schema, profile, profiles = {}, ...shared } = document;
  return { path, ...(profile === undefined ? {} : { profile }), shared, profiles, document };
}

function parsed(path: string, text: string): ConfigDocument {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid(`${path} is not JSON: ${jsonMistake(text)}.`);
  }
  if (!isObject(value)) throw invalid(`${path} must hold one JSON object.`);
  const { $schema, profile, profiles, ...shared } = value;
  if ($schema !== undefined && typeof $schema !== "string") throw wrong(path, "$schema", "must be a text");
  if (profile !== undefined && !(typeof profile === "string" && PROFILE_NAME.test(profile)))
    throw wrong(path, "profile", "must be the name of a profile");
  checkSettings(path, "", shared, ["$schema", "profile", "profiles"]);
  if (profiles !== undefined && !isObject(profiles))
    throw wrong(path, "profiles", "must be an object, one member a profile");
  for (const [name, settings] of Object.entries(profiles ?? {})) {
    if (!PROFILE_NAME.test(name)) throw wrong(path, `profiles.${name}`, "is not the name of a profile");
    if (!isObject(settings)) throw wrong(path, `profiles.${name}`, "must be an object");
    checkSettings(path, `profiles.${name}.`, settings, []);
  }
  return value as ConfigDocument;
}

function checkSettings(path: string, prefix: string, settings: object, others: readonly string[]): void {
  for (const [name, value] of Object.entries(settings)) {
    if (SECRETS.test(name))
      throw wrong(
        path,
        `${prefix}${name}`,
        "does not belong into a configuration, which holds references only",
        "Store a secret with: hookproof secret set. Or name its file in secretFiles.",
      );
    if (!Object.hasOwn(SETTINGS, name))
      throw wrong(
        path,
        `${prefix}${name}`,
        "is not a setting",
        didYouMean(name, [...SETTING_NAMES, ...others]),
      );
    const reason = wrongValue(SETTINGS[name as SettingName], value);
    if (reason !== undefined) throw wrong(path, `${prefix}${name}`, reason);
  }
}

/** Writes a configuration. It holds no secrets, but only its owner can read the user's own file. */
export async function writeConfigFile(
  path: string,
  document: ConfigDocument,
  { isPrivate }: { isPrivate: boolean },
): Promise<void> {
  const text = `${JSON.stringify(document, null, 2)}\n`;
  try {
    if (isLink(path) && !isPresent(path))
      throw new CliError(
        EXIT.setup,
        "CONFIG_UNWRITABLE",
        `${path} cannot be written: it is a link that leads nowhere.`,
        { hint: "Look at who put it there, and remove it." },
      );
    if (isPrivate) await writePrivateFile(path, text);
    else await writeFile(path, text);
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(EXIT.setup, "CONFIG_UNWRITABLE", `${path} cannot be written: ${reasonOf(error)}.`);
  }
}

/** Whether there is something at a path. */
export function isPresent(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function wrong(path: string, field: string, reason: string, hint?: string): CliError {
  return invalid(`${path}: ${field} ${reason}.`, hint);
}

function invalid(message: string, hint?: string): CliError {
  return new CliError(EXIT.setup, "CONFIG_INVALID", message, { hint });
}

/** A configuration file that is about to be changed. */
interface EditedConfig {
  readonly path: string;
  readonly document: ConfigDocument;
  /** Its profiles, empty where there are none. */
  readonly profiles: Readonly<Record<string, SettingValues>>;
  save(document: ConfigDocument): Promise<void>;
}

/** Opens the project's file if there is one, or the user's own. */
export function editConfig(
  {
    projectPath,
    isProjectNamed,
    userPath,
  }: {
    readonly projectPath: string;
    readonly isProjectNamed: boolean;
    readonly userPath: string | undefined;
  },
  user: boolean,
): EditedConfig {
  const isPrivate = user || !(isProjectNamed || isPresent(projectPath));
  const path = isPrivate ? userPath : projectPath;
  if (path === undefined)
    throw new CliError(EXIT.setup, "HOME_MISSING", "There is no home folder for the user's configuration.", {
      hint: "Set HOME or HOOKPROOF_HOME, or start a project's file with: hookproof init",
    });
  const document = readConfigFile(path, { required: false })?.document ?? {};
  return {
    path,
    document,
    profiles: document.profiles ?? {},
    save: (changed) => writeConfigFile(path, changed, { isPrivate }),
  };
}
