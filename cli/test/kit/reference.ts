import { type Command, GLOBAL_FLAGS } from "../../src/command.js";
import {
  describeArgument,
  descriptionOf,
  exitsOf,
  shownFlags,
  usageOf,
} from "../../src/command-line/help.js";
import { COMMANDS, SECTIONS } from "../../src/command-line/registry.js";

/** The page docs/cli.md, made from the command table. */
export async function referencePage(): Promise<string> {
  const commands = await Promise.all(Object.values(COMMANDS).map(({ load }) => load()));
  return [
    "# The command line",
    "",
    "<!-- Made from the command table by `npm run generate`. -->",
    "",
    "Every command, in the groups of `hookproof --help`. Flags that all of them take are [said once](#flags-of-every-command); where values come from when a flag is not given is in [configuration.md](configuration.md).",
    "",
    ...SECTIONS.flatMap(([heading, words]) => [`**${heading}**`, "", ...words.flatMap(entries), ""]),
    "## Flags of every command",
    "",
    ...flagList(GLOBAL_FLAGS),
    "",
    ...commands.flatMap(section),
  ].join("\n");
}

/** A word of the overview: the command of that name, or those of the group. */
function entries(word: string): string[] {
  return Object.entries(COMMANDS)
    .filter(([name]) => name === word || name.startsWith(`${word} `))
    .map(([name, { summary }]) => `- [${name}](#${name.replaceAll(" ", "-")}): ${summary}`);
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
