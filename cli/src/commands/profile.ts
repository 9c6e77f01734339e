// The commands that keep profiles of targets and credentials.
import { relative, resolve } from "node:path";
import { secretFingerprint } from "hookproof";
import type { Args, Command, Flag } from "../command.js";
import { foundSettings, knownProfiles, projectFile } from "../config/config.js";
import { checkProfileName, editConfig } from "../config/config-file.js";
import { nextStep } from "../config/next-step.js";
import { isAddress, RETRIES, type SettingValue, type SettingValues } from "../config/settings.js";
import { checkedUrl, storableTarget } from "../credentials/checked-url.js";
import { CREDENTIAL_FLAGS, REACH_FLAGS, SIGNING_FLAGS } from "../credentials/flags.js";
import { originOf } from "../credentials/origin-rule.js";
import { beforeStored, shownFingerprints } from "../credentials/signing-secret.js";
import { type SecretOwner, storedSecrets, storeSecrets } from "../credentials/stored-secrets.js";
import { CliError, didYouMean, EXIT, usageError } from "../failure.js";
import type { Io } from "../io.js";
import {
  configuredScheme,
  SCHEME_EXAMPLES,
  SCHEME_FLAGS,
  schemeOf,
  schemeSettings,
} from "../schemes/chosen-scheme.js";

/** The flag for which of the two files is changed. */
const EDIT_FLAGS = {
  user: { type: "boolean", describe: "in the user's own file, even where the project has one" },
} as const satisfies Record<string, Flag>;

export const profileList: Command = {
  name: "profile list",
  details: "The current profile is marked.",
  flags: {},
  examples: [
    ["hookproof profile list", "names and targets"],
    ["hookproof profile list --json", "the same for a script"],
  ],
  exits: [[3, "a configuration file cannot be used"]],
  acceptsNewProfile: true,
  async run({ args, out, config }) {
    const profiles = knownProfiles(config.files).map((name) => ({
      name,
      current: name === config.profile.name,
      target: config.withProfile(name).text("target") ?? null,
    }));
    out.document({ type: "profiles", ok: true, profiles });
    for (const { name, current, target } of profiles)
      out.line(`${current ? "*" : " "} ${name.padEnd(16)} ${target ?? "(no target)"}`.trimEnd());
    if (profiles.length === 0)
      out.note(
        `There are no profiles yet. Make one with: ${nextStep(args, "hookproof profile add staging --target <url>")}`,
      );
    return EXIT.ok;
  },
};

export const profileShow: Command = {
  name: "profile show",
  details: "Includes the fingerprints of the secrets that sign, and of a stored one that waits behind them.",
  positionals: [
    { name: "name", required: false, describe: "the one in use by default", completes: "profile" },
  ],
  flags: {},
  examples: [
    ["hookproof profile show", "the profile in use"],
    ["hookproof profile show staging --json", "another, for a script"],
  ],
  exits: [[3, "the profile is unknown"]],
  async run({ args, io, out, config: current }) {
    const given = args.text("name");
    const config = given === undefined ? current : current.withProfile(given);
    config.requireKnownProfile();
    const { name } = config.profile;
    const settings = foundSettings(config);
    const stored = storedSecrets(io, args, config.owner);
    const fingerprints = (stored?.secrets ?? []).map(secretFingerprint);
    const first = await beforeStored({ args, io, out, config });
    out.document({
      type: "profile",
      ok: true,
      name,
      settings: Object.fromEntries(settings.map((setting) => [setting.name, setting.found.value])),
      storedSecrets: fingerprints,
      secretOrigin: stored?.origin ?? null,
      ...(first ? { signingSecrets: first.secrets, signingSecretsFrom: first.from } : {}),
    });
    out.line(name);
    for (const setting of settings)
      out.line(`  ${setting.name.padEnd(12)} ${[setting.found.value].flat().join(", ")}`);
    if (first) out.line(`  ${"secret".padEnd(12)} ${shownFingerprints(first.secrets)}  (${first.from})`);
    if (!first || stored)
      out.line(
        `  ${(first ? "stored" : "secret").padEnd(12)} ${stored ? shownFingerprints(fingerprints) : "(none stored)"}${first ? `  (not used: ${first.from} comes first)` : ""}`,
      );
    if (stored && !first) out.line(`  ${"signs for".padEnd(12)} ${stored.origin ?? "(no target yet)"}`);
    return EXIT.ok;
  },
};

