import { realpathSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { CliError, EXIT } from "../failure.js";
import { type Config, projectFile } from "./config.js";
import type { SettingName } from "./settings.js";

/**
 * Whether a setting is the word of a file that was merely found in the current folder, such as a cloned repository's:
 * neither flag nor variable nor the user's own file says it, and --config does not name the file.
 */
export function isOfFolder(config: Config, name: SettingName): boolean {
  return config.find(name)?.file === config.projectPath && !config.isProjectNamed;
}

/** Refuses a file or folder that such a file names outside of its own folder: it would be this user's, not its own. */
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

/** The real path, of what is not there yet that of the nearest folder that is. */
function realPath(path: string): string {
  const absolute = resolve(path);
  try {
    return realpathSync(absolute);
  } catch {
    const folder = dirname(absolute);
    return folder === absolute ? absolute : resolve(realPath(folder), relative(folder, absolute));
  }
}
