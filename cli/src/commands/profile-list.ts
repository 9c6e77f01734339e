import type { Command } from "../command.js";
import { knownProfiles } from "../config/config.js";
import { EXIT } from "../failure.js";

export const profileList: Command = {
  name: "profile list",
  describe: "The profiles of all configuration files; the one in use is marked.",
  flags: {},
  examples: [
    ["hookproof profile list", "names and targets"],
    ["hookproof profile list --json", "the same for a script"],
  ],
  exits: [[3, "a configuration file cannot be used"]],
  acceptsNewProfile: true,
  async run({ out, config }) {
    const profiles = knownProfiles(config.files).map((name) => ({
      name,
      current: name === config.profile.name,
      target: config.withProfile(name).text("target") ?? null,
    }));
    out.document({ type: "profiles", ok: true, profiles });
    for (const { name, current, target } of profiles)
      out.line(`${current ? "*" : " "} ${name.padEnd(16)} ${target ?? "(no target)"}`.trimEnd());
    if (profiles.length === 0)
      for (const text of ["There are no profiles yet.", "next: hookproof profile add staging --target <url>"])
        out.note(text);
    return EXIT.ok;
  },
};
