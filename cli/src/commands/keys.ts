// The commands that list, show, make, import and export signing keys.
import { ALGORITHMS, type Algorithm } from "hookproof";
import type { KeyStatus } from "hookproof/node";
import type { Command } from "../command.js";
import { nextStep } from "../config/next-step.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { readKeyFile, requirePrivate } from "../files/files.js";
import {
  KID_POSITIONAL,
  openStore,
  PRIVATE_STORE_FLAGS,
  passphraseOf,
  STORE_FLAG,
} from "../keys/key-store-flags.js";
import { field } from "../output.js";
import { shownTime } from "../times.js";

export const keysList: Command = {
  name: "keys list",
  flags: {
    ...STORE_FLAG,
    all: { type: "boolean", describe: "include removed keys, whose ids are never used again" },
  },
  examples: [
    ["hookproof keys list", "the user's own keys"],
    ["hookproof keys list --store ./keys --all --json", "every key there ever was, for a script"],
  ],
  exits: [[3, "the store cannot be used"]],
  async run({ args, io, out }) {
    const { store, folder } = await openStore(io, args);
    const keys = (await store.list()).filter(({ state }) => args.flag("all") || state !== "removed");
    out.document({ type: "keys", ok: true, store: folder, keys: keys.map(described) });
    for (const key of keys) {
      const { kid, alg, state, nextStep, askedAt } = key;
      const next = nextStep
        ? `${NEXT[nextStep.step]} ${shownTime(nextStep.at)}`
        : state === "next"
          ? askedAt === undefined
            ? "waits for a rotation"
            : "signs after hookproof jwks publish has seen it"
          : "";
      out.line(`${kid.padEnd(22)} ${alg.padEnd(6)} ${state.padEnd(8)} ${next}`.trimEnd());
    }
    if (keys.length === 0)
      out.note(
        `There is no key in ${folder}. Make one with: ${nextStep(args, "hookproof keys generate --alg ES256")}`,
      );
    return EXIT.ok;
  },
};

const NEXT = { publish: "is published", sign: "signs from", retire: "retires", remove: "is removed" };

function described({ kid, alg, state, createdAt, nextStep }: KeyStatus): Record<string, unknown> {
  return { kid, alg, state, createdAt, ...(nextStep ? { next: nextStep.step, at: nextStep.at } : {}) };
}

export const keysShow: Command = {
  name: "keys show",
  details: "Shows nothing private.",
  positionals: [KID_POSITIONAL],
  flags: STORE_FLAG,
  examples: [
    ["hookproof keys show 2026-01-01-kPrK_qmx", "a key of the user's own store"],
    ["hookproof keys show 2026-01-01-kPrK_qmx --json", "the same for a script"],
  ],
  exits: [[3, "the store cannot be used, or there is no such key"]],
  async run({ args, io, out }) {
    const { store, folder } = await openStore(io, args);
    const kid = args.text("kid") ?? "";
    const key = (await store.list()).find((one) => one.kid === kid);
    if (!key)
      throw new CliError(EXIT.setup, "KEY_NOT_FOUND", `No key ${JSON.stringify(kid)} in ${folder}.`, {
        hint: nextStep(args, "hookproof keys list"),
      });
    const { nextStep: _, ...facts } = key;
    out.document({ type: "key", ok: true, ...facts });
    out.line(`${key.kid}  ${key.alg}  ${key.state}`);
    const times = [
      ["created", key.createdAt],
      ["signs", key.signsAt],
      ["retires", key.retiresAt],
      ["removed", key.removesAt],
    ] as const;
    for (const [name, at] of times) out.line(field(name, shownTime(at)));
    if (key.publicJwk) out.line(field("public", out.code(JSON.stringify(key.publicJwk))));
    return EXIT.ok;
  },
};

export const keysGenerate: Command = {
  name: "keys generate",
  details: "Only its owner can read the key store.",
  flags: {
    alg: {
      type: "string",
      choices: ALGORITHMS,
      default: "ES256",
      describe: "the algorithm",
    },
    kid: { type: "string", value: "<id>", describe: "a key id of your own; date and thumbprint by default" },
    ...PRIVATE_STORE_FLAGS,
  },
  examples: [
    ["hookproof keys generate --alg EdDSA", "a key in the user's own store"],
    ["hookproof keys generate --alg RS256 --store ./keys", "a key in a folder of its own"],
  ],
  exits: [[3, "the store cannot be used"]],
  async run({ args, io, out }) {
    const wanted = args.text("kid");
    if (wanted?.startsWith("-")) throw usageError("--kid must not start with -.");
    const { store: keys, folder: store } = await openStore(io, args);
    const { kid, alg, state } = await keys.generate({
      alg: args.text("alg") as Algorithm,
      kid: wanted,
    });
    out.document({ type: "key", ok: true, kid, alg, state, store });
    out.line(kid);
    out.note(field("algorithm", `${alg}, ${stateInWords(state)}`));
    out.note(`next: ${nextStep(args, "hookproof jwks serve")}      host the key set for the listener`);
    return EXIT.ok;
  },
};

