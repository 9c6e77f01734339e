import type { Command } from "../command.js";
import { SETTING_NAMES, SETTINGS, type SettingName, type SettingRule } from "../config/settings.js";
import { EXIT, usageError } from "../failure.js";
import { didYouMean } from "../suggest.js";

export const configExplain: Command = {
  name: "config explain",
  describe:
    "Where each setting's value comes from: a flag, a HOOKPROOF_* variable, ./hookproof.config.json, the user's file, or the default, in this order.",
  positionals: [
    { name: "setting", required: false, describe: "one setting; all by default", choices: SETTING_NAMES },
  ],
  flags: {},
  examples: [
    ["hookproof config explain", "all settings with their origins"],
    ["HOOKPROOF_TIMEOUT=2s hookproof config explain timeout", "one of them, overruled by the environment"],
  ],
  exits: [[3, "a file cannot be used, or the profile is unknown"]],
  async run({ args, out, config }) {
    const wanted = args.text("setting");
    if (wanted !== undefined && !Object.hasOwn(SETTINGS, wanted))
      throw usageError(`There is no setting ${JSON.stringify(wanted)}.`, didYouMean(wanted, SETTING_NAMES));
    const names = wanted === undefined ? SETTING_NAMES : [wanted as SettingName];
    const settings = names.map((name) => {
      const { value, origin } = config.find(name) ?? { value: null, origin: "not set" };
      return { name, value, origin };
    });
    const { name: profile, origin: profileOrigin } = config.profile;
    out.document({ type: "config", ok: true, profile, profileOrigin, settings });
    if (wanted === undefined) out.line(`${"profile".padEnd(12)} ${profile}  (${profileOrigin})`);
    for (const { name, value, origin } of settings) {
      const rule: SettingRule = SETTINGS[name];
      out.line(
        value === null
          ? `${name.padEnd(12)} (not set; ${rule.flag ? `--${rule.flag}, ` : ""}${rule.env})`
          : `${name.padEnd(12)} ${[value].flat().join(", ")}  (${origin})`,
      );
    }
    return EXIT.ok;
  },
};
