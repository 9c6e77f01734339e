import type { Command } from "../command.js";
import { EXIT, usageError } from "../failure.js";
import { ORIGIN_VARIABLE } from "../secrets.js";
import { requireStored } from "../stored-secrets.js";

export const secretEnv: Command = {
  name: "secret env",
  describe:
    "Lines for the shell that set HOOKPROOF_SECRET to a profile's newest secret, and HOOKPROOF_SECRET_ORIGIN to whom it may sign for. Not shown in a terminal.",
  flags: {
    shell: {
      type: "string",
      choices: ["posix", "fish", "pwsh"],
      default: "posix",
      describe: "whose syntax; posix is for sh, bash and zsh",
    },
    reveal: { type: "boolean", describe: "print it in a terminal too" },
  },
  examples: [
    ['eval "$(hookproof secret env)"', "for the programs of this shell"],
    ["hookproof secret env --profile staging --shell fish | source", "the same in fish"],
  ],
  exits: [[3, "there is no stored secret"]],
  async run({ args, io, out, config }) {
    const { profile } = config.owner;
    const { secrets, origin = "" } = requireStored(io, config.owner);
    const [secret = ""] = secrets;
    if (io.stdout.isTTY && !args.flag("reveal"))
      throw usageError(
        "This would show the secret in the terminal.",
        'Use it as: eval "$(hookproof secret env)"',
      );
    // An empty origin takes back that of an earlier profile.
    const env = { HOOKPROOF_SECRET: secret, [ORIGIN_VARIABLE]: origin };
    out.document({ type: "secret", ok: true, profile, env });
    for (const [name, value] of Object.entries(env)) out.raw(assignment(args.text("shell"), name, value));
    return EXIT.ok;
  },
};

function assignment(shell: string | undefined, name: string, value: string): string {
  if (shell === "fish") return `set -gx ${name} '${value.replace(/[\\']/g, "\\$&")}'`;
  if (shell === "pwsh") return `$env:${name} = '${value.replaceAll("'", "''")}'`;
  return `export ${name}='${value.replaceAll("'", `'\\''`)}'`;
}
