import { secretFingerprint } from "hookproof";
import type { Command } from "../command.js";
import { EXIT } from "../failure.js";
import { ownerAndOrigin, requireStored } from "../stored-secrets.js";

export const secretShow: Command = {
  name: "secret show",
  describe: "The fingerprint of a profile's stored secrets, or with --reveal the secrets themselves.",
  flags: { reveal: { type: "boolean", describe: "print the secrets" } },
  examples: [
    ["hookproof secret show", "the fingerprint, as the other commands print it"],
    ["hookproof secret show --profile staging --reveal | pbcopy", "the secret, for the listener's settings"],
  ],
  exits: [[3, "there is no stored secret"]],
  async run({ args, io, out, config }) {
    const { owner } = config;
    const { profile } = owner;
    const { secrets, origin } = requireStored(io, owner);
    const fingerprints = secrets.map(secretFingerprint);
    const revealed = args.flag("reveal");
    out.document({
      type: "secret",
      ok: true,
      profile,
      fingerprints,
      origin: origin ?? null,
      ...(revealed ? { secrets } : {}),
    });
    const shown = fingerprints.map((print) => `${print}…${ownerAndOrigin(owner, origin)}`);
    if (revealed) secrets.forEach(out.raw);
    else shown.forEach(out.line);
    return EXIT.ok;
  },
};
