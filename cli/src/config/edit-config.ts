import type { Flag } from "../command.js";
import { CliError, EXIT } from "../failure.js";
import type { Config } from "./config.js";
import { type ConfigDocument, isPresent, readConfigFile, writeConfigFile } from "./config-file.js";
import type { SettingValues } from "./settings.js";

/** The flag that says which of the two files is changed. */
export const EDIT_FLAGS = {
  user: { type: "boolean", describe: "in the user's own file, even where the project has one" },
} as const satisfies Record<string, Flag>;

/** A configuration file that is about to be changed. */
export interface EditedConfig {
  readonly path: string;
  readonly document: ConfigDocument;
  /** Its profiles, empty where there are none. */
  readonly profiles: Readonly<Record<string, SettingValues>>;
  save(document: ConfigDocument): Promise<void>;
}

/** Opens the project's file if there is one, or the user's own. */
export function editConfig({ projectPath, isProjectNamed, userPath }: Config, user: boolean): EditedConfig {
  const isPrivate = user || !(isProjectNamed || isPresent(projectPath));
  const path = isPrivate ? userPath : projectPath;
  if (path === undefined)
    throw new CliError(EXIT.setup, "HOME_MISSING", "There is no home folder for the user's configuration.", {
      hint: "Set HOME or HOOKPROOF_HOME, or start a project's file with: hookproof init",
    });
  const document = readConfigFile(path, { required: false })?.document ?? {};
  return {
    path,
    document,
    profiles: document.profiles ?? {},
    save: (changed) => writeConfigFile(path, changed, { isPrivate }),
  };
}
