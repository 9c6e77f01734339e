// Fills a command's arguments with what the configuration says.
import type { Args, Context } from "../command.js";
import { checkedDuration, WAITED } from "../times.js";
import type { Config } from "./config.js";
import { storeOf } from "./folder-file.js";
import type { SettingName } from "./settings.js";

/** Flags that take their value from the configuration in every command; those of credentials and of the way are not among them. */
const SETTLED: Readonly<Record<string, SettingName>> = { store: "store", retries: "retries" };

/** The arguments with what the configuration says where the command line says nothing. */
export function withSettings(args: Args, config: Config): Args {
  const settled = (name: string) => {
    const setting = SETTLED[name];
    if (setting === "store") return storeOf(config);
    return setting && config.text(setting);
  };
  return {
    ...args,
    text: (name) => settled(name) ?? args.text(name),
    number: (name) => {
      const value = settled(name);
      return value === undefined ? args.number(name) : Number(value);
    },
  };
}

/** The flags that every command shares, as they stand. */
export function globalFlags(args: Args, verbose: number, config: Config): Context["global"] {
  return {
    json: args.flag("json"),
    quiet: args.flag("quiet"),
    verbose,
    color: args.isGiven("color") ? args.flag("color") : undefined,
    input: !args.isGiven("input") || args.flag("input"),
    timeoutMs: checkedDuration("timeout", config.text("timeout") ?? "10s", WAITED),
  };
}
