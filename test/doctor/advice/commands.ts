// The commands that stand in fixes, letter by letter, and what is put in place of their blanks.

export interface CommandOfFix {
  readonly printed: string;
  /** What a person puts in place of each blank. */
  readonly blanks?: Readonly<Record<string, string>>;
}

const TARGET = ":4400";
const KEY_SET = "http://127.0.0.1:4410/.well-known/jwks.json";

/** In an order in which one story can run them; longer ones first where one is a part of another. */
export const COMMANDS: readonly CommandOfFix[] = [
  { printed: "hookproof doctor <url>", blanks: { "<url>": TARGET } },
  {
    printed: "hookproof events export last | hookproof verify - --secret-file <path>",
    blanks: { "<path>": "secret.txt" },
  },
  { printed: "hookproof events export last | hookproof verify -" },
  { printed: "hookproof doctor" },
  { printed: "hookproof events export last --out event.json" },
  { printed: "hookproof events list" },
  { printed: "hookproof replay last" },
  { printed: "hookproof keys list" },
  { printed: "hookproof keys generate" },
  { printed: "hookproof jwks check <url>", blanks: { "<url>": KEY_SET } },
  { printed: "hookproof test <url>", blanks: { "<url>": TARGET } },
  {
    printed: "hookproof test <target> --record <file>",
    blanks: { "<target>": TARGET, "<file>": "behaviour.json" },
  },
  {
    printed: "hookproof profile add <listener> --target <url>",
    blanks: { "<listener>": "offboarding", "<url>": TARGET },
  },
  { printed: "hookproof profile list" },
  { printed: "hookproof profile path" },
  { printed: "hookproof profile explain" },
  { printed: "hookproof explain <code>", blanks: { "<code>": "SIGNATURE_MISMATCH" } },
  { printed: "chmod 600 <file>", blanks: { "<file>": "secret.txt" } },
];

/** The commands that a fix tells to run. */
export function commandsOf(fix: string): readonly CommandOfFix[] {
  let rest = fix;
  const found: CommandOfFix[] = [];
  for (const command of [...COMMANDS].sort((a, b) => b.printed.length - a.printed.length)) {
    if (!rest.includes(command.printed)) continue;
    rest = rest.replaceAll(command.printed, " ");
    found.push(command);
  }
  return found;
}

/** The line that a person types. */
export function typed({ printed, blanks = {} }: CommandOfFix): string {
  return Object.entries(blanks).reduce((line, [blank, value]) => line.replaceAll(blank, value), printed);
}
