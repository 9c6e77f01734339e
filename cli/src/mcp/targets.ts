// Where the tools may send to.
import type { Context } from "../command.js";
import { type Config, loadConfig } from "../config/config.js";
import { PROFILE_NAME } from "../config/config-file.js";
import { type GivenFlags, nextStep } from "../config/next-step.js";
import { isLoopback, originOf } from "../credentials/origin-rule.js";
import { CliError, EXIT, usageError } from "../failure.js";

/** Words of a command line that name a target and the profile that signs for it. */
export interface TargetWords {
  readonly profile: readonly string[];
  readonly target: string;
}

/**
 * Where the tools may send to: this machine, and the profiles of `--to`. The targets of those are read once, at the
 * start: whoever edits a configuration afterwards, an assistant among them, opens no other address.
 */
export function allowedTargets({ args, io, config }: Context): (given: string) => TargetWords {
  const opened = new Map(args.texts("to").map((name) => [name, targetOf(config.withProfile(name), args)]));
  return (given) => {
    if (/^:[0-9]{1,5}$/.test(given)) return { profile: [], target: given };
    if (!PROFILE_NAME.test(given))
      throw usageError("The target must be a profile, or :4400 for the local listener on that port.");
    const profile = ["--profile", given];
    const known = opened.get(given);
    if (known !== undefined) return { profile, target: known };
    const target = targetOf(currentConfig({ args, io }).withProfile(given), args);
    const origin = originOf(target);
    if (origin !== undefined && isLoopback(origin)) return { profile, target };
    throw new CliError(
      EXIT.usage,
      "TARGET_NOT_ALLOWED",
      `The target of the profile ${given} is not on this machine.`,
      { hint: `The user can allow it: hookproof mcp --allow send --to ${given}` },
    );
  };
}

/** The configuration as it is now, with the flags that `mcp` was started with. */
function currentConfig({ args, io }: Pick<Context, "args" | "io">): Config {
  return loadConfig(io, { config: args.text("config"), profile: args.text("profile"), given: () => [] });
}

function targetOf(config: Config, args: GivenFlags): string {
  config.requireKnownProfile();
  const target = config.text("target");
  if (target !== undefined) return target;
  const { name } = config.profile;
  throw usageError(
    `The profile ${name} has no target.`,
    nextStep(args, `hookproof profile add ${name} --target <url>`),
  );
}