export const profileAdd: Command = {
  name: "profile add",
  details: "A profile holds references only; hookproof secret set stores its secret.",
  positionals: [
    { name: "name", required: true, describe: "letters, digits, . _ and -", completes: "profile" },
  ],
  flags: {
    target: { type: "string", value: "<url|:port>", describe: "the listener's URL, or :4400" },
    ...CREDENTIAL_FLAGS,
    kid: SIGNING_FLAGS.kid,
    ...SCHEME_FLAGS,
    jwks: {
      type: "string",
      value: "<url|file>",
      describe: "the sender's key set, for verify and listen",
      completes: "file",
    },
    ca: { type: "string", value: "<file>", describe: "a CA certificate in PEM to trust", completes: "file" },
    "plain-http": REACH_FLAGS["plain-http"],
    cert: REACH_FLAGS.cert,
    "key-file": REACH_FLAGS["key-file"],
    "key-passphrase-file": REACH_FLAGS["key-passphrase-file"],
    "header-file": {
      type: "string",
      value: "<file>",
      repeatable: true,
      describe: "a file with header lines to send to the target; it is read when something is sent",
      completes: "file",
    },
    retries: { type: "number", value: "<n>", range: RETRIES, describe: "attempts after the first" },
    ...EDIT_FLAGS,
  },
  examples: [
    [
      "hookproof profile add staging --target https://tenant.example.com/api/v1/webhooks/incoming/lst_1",
      "then: hookproof secret set --profile staging",
    ],
    [
      "hookproof profile add tokens --target :4400 --method jwt --key release-key",
      "signs with a key of the store",
    ],
    SCHEME_EXAMPLES.profile,
  ],
  exits: [[3, "a configuration file cannot be used"]],
  acceptsNewProfile: true,
  createsConfig: true,
  async run({ args, io, out, config }) {
    const name = checkProfileName(args.text("name") ?? "");
    schemeOf(args, configuredScheme(config.withProfile(name))); // refuses a flag that the scheme does not have
    const edited = editConfig(config, args.flag("user"));
    const added = await settingsOf(args, edited.path);
    if (added.plainHttp !== undefined)
      (await import("../send/reach.js")).checkedPlainHttp(args.texts("plain-http"));
    if (Object.keys(added).length === 0)
      throw usageError(
        "A profile needs at least one setting.",
        nextStep(args, `hookproof profile add ${name} --target <url>`),
      );
    const { profiles } = edited;
    const settings = { ...profiles[name], ...added };
    await edited.save({ ...edited.document, profiles: { ...profiles, [name]: settings } });
    const owner =
      edited.path === config.userPath
        ? { profile: name }
        : { profile: name, project: projectFile(edited.path) };
    const note = await bindSecret(io, args, owner, originOf(args.text("target")));
    out.document({ type: "profile", ok: true, name, path: edited.path, settings: added });
    out.line(`${name}  ${edited.path}`);
    if (note !== undefined) out.warn(note);
    const use = nextStep(args, `hookproof profile use ${name}`);
    const hasProof = settings.secretFiles !== undefined || settings.key !== undefined;
    out.note(
      hasProof
        ? `next: ${use}`
        : `next: ${nextStep(args, `hookproof secret set --profile ${name}`)}      or: ${use}`,
    );
    return EXIT.ok;
  },
};

/** Binds a secret that was stored without a target to this one; a secret of another target is not changed. */
async function bindSecret(
  io: Io,
  args: Args,
  owner: SecretOwner,
  origin: string | undefined,
): Promise<string | undefined> {
  const stored = origin === undefined ? undefined : storedSecrets(io, args, owner);
  if (!stored || stored.origin === origin) return undefined;
  if (stored.origin === undefined) {
    await storeSecrets(io, owner, { ...stored, origin });
    return undefined;
  }
  const fingerprints = stored.secrets.map((secret) => `${secretFingerprint(secret)}…`).join(", ");
  return `The stored secret ${fingerprints} signs for ${stored.origin}, not for ${origin}.`;
}

