import type { Algorithm } from "hookproof";
import type { Command } from "../command.js";
import { EXIT, usageError } from "../failure.js";
import { durationOf, openStore, PRIVATE_STORE_FLAGS, shownTime } from "../key-store-flags.js";

export const keysRotate: Command = {
  name: "keys rotate",
  describe:
    "Plans a rotation and stores it whole: the new key is published, signs once every listener has fetched it, and the old one retires. It comes true by itself.",
  flags: {
    ...PRIVATE_STORE_FLAGS,
    alg: {
      type: "string",
      choices: ["ES256", "RS256", "EdDSA"],
      default: "ES256",
      describe: "the algorithm to rotate",
    },
    "publish-for": {
      type: "string",
      value: "<dur>",
      describe: "how long the new key is published before it signs; 15m by default",
    },
    "retire-after": {
      type: "string",
      value: "<dur>",
      describe: "how long the old key stays after its last signature; 15m by default",
    },
    now: {
      type: "boolean",
      describe: "sign with the new key at once, for a key that has leaked; needs --yes",
    },
    yes: { type: "boolean", describe: "accept that listeners may answer 401 for a while" },
  },
  examples: [
    ["hookproof keys rotate --alg ES256", "with the safe waits"],
    ["hookproof keys rotate --alg ES256 --now --yes", "at once, because the key has leaked"],
  ],
  exits: [[3, "the store cannot be used"]],
  async run({ args, io, out }) {
    const immediately = args.flag("now");
    if (immediately && !args.flag("yes"))
      throw usageError(
        "--now signs with a key that listeners may not have fetched: they may answer 401 for a while. Add --yes if that is what you want.",
      );
    const { store } = await openStore(io, args);
    const waits = {
      publishForMs: durationOf(args, "publish-for"),
      retireAfterMs: durationOf(args, "retire-after"),
      immediately,
    };
    const { alg, kid, steps } = await rotated(() => store.rotate(args.text("alg") as Algorithm, waits));
    out.document({ type: "rotation", ok: true, alg, kid, steps });
    for (const step of steps) out.line(`${step.step.padEnd(8)} ${step.kid.padEnd(22)} ${shownTime(step.at)}`);
    out.note(
      "Nothing is left to do: hosts and senders that open this store follow the plan. See: hookproof keys list",
    );
    return EXIT.ok;
  },
};

/** A wait that is too short is a wrong flag here. */
async function rotated<Result>(rotate: () => Promise<Result>): Promise<Result> {
  try {
    return await rotate();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw usageError(
      error.message
        .replace("publishForMs", "--publish-for in ms")
        .replace("retireAfterMs", "--retire-after in ms"),
    );
  }
}
