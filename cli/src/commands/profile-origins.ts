// The commands that name the configuration files and explain where each value comes from.
import type { Command } from "../command.js";
import { shownValue } from "../config/config.js";
import { isPresent } from "../config/config-file.js";
import { SETTING_NAMES, SETTINGS, type SettingName, type SettingRule } from "../config/settings.js";
import { shownFingerprints, signingSecret } from "../credentials/signing-secret.js";
import { didYouMean, EXIT, usageError } from "../failure.js";

export const profilePath: Command = {
  name: "profile path",
  details: "The nearest first, and whether they exist.",
  flags: {},
  examples: [
    ["hookproof profile path", "both places"],
    ["hookproof profile path --json", "the same for a script"],
  ],
  exits: [[3, "a file cannot be used"]],
  async run({ out, config }) {
    const files = [
      { kind: "project", path: config.projectPath },
      ...(config.userPath === undefined ? [] : [{ kind: "user", path: config.userPath }]),
    ].map((file) => ({ ...file, exists: isPresent(file.path) }));
    out.document({ type: "profile-files", ok: true, files });
    for (const { kind, path, exists } of files)
      out.line(`${kind.padEnd(8)} ${path}${exists ? "" : "  (missing)"}`);
    return EXIT.ok;
  },
};

export const profileExplain: Command = {
  name: "profile explain",
  details:
    "From a flag, a HOOKPROOF_* variable, ./hookproof.config.json, the user's file, or the default: the first that has a value counts.",
  positionals: [
    { name: "setting", required: false, describe: "one setting; all by default", choices: SETTING_NAMES },
  ],
  flags: {},
  examples: [
    ["hookproof profile explain", "all settings with their origins"],
    ["HOOKPROOF_TIMEOUT=2s hookproof profile explain timeout", "one of them, overruled by the environment"],
  ],
  exits: [[3, "a file cannot be used, or the profile is unknown"]],
  showsAll: true,
  async run({ args, io, out, config }) {
    const wanted = args.text("setting");
    if (wanted !== undefined && !Object.hasOwn(SETTINGS, wanted))
      throw usageError(`Unknown setting ${JSON.stringify(wanted)}.`, didYouMean(wanted, SETTING_NAMES));
    const names = wanted === undefined ? SETTING_NAMES : [wanted as SettingName];
    const settings = names.map((name) => {
      const found = config.find(name);
      return found
        ? { name, value: shownValue(found.value), origin: found.origin }
        : { name, value: null, origin: "not set" };
    });
    const { name: profile, origin: profileOrigin } = config.profile;
    const secret = wanted === undefined ? await signingSecret({ args, io, out, config }) : undefined;
    out.document({
      type: "profile-origins",
      ok: true,
      profile,
      profileOrigin,
      settings,
      ...(secret && { secret: { value: secret.secrets, origin: secret.from } }),
    });
    if (wanted === undefined) out.line(`${"profile".padEnd(12)} ${profile}  (${profileOrigin})`);
    for (const { name, value, origin } of settings) {
      const rule: SettingRule = SETTINGS[name];
      out.line(
        value === null
          ? `${name.padEnd(12)} (not set; ${rule.flag ? `--${rule.flag}, ` : ""}${rule.env})`
          : `${name.padEnd(12)} ${[value].flat().join(", ")}  (${origin})`,
      );
    }
    if (secret) out.line(`${"secret".padEnd(12)} ${shownFingerprints(secret.secrets)}  (${secret.from})`);
    else if (wanted === undefined && config.text("method") !== "jwt")
      out.line(`${"secret".padEnd(12)} (not set; --secret-file, HOOKPROOF_SECRET)`);
    return EXIT.ok;
  },
};
