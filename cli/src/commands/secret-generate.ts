import { generateSecret, secretFingerprint } from "hookproof";
import { confirm } from "../ask.js";
import type { Command } from "../command.js";
import { EXIT } from "../failure.js";
import { storedSecrets, storeSecrets } from "../stored-secrets.js";

export const secretGenerate: Command = {
  name: "secret generate",
  describe: "Generates a signing secret (256 random bits, base64url) and stores it for a profile.",
  flags: {
    rotate: {
      type: "boolean",
      describe: "keep the present secret beside it until the listener has switched",
    },
    reveal: { type: "boolean", describe: "print the secret, to give it to the listener" },
    yes: { type: "boolean", describe: "replace a stored secret without asking" },
  },
  examples: [
    ["hookproof secret generate", "for the profile in use; prints the fingerprint"],
    ["hookproof secret generate --profile staging --rotate", "a new one beside the old"],
  ],
  exits: [[3, "the secret cannot be stored"]],
  acceptsNewProfile: true,
  async run(context) {
    const { args, io, out, config } = context;
    const profile = config.profile.name;
    const [present] = storedSecrets(io, profile);
    if (present !== undefined && !args.flag("rotate"))
      await confirm(
        context,
        `Replace the secret of ${profile}?`,
        `Profile ${profile} has a secret; --rotate keeps it beside the new one.`,
      );
    const secret = generateSecret();
    const kept = present !== undefined && args.flag("rotate") ? [present] : [];
    await storeSecrets(io, profile, [secret, ...kept]);
    const fingerprints = [secret, ...kept].map(secretFingerprint);
    const revealed = args.flag("reveal");
    out.document({ type: "secret", ok: true, profile, fingerprints, ...(revealed ? { secret } : {}) });
    out.line(
      revealed ? secret : `${fingerprints.map((text) => `${text}…`).join(", ")}  (profile ${profile})`,
    );
    if (!revealed) out.note("next: hookproof secret show --reveal      to give it to the listener");
    return EXIT.ok;
  },
};
