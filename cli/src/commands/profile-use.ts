import type { Command } from "../command.js";
import { EDIT_FLAGS, editConfig } from "../config/edit-config.js";
import { EXIT } from "../failure.js";

export const profileUse: Command = {
  name: "profile use",
  describe: "Makes a profile the one that is used when none is named.",
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
