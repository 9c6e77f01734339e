// Keeps what a folder's own configuration names inside of that folder.
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { CliError, EXIT } from "../failure.js";
import { pathInside } from "../files/files.js";
import { wordOf } from "../shell-word.js";
import { type Config, projectFile } from "./config.js";
import { isAddress, type SettingName } from "./settings.js";

/**
 * Whether a setting comes from a file that was only found in the current folder, such as a cloned repository's: not
 * from a flag, a variable, the user's own file, or a file that --config names. Such a file is not trusted.
 */
export function isOfFolder(config: Config, name: SettingName): boolean {
  return config.find(name)?.file === config.projectPath && !config.isProjectNamed;
}

/** How a refusal names a setting. */
interface Named {
  readonly code: string;
  readonly what: string;
  readonly flag: string;
}

/**
 * Refuses an address in such a file, and a file or folder outside of its folder: an untrusted file must not use this
 * user's files, nor make this machine connect anywhere.
 */
export function requireInside(config: Config, name: SettingName, named: Named): void {
  if (!isOfFolder(config, name)) return;
  const project = projectFile(config.projectPath);
  for (const text of config.texts(name)) {
    if (isAddress(name, text)) throw refusal(project, named, text, "and only you may name an address");
    if (pathInside(dirname(project), text) === undefined)
      throw refusal(project, named, text, "which is outside of its folder");
  }
}

function refusal(project: string, { code, what, flag }: Named, text: string, why: string): CliError {
  return new CliError(EXIT.setup, code, `${project} names the ${what} ${text}, ${why}.`, {
    hint: `If you trust that configuration: --config ${wordOf(project)}, or ${flag} ${wordOf(text)}`,
  });
}

const STORE = { code: "SECRET_FILE_OUTSIDE", what: "key store", flag: "--store" };

/** The key store that flag, environment or configuration names; a folder's file names one in that folder. */
export function storeOf(config: Config): string | undefined {
  requireInside(config, "store", STORE);
  const store = config.text("store");
  if (store !== undefined && isOfFolder(config, "store")) requireOwnFiles(config, store);
  return store;
}

/** Refuses a key store of the folder with a link in it that leads out: its keys would be the user's own. */
function requireOwnFiles(config: Config, store: string): void {
  const project = projectFile(config.projectPath);
  for (const name of namesIn(store))
    if (pathInside(dirname(project), join(store, name)) === undefined)
      throw refusal(project, STORE, store, `and ${name} in it leads out of its folder`);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // whoever opens it says what is wrong
  }
}

/** The certificate authority that flag, environment or configuration names. */
export function authorityOf(config: Config): string | undefined {
  requireInside(config, "ca", { code: "SECRET_FILE_OUTSIDE", what: "certificate", flag: "--ca" });
  return config.text("ca");
}
