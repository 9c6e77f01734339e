// Puts flags, environment and files in their order and says where each value comes from.
import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { hasStoredSecret, type SecretOwner } from "../credentials/stored-secrets.js";
import { CliError, didYouMean, EXIT } from "../failure.js";
import { configFolder, requirePrivate, unreadable } from "../files/files.js";
import type { Io } from "../io.js";
import { type ConfigFile, checkProfileName, readAtOnce, readConfigFile } from "./config-file.js";
import { nextStep } from "./next-step.js";
import {
  anchored,
  fromEnvironment,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  type SettingRule,
  type SettingValue,
  type SettingValues,
  TOGETHER,
  wrongValue,
} from "./settings.js";

/** A value and where it comes from, in words. */
interface Origin {
  readonly value: SettingValue;
  readonly origin: string;
  /** The configuration file that says it; undefined for flag, variable and default. */
  readonly file?: string;
}

/** The settings of one profile, from flags, environment and files. */
export interface Config {
  readonly profile: { readonly name: string; readonly origin: string; readonly isNamed: boolean };
  /** The files that were read, the nearest first. */
  readonly files: readonly ConfigFile[];
  readonly projectPath: string;
  /** Whether --config or HOOKPROOF_CONFIG names the project's file. */
  readonly isProjectNamed: boolean;
  /** Undefined where there is no home folder. */
  readonly userPath: string | undefined;
  /** The value of a setting; undefined when nothing says it. */
  find(name: SettingName): Origin | undefined;
  text(name: SettingName): string | undefined;
  /** A setting's value in the files alone, without flags and environment. */
  ownText(name: SettingName): string | undefined;
  /** The owner of the profile's stored secret: the project whose file names the profile's target, or the user. */
  readonly owner: SecretOwner;
  texts(name: SettingName): readonly string[];
  /** The same configuration as another profile sees it. */
  withProfile(name: string): Config;
  /** Refuses a profile that no file has and that has no stored secret. */
  requireKnownProfile(): void;
}

/** The flags that take part in the configuration. */
interface ConfigFlags {
  readonly config?: string | undefined;
  readonly profile?: string | undefined;
  /** The file that --config names need not exist. */
  readonly createsConfig?: boolean | undefined;
  /** What the command line itself gives for a flag. */
  given(flag: string): readonly string[];
}

/** The origin of a profile that the target or an argument names. */
const NAMED = "argument";

/** Reads the files and puts flag, environment, project file, user's file and default in their order. */
export function loadConfig(io: Io, flags: ConfigFlags): Config {
  const projectPath = flags.config ?? (io.env.HOOKPROOF_CONFIG || undefined) ?? "hookproof.config.json";
  const userPath = userConfigPath(io);
  const isProjectNamed = flags.config !== undefined || Boolean(io.env.HOOKPROOF_CONFIG);
  const files = [
    readConfigFile(projectPath, { required: isProjectNamed && !flags.createsConfig }),
    userPath === undefined ? undefined : readConfigFile(userPath, { required: false }),
  ].filter((file) => file !== undefined);
  return configFor(io, flags, { projectPath, isProjectNamed, userPath, files }, profileOf(io, flags, files));
}

function userConfigPath(io: Io): string | undefined {
  try {
    return join(configFolder(io), "config.json");
  } catch (error) {
    // Only stored data needs a home folder; other commands work without the user's file.
    if (error instanceof CliError && error.code === "HOME_MISSING") return undefined;
    throw error;
  }
}

function profileOf(io: Io, flags: ConfigFlags, files: readonly ConfigFile[]): Config["profile"] {
  if (flags.profile !== undefined)
    return { name: checkProfileName(flags.profile), origin: "--profile", isNamed: true };
  if (io.env.HOOKPROOF_PROFILE)
    return {
      name: checkProfileName(io.env.HOOKPROOF_PROFILE),
      origin: "HOOKPROOF_PROFILE",
      isNamed: true,
    };
  const file = files.find(({ profile }) => profile !== undefined);
  return file?.profile === undefined
    ? { name: "default", origin: "default", isNamed: false }
    : { name: file.profile, origin: file.path, isNamed: true };
}

function configFor(
  io: Io,
  flags: ConfigFlags,
  places: Pick<Config, "files" | "projectPath" | "isProjectNamed" | "userPath">,
  profile: Config["profile"],
): Config {
  const leading = leadingFile(places.files, profile.name);
  const inFiles = (name: SettingName) =>
    fromFiles(
      name,
      SETTINGS[name],
      TOGETHER.has(name) ? (leading ? [leading] : []) : places.files,
      profile.name,
    );
  const owner = ownerOf(places, profile.name, leading);
  function find(name: SettingName): Origin | undefined {
    const rule: SettingRule = SETTINGS[name];
    return (
      fromFlag(rule, flags) ??
      fromVariable(rule, io) ??
      inFiles(name) ??
      (rule.fallback === undefined ? undefined : { value: rule.fallback, origin: "default" })
    );
  }
  const texts = (name: SettingName) => {
    const found = find(name)?.value;
    return found === undefined ? [] : [found].flat().map(String);
  };
  return {
    ...places,
    profile,
    find,
    texts,
    text: (name) => texts(name)[0],
    ownText: (name) => {
      const value = inFiles(name)?.value;
      return value === undefined ? undefined : String([value].flat()[0]);
    },
    owner,
    withProfile: (name) =>
      configFor(io, flags, places, { name: checkProfileName(name), origin: NAMED, isNamed: true }),
    requireKnownProfile() {
      const known = knownProfiles(places.files);
      if (!profile.isNamed || known.includes(profile.name) || hasStoredSecret(io, owner)) return;
      const given = {
        isGiven: (flag: string) => flag === "config" && flags.config !== undefined,
        texts: () => [flags.config ?? ""],
      };
      const add = nextStep(given, `hookproof profile add ${profile.name} --target <url>`);
      const from = profile.origin === NAMED ? "" : ` (${profile.origin})`;
      throw new CliError(
        EXIT.setup,
        "PROFILE_UNKNOWN",
        `Unknown profile ${JSON.stringify(profile.name)}${from}.`,
        {
          hint:
            didYouMean(profile.name, known) ??
            `Add it with: ${add}${profile.name.includes(".") ? ". A URL begins with https://, and :4400 is the listener of this machine." : ""}`,
        },
      );
    },
  };
}