/** The state of a key that was added to a store. */
function stateInWords(state: KeyStatus["state"]): string {
  return state === "active" ? "active: it signs from now on" : "next: published, and does not sign yet";
}

export const keysImport: Command = {
  name: "keys import",
  details:
    "Takes a JWK or PEM, also in JSON, .env, YAML or base64. A key that is not fit for signing is refused with the reason.",
  positionals: [{ name: "file", describe: "a private JWK or PEM, or - for standard input", required: true }],
  flags: {
    ...PRIVATE_STORE_FLAGS,
    alg: {
      type: "string",
      choices: ALGORITHMS,
      describe: "derived from the key by default",
    },
    kid: { type: "string", value: "<id>", describe: "the JWK's own by default, or date and thumbprint" },
    "key-passphrase-file": {
      type: "string",
      value: "<file>",
      describe: "the passphrase that the PEM is encrypted with",
    },
  },
  examples: [
    ["hookproof keys import key.pem", "a PEM into the user's own store"],
    ["hookproof keys import - --store ./keys < key.jwk", "a JWK from standard input"],
  ],
  exits: [[3, "the store or the key cannot be used"]],
  async run({ args, io, out }) {
    const file = args.text("file") ?? "-";
    if (file !== "-") requirePrivate(file);
    const text = await readKeyFile(file, io);
    const { store, folder } = await openStore(io, args);
    const [alg, kid, passphrase] = [
      args.text("alg"),
      args.text("kid"),
      await passphraseOf(args, "key-passphrase-file"),
    ];
    const key = await store.importKey(text, {
      ...(alg === undefined ? {} : { alg: alg as Algorithm }),
      ...(kid === undefined ? {} : { kid }),
      ...(passphrase === undefined ? {} : { passphrase }),
    });
    out.document({ type: "key", ok: true, kid: key.kid, alg: key.alg, state: key.state, store: folder });
    out.line(key.kid);
    out.note(field("algorithm", `${key.alg}, ${stateInWords(key.state)}`));
    return EXIT.ok;
  },
};

export const keysExport: Command = {
  name: "keys export",
  details: "Prints the public half, or with --private the private key.",
  positionals: [KID_POSITIONAL],
  flags: {
    ...PRIVATE_STORE_FLAGS,
    format: { type: "string", choices: ["jwk", "pem"], default: "jwk", describe: "JWK, or PEM" },
    private: { type: "boolean", describe: "the private key; needs --yes" },
    yes: { type: "boolean", describe: "write a private key to standard output" },
    "key-passphrase-file": {
      type: "string",
      value: "<file>",
      describe: "encrypt the PEM with this passphrase",
    },
  },
  examples: [
    ["hookproof keys export 2026-01-01-kPrK_qmx --format pem", "the public half as PEM"],
    [
      "hookproof keys export 2026-01-01-kPrK_qmx --private --yes > key.jwk",
      "the private JWK; run it with umask 077",
    ],
  ],
  exits: [[3, "the store cannot be used, or there is no such key"]],
  async run({ args, io, out }) {
    const half = args.flag("private") ? "private" : "public";
    if (half === "private" && !args.flag("yes"))
      throw usageError(
        "--private writes a private key to standard output; add --yes if that is what you want.",
      );
    const { store } = await openStore(io, args);
    const [kid, format, passphrase] = [
      args.text("kid") ?? "",
      args.text("format") === "pem" ? "pem" : "jwk",
      await passphraseOf(args, "key-passphrase-file"),
    ] as const;
    const text = await store.exportKey(kid, {
      half,
      format,
      ...(passphrase === undefined ? {} : { passphrase }),
    });
    out.document({
      type: "key",
      ok: true,
      kid,
      half,
      format,
      ...(format === "pem" ? { pem: text } : { jwk: JSON.parse(text) }),
    });
    if (!out.json) out.write(`${text.trimEnd()}\n`);
    return EXIT.ok;
  },
};
