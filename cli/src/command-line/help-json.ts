// Help as JSON, for programs.
import { type Command, GLOBAL_FLAGS } from "../command.js";
import { descriptionOf, exitsOf, shownFlags, usageOf } from "./help.js";
import { COMMANDS } from "./registry.js";

/** The overview, or a group's commands, for a program. */
export function commandsDocument(group?: string): Record<string, unknown> {
  const commands = Object.entries(COMMANDS)
    .filter(([name]) => group === undefined || name.startsWith(`${group} `))
    .map(([name, { summary }]) => ({ name, summary }));
  return { v: 1, type: "help", ok: true, commands };
}

/** A command's help for a program. */
export function commandDocument(command: Command): Record<string, unknown> {
  const { name, positionals = [], flags, examples } = command;
  return {
    v: 1,
    type: "help",
    ok: true,
    name,
    usage: `hookproof ${usageOf(command)}`,
    description: descriptionOf(command),
    arguments: positionals.map(({ name, describe, required }) => ({ name, required, describe })),
    flags: shownFlags({ ...flags, ...GLOBAL_FLAGS }).map(([flag, describe]) => ({ flag, describe })),
    examples: examples.map(([line, does]) => ({ line, does })),
    exits: exitsOf(command).map(([code, when]) => ({ code, when })),
  };
}