/** The settings of the given flags; paths are relative to the configuration file. */
async function settingsOf(args: Args, configPath: string): Promise<SettingValues> {
  const typed = args.text("target");
  const target = typed === undefined ? undefined : await storableTarget(typed, "--target");
  const baseUrl = args.isGiven("base-url") ? args.text("base-url") : undefined;
  if (baseUrl !== undefined) await checkedUrl(baseUrl, "--base-url");
  if (args.texts("secret-file").includes("-"))
    throw usageError(
      "A profile cannot refer to standard input.",
      `Store the secret with: ${nextStep(args, "hookproof secret set --profile <name>")}`,
    );
  const own = (flag: string) => (args.isGiven(flag) ? args.texts(flag)[0] : undefined);
  const placed = (path: string | undefined) =>
    path === undefined ? undefined : relative(resolve(configPath, ".."), resolve(path)) || ".";
  const retries = own("retries");
  const values: Record<string, SettingValue | undefined> = {
    target,
    method: own("method"),
    secretFiles: args.isGiven("secret-file")
      ? args.texts("secret-file").map((file) => placed(file) ?? file)
      : undefined,
    key: /[/\\]|\.(?:json|jwk)$/.test(own("key") ?? "") ? placed(own("key")) : own("key"),
    kid: own("kid"),
    store: placed(own("store")),
    baseUrl,
    ca: placed(own("ca")),
    cert: placed(own("cert")),
    keyFile: placed(own("key-file")),
    keyPassphraseFile: placed(own("key-passphrase-file")),
    headerFiles: args.isGiven("header-file")
      ? args.texts("header-file").map((file) => placed(file) ?? file)
      : undefined,
    scheme: own("scheme"),
    plainHttp: args.isGiven("plain-http") ? args.texts("plain-http") : undefined,
    ...schemeSettings(own),
    jwks: isAddress("jwks", own("jwks") ?? "") ? own("jwks") : placed(own("jwks")),
    timeout: own("timeout"),
    retries: retries === undefined ? undefined : Number(retries),
  };
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
  return given as SettingValues;
}

export const profileUse: Command = {
  name: "profile use",
  positionals: [{ name: "name", required: true, describe: "a profile", completes: "profile" }],
  flags: EDIT_FLAGS,
  examples: [
    ["hookproof profile use staging", "hookproof send then goes there"],
    ["hookproof profile use local --user", "in the user's own file; a project's file comes before it"],
  ],
  exits: [[3, "the profile is unknown"]],
  acceptsNewProfile: true,
  async run({ args, out, config }) {
    const chosen = config.withProfile(args.text("name") ?? "");
    chosen.requireKnownProfile();
    const { name } = chosen.profile;
    const edited = editConfig(config, args.flag("user"));
    const { $schema, ...others } = edited.document;
    await edited.save({ ...($schema === undefined ? {} : { $schema }), ...others, profile: name });
    out.document({ type: "profile", ok: true, name, path: edited.path });
    out.line(`${name}  ${edited.path}`);
    const project = config.files.find(({ path }) => path === config.projectPath);
    if (edited.path !== config.projectPath && project?.profile !== undefined)
      out.warn(`${project.path} names ${project.profile} and comes first.`);
    return EXIT.ok;
  },
};

export const profileRemove: Command = {
  name: "profile remove",
  details: "Its stored secret stays until hookproof secret remove.",
  positionals: [{ name: "name", required: true, describe: "a profile", completes: "profile" }],
  flags: EDIT_FLAGS,
  examples: [
    ["hookproof profile remove staging", "from the project's file, or the user's where there is none"],
    ["hookproof profile remove staging --user", "from the user's own file"],
  ],
  exits: [[3, "the profile is unknown"]],
  acceptsNewProfile: true,
  async run({ args, out, config }) {
    const name = args.text("name") ?? "";
    const edited = editConfig(config, args.flag("user"));
    const { [name]: removed, ...profiles } = edited.profiles;
    if (removed === undefined)
      throw new CliError(
        EXIT.setup,
        "PROFILE_UNKNOWN",
        `${edited.path} has no profile ${JSON.stringify(name)}.`,
        {
          hint: didYouMean(name, Object.keys(profiles)) ?? nextStep(args, "hookproof profile list"),
        },
      );
    const { profile, ...others } = edited.document;
    await edited.save({
      ...others,
      ...(profile === undefined || profile === name ? {} : { profile }),
      profiles,
    });
    out.document({ type: "profile", ok: true, name, path: edited.path, removed: true });
    out.line(`${name} removed from ${edited.path}`);
    out.note(
      `Its stored secret, if any, goes with: ${nextStep(args, `hookproof secret remove --profile ${name}`)}`,
    );
    return EXIT.ok;
  },
};
