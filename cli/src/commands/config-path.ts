import type { Command } from "../command.js";
import { isPresent } from "../config/config-file.js";
import { EXIT } from "../failure.js";

export const configPath: Command = {
  name: "config path",
  describe: "The configuration files that are read, the nearest first, and whether they are there.",
  flags: {},
  examples: [
    ["hookproof config path", "both places"],
    ["hookproof config path --json", "the same for a script"],
  ],
  exits: [[3, "a file cannot be used"]],
  async run({ out, config }) {
    const files = [
      { kind: "project", path: config.projectPath },
      ...(config.userPath === undefined ? [] : [{ kind: "user", path: config.userPath }]),
    ].map((file) => ({ ...file, exists: isPresent(file.path) }));
    out.document({ type: "config", ok: true, files });
    for (const { kind, path, exists } of files)
      out.line(`${kind.padEnd(8)} ${path}${exists ? "" : "  (not there)"}`);
    return EXIT.ok;
  },
};
