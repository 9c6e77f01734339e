// The commands that rotate, retire and remove signing keys.
import { ALGORITHMS, type Algorithm } from "hookproof";
import type { Command } from "../command.js";
import { nextStep } from "../config/next-step.js";
import { EXIT, usageError } from "../failure.js";
import { KID_POSITIONAL, openStore, PRIVATE_STORE_FLAGS, STORE_FLAG } from "../keys/key-store-flags.js";
import { shownTime } from "../times.js";

export const keysRotate: Command = {
  name: "keys rotate",
  details:
    "Stores a plan: the new key is published, signs once every listener has fetched it, then the old key retires. No daemon is needed: every process that opens the store follows the plan.",
  flags: {
    ...PRIVATE_STORE_FLAGS,
    alg: {
      type: "string",
      choices: ALGORITHMS,
      default: "ES256",
      describe: "the algorithm to rotate",
    },
    "publish-for": {
      type: "duration",
      value: "<dur>",
      describe: "how long the new key is published before it signs; 15m by default",
    },
    "retire-after": {
      type: "duration",
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
    ["hookproof keys rotate --alg ES256", "with safe waits"],
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
      publishForMs: args.durationMs("publish-for"),
      retireAfterMs: args.durationMs("retire-after"),
      immediately,
    };
    const { alg, kid, steps } = await rotated(() => store.rotate(args.text("alg") as Algorithm, waits));
    out.document({ type: "rotation", ok: true, alg, kid, steps });
    for (const step of steps) out.line(`${step.step.padEnd(8)} ${step.kid.padEnd(22)} ${shownTime(step.at)}`);
    out.note(
      steps.some(({ step }) => step === "sign")
        ? `Nothing more to do: hosts and senders that open this store follow the plan. See: ${nextStep(args, "hookproof keys list")}`
        : "The new key signs after hookproof jwks publish has seen it at the key set's URL.",
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

export const keysRetire: Command = {
  name: "keys retire",
  details: "The key leaves the key set once its last tokens have expired.",
  positionals: [KID_POSITIONAL],
  flags: {
    ...STORE_FLAG,
    "retire-after": {
      type: "duration",
      value: "<dur>",
      describe: "how long it stays in the set; 15m by default",
    },
    force: { type: "boolean", describe: "even the active key: no other key signs in its place" },
  },
  examples: [
    ["hookproof keys retire 2026-01-01-kPrK_qmx", "a waiting key that is not needed"],
    ["hookproof keys retire 2026-01-01-kPrK_qmx --force", "the active key, with nothing in its place"],
  ],
  exits: [[3, "the store cannot be used, there is no such key, or it is in use"]],
  async run({ args, io, out }) {
    const { store } = await openStore(io, args);
    const kid = args.text("kid") ?? "";
    const retireAfterMs = args.durationMs("retire-after");
    await store.retire(kid, {
      force: args.flag("force"),
      ...(retireAfterMs === undefined ? {} : { retireAfterMs }),
    });
    out.document({ type: "key", ok: true, kid, state: "retired" });
    out.line(kid);
    out.note("retired: it no longer signs, and stays in the key set until its last tokens expire");
    return EXIT.ok;
  },
};

export const keysRemove: Command = {
  name: "keys remove",
  details: "Its id is kept, so that it is never used again.",
  positionals: [KID_POSITIONAL],
  flags: {
    ...STORE_FLAG,
    force: {
      type: "boolean",
      describe: "even an active or retired key; its tokens are refused from then on",
    },
  },
  examples: [
    ["hookproof keys remove 2026-01-01-kPrK_qmx", "a key that never signed"],
    ["hookproof keys remove 2026-01-01-kPrK_qmx --force", "a key that has leaked"],
  ],
  exits: [[3, "the store cannot be used, there is no such key, or it is in use"]],
  async run({ args, io, out }) {
    const { store } = await openStore(io, args);
    const kid = args.text("kid") ?? "";
    await store.remove(kid, { force: args.flag("force") });
    out.document({ type: "key", ok: true, kid, state: "removed" });
    out.line(kid);
    out.note("removed: listeners refuse its tokens once they have fetched the set again, within 10 minutes");
    return EXIT.ok;
  },
};
