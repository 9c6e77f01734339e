import { type Command, GLOBAL_FLAGS } from "../../src/command.js";
import {
  describeArgument,
  descriptionOf,
  exitsOf,
  shownFlags,
  usageOf,
} from "../../src/command-line/help.js";
import { COMMANDS } from "../../src/command-line/registry.js";

/** The page docs/cli.md, made from the command table. */
export async function referencePage(): Promise<string> {
  const commands = await Promise.all(Object.values(COMMANDS).map(({ load }) => load()));
  return [
    "# The command line",
    "",
    "Made from the command table by `npm run generate`; a test fails when it is stale. Where values come from when a flag is not given is in [configuration.md](configuration.md).",
    "",
    ...commands.map(({ name }) => `- [${name}](#${name.replaceAll(" ", "-")})`),
    "",
    "## Flags of every command",
    "",
    ...flagList(GLOBAL_FLAGS),
    "",
    ...commands.flatMap(section),
  ].join("\n");
}

function section(command: Command): string[] {
  const positionals = command.positionals ?? [];
  return [
    `## ${command.name}`,
    "",
    `\`hookproof ${usageOf(command)}\``,
    "",
    descriptionOf(command),
    "",
    ...positionals.map(
      (one) => `- \`${one.name}\`${one.required ? "" : " (optional)"}: ${describeArgument(one)}`,
    ),
    ...flagList(command.flags),
    ...(positionals.length + Object.keys(command.flags).length > 0 ? [""] : []),
    "```sh",
    ...command.examples.flatMap(([line, does]) => [`# ${does}`, line]),
    "```",
    "",
    `Exit codes: ${exitsOf(command)
      .map(([code, when]) => `${code} ${when}`)
      .join("; ")}.`,
    "",
  ];
}

function flagList(flags: Command["flags"]): string[] {
  return shownFlags(flags).map(([written, does]) => `- \`${written}\`: ${does}`);
}
