import { secretFingerprint } from "hookproof";
import type { Command } from "../command.js";
import { foundSettings } from "../config/config.js";
import { EXIT } from "../failure.js";
import { storedSecrets } from "../stored-secrets.js";

export const profileShow: Command = {
  name: "profile show",
  describe: "What a profile comes to: its settings, and the fingerprint of its stored secret.",
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
    const stored = storedSecrets(io, config.owner);
    const fingerprints = (stored?.secrets ?? []).map(secretFingerprint);
    out.document({
      type: "profile",
      ok: true,
      name,
      settings: Object.fromEntries(settings.map((setting) => [setting.name, setting.found.value])),
      storedSecrets: fingerprints,
      secretOrigin: stored?.origin ?? null,
    });
    out.line(name);
    for (const setting of settings)
      out.line(`  ${setting.name.padEnd(12)} ${[setting.found.value].flat().join(", ")}`);
    out.line(
      `  ${"secret".padEnd(12)} ${fingerprints.map((text) => `${text}…`).join(", ") || "(none stored)"}`,
    );
    if (stored) out.line(`  ${"signs for".padEnd(12)} ${stored.origin ?? "(no target yet)"}`);
    return EXIT.ok;
  },
};
