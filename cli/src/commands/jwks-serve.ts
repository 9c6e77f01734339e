// The command that hosts a key set with generated keys.
import { createKeySet } from "hookproof/jwks";
import type { KeyStore } from "hookproof/node";
import type { Command } from "../command.js";
import { nextStep } from "../config/next-step.js";
import { EXIT, usageError } from "../failure.js";
import { stopped } from "../io.js";
import { ofRotation, openStore, PRIVATE_STORE_FLAGS } from "../keys/key-store-flags.js";
import type { Output } from "../output.js";
import { reportServed, SERVING_FLAGS, servingOptions, started, warnIfOpen } from "../serve/serving.js";
import { wordOf } from "../shell-word.js";
import { shownTime } from "../times.js";

/** Named here as well, so that help does not load the service. */
const KEY_SET_FAULTS: typeof import("hookproof-service/listeners").KEY_SET_FAULTS = [
  "unreachable",
  "slow",
  "empty",
  "wrong-kid",
  "html",
  "500",
];

export const jwksServe: Command = {
  name: "jwks serve",
  details: "On loopback unless --host says otherwise. An empty store gets an ES256 key.",
  flags: {
    port: { type: "number", value: "<n>", default: 4410, describe: "0 takes a free port" },
    path: {
      type: "string",
      value: "<path>",
      default: "/.well-known/jwks.json",
      describe: "the key set's path",
    },
    ...PRIVATE_STORE_FLAGS,
    "cache-max-age": {
      type: "number",
      value: "<seconds>",
      default: 300,
      describe: "how long listeners may cache the key set",
    },
    ...SERVING_FLAGS,
    "rotate-every": {
      type: "duration",
      value: "<dur>",
      describe: "rotate every key that has signed this long",
    },
    fault: { type: "string", choices: KEY_SET_FAULTS, describe: "answer wrongly on purpose" },
  },
  examples: [
    ["hookproof jwks serve", "the user's own keys on port 4410"],
    ["hookproof jwks serve --store ./keys --port 0 --json", "another store on a free port, for a script"],
    ["hookproof jwks serve --fault wrong-kid", "to see how a listener behaves"],
  ],
  exits: [[3, "the store cannot be used"]],
  async run({ args, io, out }) {
    const path = args.text("path") ?? "";
    if (!/^\/[\x21-\x7e]*$/.test(path) || /[?#]/.test(path))
      throw usageError("--path must start with / and have no query.");
    const options = await servingOptions({ args, io });
    const { startKeySetHost } = await import("hookproof-service/listeners");
    const { store } = await openStore(io, args);
    if ((await store.load()).length === 0) {
      const { kid } = await store.generate({ alg: "ES256" });
      out.note(`The store was empty; generated the key ${kid} (ES256).`);
    }
    const maxAgeSeconds = args.number("cache-max-age") ?? 300;
    await store.setMaxAge(maxAgeSeconds);
    const stopRotating = await rotateRegularly(store, args.durationMs("rotate-every"), out);
    let asked = 0;
    const host = await started(
      () =>
        startKeySetHost({
          ...options,
          keySet: createKeySet(store),
          path,
          maxAgeSeconds,
          fault: KEY_SET_FAULTS.find((fault) => fault === args.text("fault")),
          onAsked: () => asked++,
        }),
      options.port,
    );
    out.document({ type: "listening", url: host.keySetUrl });
    out.line(host.keySetUrl);
    warnIfOpen({ args, out }, "they can read the key set, which holds public keys only.");
    out.note(`next: ${nextStep(args, `hookproof listen --jwks ${wordOf(host.keySetUrl)}`)}`);
    await stopped(io.stopSignal);
    stopRotating();
    await host.stop();
    reportServed({ out }, asked, " for the key set");
    return EXIT.ok;
  },
};

/** How often a host looks whether a rotation is due. */
const LOOK_EVERY_MS = 60_000;

async function rotateRegularly(
  store: KeyStore,
  everyMs: number | undefined,
  out: Output,
): Promise<() => void> {
  if (everyMs === undefined) return () => {};
  const look = async () => {
    for (const { alg, kid, steps } of await store.rotateDue(everyMs))
      out.note(
        `Rotating ${alg}: ${kid} signs from ${shownTime(steps.find(({ step }) => step === "sign")?.at)}.`,
      );
  };
  await look().catch((error: unknown) => {
    throw ofRotation(error);
  });
  const timer = setInterval(
    () =>
      look().catch((error: unknown) =>
        out.warn(`No rotation: ${error instanceof Error ? error.message : "unknown"}`),
      ),
    LOOK_EVERY_MS,
  );
  return () => clearInterval(timer);
}
