// Keeps what a folder's own configuration names inside of that folder.
import { realpathSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { CliError, EXIT } from "../failure.js";
import { type Config, projectFile } from "./config.js";
import type { SettingName } from "./settings.js";

/**
 * Whether a setting comes from a file that was only found in the current folder, such as a cloned repository's: not
 * from a flag, a variable, the user's own file, or a file that --config names. Such a file is not trusted.
 */
export function isOfFolder(config: Config, name: SettingName): boolean {
  return config.find(name)?.file === config.projectPath && !config.isProjectNamed;
}

/** Refuses a file or folder outside of the folder of such a file: an untrusted file must not use this user's files. */
export function requireInside(
  config: Config,
  name: SettingName,
  { code, what, flag }: { readonly code: string; readonly what: string; readonly flag: string },
): void {
  if (!isOfFolder(config, name)) return;
  const project = projectFile(config.projectPath);
  for (const file of config.texts(name)) {
    const path = relative(dirname(project), realPath(file));
    if (path.startsWith("..") || resolve(path) === path)
      throw new CliError(
        EXIT.setup,
        code,
        `${project} names the ${what} ${file}, which is outside of its folder.`,
        { hint: `If you trust that configuration: --config ${project}, or ${flag} ${file}` },
      );
  }
}

/** The key store that flag, environment or configuration names; a folder's file names one in that folder. */
export function storeOf(config: Config): string | undefined {
  requireInside(config, "store", { code: "SECRET_FILE_OUTSIDE", what: "key store", flag: "--store" });
  return config.text("store");
}

/** The real path; of a path that does not exist yet, resolved from its nearest existing folder. */
function realPath(path: string): string {
  const absolute = resolve(path);
  try {
    return realpathSync(absolute);
  } catch {
    const folder = dirname(absolute);
    return folder === absolute ? absolute : resolve(realPath(folder), relative(folder, absolute));
  }
}
