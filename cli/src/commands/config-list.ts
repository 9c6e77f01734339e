import type { Command } from "../command.js";
import { foundSettings } from "../config/config.js";
import { EXIT } from "../failure.js";

export const configList: Command = {
  name: "config list",
  describe: "Every setting that has a value, as flags, environment and files have it together.",
  flags: {},
  examples: [
    ["hookproof config list", "for the profile that is used by default"],
    ["hookproof config list --profile staging --json", "for another, on one line of JSON"],
  ],
  exits: [[3, "a file cannot be used, or the profile is unknown"]],
  async run({ out, config }) {
    const settings = foundSettings(config);
    out.document({
      type: "config",
      ok: true,
      profile: config.profile.name,
      settings: Object.fromEntries(settings.map(({ name, found }) => [name, found.value])),
    });
    out.line(`${"profile".padEnd(12)} ${config.profile.name}`);
    for (const { name, found } of settings) out.line(`${name.padEnd(12)} ${[found.value].flat().join(", ")}`);
    return EXIT.ok;
  },
};
