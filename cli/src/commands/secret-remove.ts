import { secretFingerprint } from "hookproof";
import { confirm } from "../ask.js";
import type { Command } from "../command.js";
import { EXIT } from "../failure.js";
import { removeSecrets, requireStored, storeSecrets } from "../stored-secrets.js";

export const secretRemove: Command = {
  name: "secret remove",
  describe: "Forgets the stored secret of a profile, or with --old only the older one after a rotation.",
  flags: {
    old: { type: "boolean", describe: "end a rotation: keep the newest secret" },
    yes: { type: "boolean", describe: "do not ask" },
  },
  examples: [
    ["hookproof secret remove --old --yes", "once the listener has switched to the new secret"],
    ["hookproof secret remove --profile staging", "asks first"],
  ],
  exits: [[3, "there is no stored secret"]],
  acceptsNewProfile: true,
  async run(context) {
    const { args, io, out, config } = context;
    const { owner } = config;
    const { profile } = owner;
    const { secrets, origin } = requireStored(io, owner);
    const [newest = "", ...older] = secrets;
    const removed = args.flag("old") ? older : [newest, ...older];
    await confirm(
      context,
      `Forget ${removed.length} stored secret(s) of ${profile}?`,
      "A secret cannot be brought back.",
    );
    if (args.flag("old")) await storeSecrets(io, owner, { secrets: [newest], origin });
    else removeSecrets(io, owner);
    const fingerprints = removed.map(secretFingerprint);
    out.document({ type: "secret", ok: true, profile, removed: fingerprints });
    out.line(`${removed.length} removed  (profile ${profile})`);
    return EXIT.ok;
  },
};
