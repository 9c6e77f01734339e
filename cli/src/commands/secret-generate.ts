import { generateSecret, secretFingerprint } from "hookproof";
import { confirm } from "../ask.js";
import type { Command } from "../command.js";
import { EXIT } from "../failure.js";
import { newlyStored, STORED_ORIGIN_FLAG } from "../new-secret.js";
import { ownerAndOrigin, storedSecrets, storeSecrets } from "../stored-secrets.js";

export const secretGenerate: Command = {
  name: "secret generate",
  describe: "Generates a signing secret (256 random bits, base64url) and stores it for a profile.",
  flags: {
    ...STORED_ORIGIN_FLAG,
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
    const { owner } = config;
    const { profile } = owner;
    const present = storedSecrets(io, owner);
    if (present !== undefined && !args.flag("rotate"))
      await confirm(
        context,
        `Replace the secret of ${profile}?`,
        `Profile ${profile} has a secret; --rotate keeps it beside the new one.`,
      );
    const secret = generateSecret();
    const stored = newlyStored(context, secret, args.flag("rotate") ? present : undefined);
    await storeSecrets(io, owner, stored);
    const fingerprints = stored.secrets.map(secretFingerprint);
    const { origin } = stored;
    const revealed = args.flag("reveal");
    out.document({
      type: "secret",
      ok: true,
      profile,
      fingerprints,
      origin: origin ?? null,
      ...(revealed ? { secret } : {}),
    });
    const shown = `${fingerprints.map((text) => `${text}…`).join(", ")}${ownerAndOrigin(owner, origin)}`;
    if (revealed) out.raw(secret);
    else out.line(shown);
    if (!revealed) out.note("next: hookproof secret show --reveal      to give it to the listener");
    return EXIT.ok;
  },
};
