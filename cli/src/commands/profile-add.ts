import { relative, resolve } from "node:path";
import { secretFingerprint } from "hookproof";
import type { Args, Command } from "../command.js";
import { projectFile } from "../config/config.js";
import { checkProfileName } from "../config/config-file.js";
import { EDIT_FLAGS, editConfig } from "../config/edit-config.js";
import type { SettingValue, SettingValues } from "../config/settings.js";
import { EXIT, usageError } from "../failure.js";
import type { Io } from "../io.js";
import { originOf } from "../origin-rule.js";
import { type SecretOwner, storedSecrets, storeSecrets } from "../stored-secrets.js";
import { CREDENTIAL_FLAGS } from "../target.js";

export const profileAdd: Command = {
  name: "profile add",
  describe:
    "Adds a profile, or changes the settings that are given. It holds references only; a secret goes to the store with hookproof secret set.",
  positionals: [
    { name: "name", required: true, describe: "letters, digits, . _ and -", completes: "profile" },
  ],
  flags: {
    target: { type: "string", value: "<url|:port>", describe: "the listener's URL, or :4400" },
    ...CREDENTIAL_FLAGS,
    ca: { type: "string", value: "<file>", describe: "a CA certificate in PEM to trust", completes: "file" },
    retries: { type: "number", value: "<n>", range: [0, 100], describe: "attempts after the first" },
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
  ],
  exits: [[3, "a configuration file cannot be used"]],
  acceptsNewProfile: true,
  createsConfig: true,
  async run({ args, io, out, config }) {
    const name = checkProfileName(args.text("name") ?? "");
    const edited = editConfig(config, args.flag("user"));
    const added = settingsOf(args, edited.path);
    if (Object.keys(added).length === 0)
      throw usageError(
        "A profile needs at least one setting.",
        `hookproof profile add ${name} --target <url>`,
      );
    const { profiles } = edited;
    await edited.save({
      ...edited.document,
      profiles: { ...profiles, [name]: { ...profiles[name], ...added } },
    });
    const owner =
      edited.path === config.userPath
        ? { profile: name }
        : { profile: name, project: projectFile(edited.path) };
    const note = await bindSecret(io, owner, originOf(args.text("target")));
    out.document({ type: "profile", ok: true, name, path: edited.path, settings: added });
    out.line(`${name}  ${edited.path}`);
    if (note !== undefined) out.warn(note);
    out.note(`next: hookproof secret set --profile ${name}      or: hookproof profile use ${name}`);
    return EXIT.ok;
  },
};

/** A secret that was stored before there was a target is this target's; another target's stays what it is. */
async function bindSecret(
  io: Io,
  owner: SecretOwner,
  origin: string | undefined,
): Promise<string | undefined> {
  const stored = origin === undefined ? undefined : storedSecrets(io, owner);
  if (!stored || stored.origin === origin) return undefined;
  if (stored.origin === undefined) {
    await storeSecrets(io, owner, { ...stored, origin });
    return undefined;
  }
  const fingerprints = stored.secrets.map((secret) => `${secretFingerprint(secret)}…`).join(", ");
  return `The stored secret ${fingerprints} signs for ${stored.origin}, not for ${origin}.`;
}

/** The settings of the flags that were given; file names as the configuration file will see them. */
function settingsOf(args: Args, configPath: string): SettingValues {
  const target = args.text("target");
  if (target !== undefined && !/^:[0-9]{1,5}$|^https?:\/\/[^/]/.test(target))
    throw usageError(
      `--target must be an http or https URL or such as :4400, not ${JSON.stringify(target)}.`,
    );
  if (args.texts("secret-file").includes("-"))
    throw usageError("A profile cannot keep standard input.", "hookproof secret set stores a secret.");
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
    store: placed(own("store")),
    baseUrl: own("base-url"),
    ca: placed(own("ca")),
    timeout: own("timeout"),
    retries: retries === undefined ? undefined : Number(retries),
  };
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
  return given as SettingValues;
}
