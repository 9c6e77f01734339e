import type { Command } from "../command.js";
import { EXIT, usageError } from "../failure.js";
import { requireStored } from "../stored-secrets.js";

export const secretEnv: Command = {
  name: "secret env",
  describe:
    "A line for the shell that sets HOOKPROOF_SECRET to a profile's newest secret. Not shown in a terminal.",
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
    const profile = config.profile.name;
    const [secret = ""] = requireStored(io, profile);
    if (io.stdout.isTTY && !args.flag("reveal"))
      throw usageError(
        "This would show the secret in the terminal.",
        'Use it as: eval "$(hookproof secret env)"',
      );
    const line = assignment(args.text("shell"), secret);
    out.document({ type: "secret", ok: true, profile, env: { HOOKPROOF_SECRET: secret } });
    out.line(line);
    return EXIT.ok;
  },
};

function assignment(shell: string | undefined, secret: string): string {
  if (shell === "fish") return `set -gx HOOKPROOF_SECRET '${secret.replace(/[\\']/g, "\\$&")}'`;
  if (shell === "pwsh") return `$env:HOOKPROOF_SECRET = '${secret.replaceAll("'", "''")}'`;
  return `export HOOKPROOF_SECRET='${secret.replaceAll("'", `'\\''`)}'`;
}
