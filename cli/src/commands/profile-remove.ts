import type { Command } from "../command.js";
import { EDIT_FLAGS, editConfig } from "../config/edit-config.js";
import { CliError, EXIT } from "../failure.js";
import { didYouMean } from "../suggest.js";

export const profileRemove: Command = {
  name: "profile remove",
  describe: "Takes a profile out of its configuration file; its stored secret stays until secret remove.",
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
          hint: didYouMean(name, Object.keys(profiles)) ?? "hookproof profile list",
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
    out.note(`Its stored secret, if any, goes with: hookproof secret remove --profile ${name}`);
    return EXIT.ok;
  },
};
