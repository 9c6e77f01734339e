import { secretFingerprint, secretWarnings } from "hookproof";
import { askHidden, canAsk } from "../ask.js";
import type { Command, Context } from "../command.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { readSecrets } from "../secrets.js";
import { storedSecrets, storeSecrets } from "../stored-secrets.js";

export const secretSet: Command = {
  name: "secret set",
  describe:
    "Stores the signing secret of a profile, readable by its owner only. Asks in a terminal; never takes it from the command line.",
  flags: {
    "secret-file": {
      type: "string",
      value: "<path|->",
      describe: "a file with the secret, or - for standard input",
      completes: "file",
    },
    rotate: {
      type: "boolean",
      describe: "keep the present secret beside it until the listener has switched",
    },
  },
  examples: [
    ["hookproof secret set --profile staging", "asks for the secret"],
    [
      "vault read -field=secret hooks | hookproof secret set --secret-file - --rotate",
      "a new one beside the old",
    ],
  ],
  exits: [[3, "the secret is missing or cannot be stored"]],
  acceptsNewProfile: true,
  async run(context) {
    const { args, io, out, config } = context;
    const profile = config.profile.name;
    const secret = await newSecret(context);
    const [present] = args.flag("rotate") ? storedSecrets(io, profile) : [];
    const kept = present === undefined || present === secret ? [] : [present];
    await storeSecrets(io, profile, [secret, ...kept]);
    const fingerprints = [secret, ...kept].map(secretFingerprint);
    out.document({ type: "secret", ok: true, profile, fingerprints });
    out.line(`${fingerprints.map((text) => `${text}…`).join(", ")}  (profile ${profile})`);
    return EXIT.ok;
  },
};

async function newSecret(context: Context): Promise<string> {
  const { args, io, out } = context;
  const file = args.text("secret-file");
  if (file !== undefined) {
    const [secret = ""] = await readSecrets(io, out, [file]);
    return secret;
  }
  if (!canAsk(context))
    throw usageError(
      "The secret is missing.",
      "Use --secret-file <path>, or --secret-file - for standard input.",
    );
  const secret = await askHidden(context, "Signing secret (not shown):");
  if (secret === "") throw new CliError(EXIT.setup, "SECRET_INVALID", "The secret is empty.");
  for (const warning of secretWarnings(secret)) out.warn(warning);
  return secret;
}
