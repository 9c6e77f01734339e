import { secretFingerprint, secretWarnings } from "hookproof";
import { askHidden, canAsk } from "../ask.js";
import type { Command, Context } from "../command.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { newlyStored, STORED_ORIGIN_FLAG } from "../new-secret.js";
import { readSecrets } from "../secrets.js";
import { ownerAndOrigin, storedSecrets, storeSecrets } from "../stored-secrets.js";

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
    ...STORED_ORIGIN_FLAG,
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
    const { owner } = config;
    const { profile } = owner;
    const secret = await newSecret(context);
    const stored = newlyStored(context, secret, args.flag("rotate") ? storedSecrets(io, owner) : undefined);
    await storeSecrets(io, owner, stored);
    const fingerprints = stored.secrets.map(secretFingerprint);
    const { origin } = stored;
    out.document({ type: "secret", ok: true, profile, fingerprints, origin: origin ?? null });
    out.line(`${fingerprints.map((text) => `${text}…`).join(", ")}${ownerAndOrigin(owner, origin)}`);
    if (origin === undefined)
      out.note(`next: hookproof profile add ${profile} --target <url>      says whom it signs for`);
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
