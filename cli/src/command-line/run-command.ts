// Runs one command with its words and turns failures into exit codes.
import type { Command } from "../command.js";
import { type Config, loadConfig } from "../config/config.js";
import { readPipes } from "../config/config-file.js";
import { SETTINGS } from "../config/settings.js";
import { globalFlags, withSettings } from "../config/settled-args.js";
import type { Io } from "../io.js";
import { createOutput } from "../output.js";
import { parseCommand } from "./parse.js";

/** Runs a command with the words after its name, and gives its exit code; "help" where they ask for that. */
export async function runCommand(
  command: Command,
  words: readonly string[],
  io: Io,
): Promise<number | "help"> {
  const parsed = parseCommand(command, words);
  if (parsed.kind === "help") return "help";
  const { args, verbosity } = parsed;
  let config: Config | undefined;
  try {
    const { HOOKPROOF_CONFIG, [SETTINGS.outbox.envFile]: outbox } = io.env;
    // Nobody may write to the pipe of what is not asked for.
    const usesOutbox = command.showsAll || (command.flags.outbox && !args.isGiven("outbox"));
    await readPipes([args.text("config") ?? HOOKPROOF_CONFIG, usesOutbox && outbox]);
    config = loadConfig(io, {
      config: args.text("config"),
      profile: args.text("profile"),
      createsConfig: command.createsConfig,
      given: (flag) => (args.isGiven(flag) ? args.texts(flag) : []),
    });
    if (!command.acceptsNewProfile) config.requireKnownProfile();
    const global = globalFlags(args, verbosity, config);
    const settled = withSettings(args, config);
    const isSeen = io.stdout.isTTY || io.stderr.isTTY;
    const layout = isSeen ? (await import("../terminal/layout.js")).terminalLayout : undefined;
    return await command.run({ io, out: createOutput(io, global, layout), args: settled, global, config });
  } catch (error) {
    const { givenTo, withOption } = await import("./name-option.js");
    throw withOption(error, givenTo(command, { args, io, config }));
  }
}