/** The file that decides a profile's target and credential: the nearest one that sets any of them. */
function leadingFile(files: readonly ConfigFile[], profile: string): ConfigFile | undefined {
  const says = (values: SettingValues | undefined) =>
    Object.keys(values ?? {}).some((name) => TOGETHER.has(name));
  return (
    files.find(({ profiles }) => says(profiles[profile])) ??
    files.find(({ profiles }) => Object.hasOwn(profiles, profile)) ??
    files.find(({ shared }) => says(shared))
  );
}

/** A project's secrets are kept apart from the user's own and from every other project's. */
function ownerOf(
  { files, projectPath, userPath }: Pick<Config, "files" | "projectPath" | "userPath">,
  profile: string,
  leading: ConfigFile | undefined,
): SecretOwner {
  const isUsers = (path: string) => userPath !== undefined && resolve(path) === resolve(userPath);
  const file = leading ?? files.find(({ path }) => path === projectPath);
  return file === undefined || isUsers(file.path)
    ? { profile }
    : { profile, project: projectFile(file.path) };
}

/** The real path of a project's file, which need not be there yet. */
export function projectFile(path: string): string {
  const absolute = resolve(path);
  try {
    return join(realpathSync(dirname(absolute)), basename(absolute));
  } catch {
    return absolute;
  }
}

function fromFlag(rule: SettingRule, flags: ConfigFlags): Origin | undefined {
  const given = rule.flag === undefined ? [] : flags.given(rule.flag);
  if (given[0] === undefined) return undefined;
  const isList = rule.kind === "paths" || rule.kind === "texts";
  return { value: isList ? given : given[0], origin: `--${rule.flag}` };
}

function fromVariable(rule: SettingRule, { env }: Io): Origin | undefined {
  const [variable, text] = variableOf(rule, env);
  if (!text) return undefined;
  const value = fromEnvironment(rule, text);
  const reason = wrongValue(rule, value);
  if (reason !== undefined)
    throw new CliError(EXIT.setup, "CONFIG_INVALID", `${variable} ${reason}, not ${JSON.stringify(text)}.`);
  return { value: value as SettingValue, origin: variable };
}

/** The variable that gives a setting, and its text; that of `envFile` is a file's, as orchestrators mount secrets. */
function variableOf({ env: name, envFile }: SettingRule, env: Io["env"]): [string, string | undefined] {
  const file = envFile && env[envFile];
  if (!file || !envFile) return [name, env[name]];
  if (env[name])
    throw new CliError(EXIT.setup, "CONFIG_INVALID", `${name} and ${envFile} exclude each other.`);
  requirePrivate(file);
  const text = textOfFile(file).replace(/\r?\n$/, "");
  if (text === "") throw new CliError(EXIT.setup, "CONFIG_INVALID", `The file of ${envFile} is empty.`);
  return [envFile, text];
}

function textOfFile(file: string): string {
  try {
    return readAtOnce(file);
  } catch (error) {
    throw error instanceof CliError ? error : unreadable(file, error);
  }
}

/** A profile's own value comes before what every profile shares; each from the nearest file that has it. */
function fromFiles(
  name: SettingName,
  rule: SettingRule,
  files: readonly ConfigFile[],
  profile: string,
): Origin | undefined {
  const places = [
    ...files.map((file) => ({
      file,
      field: `profiles.${profile}.${name}`,
      value: file.profiles[profile]?.[name],
    })),
    ...files.map((file) => ({ file, field: name, value: file.shared[name] })),
  ];
  for (const { file, field, value } of places)
    if (value !== undefined)
      return {
        value: anchored(rule, value, resolve(file.path)),
        origin: `${file.path}: ${field}`,
        file: file.path,
      };
  return undefined;
}

/** The profiles of all files, by name. */
export function knownProfiles(files: readonly ConfigFile[]): string[] {
  return [...new Set(files.flatMap(({ profiles }) => Object.keys(profiles)))].sort();
}

/** Every setting that has a value, to be shown: without the password of a database. */
export function foundSettings(config: Config): { name: SettingName; found: Origin }[] {
  return SETTING_NAMES.flatMap((name) => {
    const found = config.find(name);
    return found === undefined ? [] : [{ name, found: { ...found, value: shownValue(found.value) } }];
  });
}

/** A value as it may be shown: without the password of a database. */
export function shownValue(value: SettingValue): SettingValue {
  if (typeof value !== "string" || !URL.canParse(value)) return value;
  const { password, protocol } = new URL(value);
  if (password === "" || !/^postgres(?:ql)?:$/.test(protocol)) return value;
  return Object.assign(new URL(value), { password: "redacted" }).href;
}
