// The command that starts a project's configuration file.
import { dirname, join } from "node:path";
import { generateSecret, secretFingerprint } from "hookproof";
import { openKeyStore } from "hookproof/node";
import type { Command, Context } from "../command.js";
import { projectFile } from "../config/config.js";
import { type ConfigDocument, checkProfileName, isPresent, writeConfigFile } from "../config/config-file.js";
import { storeOf } from "../config/folder-file.js";
import { nextStep } from "../config/next-step.js";
import type { SettingValues } from "../config/settings.js";
import { storableTarget } from "../credentials/checked-url.js";
import { originOf } from "../credentials/origin-rule.js";
import { storedSecrets, storeSecrets } from "../credentials/stored-secrets.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { storeFolder } from "../keys/keys.js";
import { ask, canAsk } from "../terminal/ask.js";

const SCHEMA = "./node_modules/hookproof-cli/hookproof.schema.json";

export const init: Command = {
  name: "init",
  details:
    "The secret goes to the user's own store, not into the file. Asks in a terminal, or takes the flags with --yes.",
  flags: {
    target: {
      type: "string",
      value: "<url|:port>",
      default: ":4400",
      describe: "the listener's URL, or :4400",
    },
    method: {
      type: "string",
      choices: ["hmac", "jwt"],
      default: "hmac",
      describe: "how requests are authenticated",
    },
    store: { type: "string", value: "<dir>", describe: "the key store for --method jwt", completes: "file" },
    yes: { type: "boolean", describe: "do not ask" },
    force: { type: "boolean", describe: "replace an existing configuration" },
  },
  examples: [
    ["hookproof init", "asks for target and method"],
    [
      "hookproof init --yes --profile staging --method jwt --target https://tenant.example.com/api/v1/webhooks/incoming/lst_1",
      "for a script; the profile is called staging",
    ],
  ],
  exits: [[3, "there is a configuration already, or it cannot be written"]],
  acceptsNewProfile: true,
  createsConfig: true,
  async run(context) {
    const { args, out, config } = context;
    const path = config.projectPath;
    if (isPresent(path) && !args.flag("force"))
      throw new CliError(EXIT.setup, "CONFIG_EXISTS", `${path} already exists.`, {
        hint: `Replace it with --force. Or change it with: ${nextStep(args, "hookproof profile add <name> --target <url>")}`,
      });
    if (!args.flag("yes") && !canAsk(context))
      throw usageError(
        "init asks questions, and this is not a terminal.",
        "Use --yes, with --target and --method.",
      );
    const name = checkProfileName(config.profile.name);
    const target = await storableTarget(
      await answerFor(context, "target", "Target (URL, or :4400 for a local listener):"),
      "The target",
    );
    const method = await answerFor(context, "method", "Method (hmac or jwt):");
    if (method !== "hmac" && method !== "jwt") throw usageError("The method is hmac or jwt.");

    const made = method === "hmac" ? await secretOf(context, name, target) : await keyOf(context);
    const document: ConfigDocument = {
      // An editor says of a schema that is not there that it cannot be loaded: a global command has none in the folder.
      ...(isPresent(join(dirname(path), SCHEMA)) ? { $schema: SCHEMA } : {}),
      profile: name,
      profiles: { [name]: { target, method, ...made.settings } },
    };
    await writeConfigFile(path, document, { isPrivate: false });
    out.document({ type: "init", ok: true, path, profile: name, target, method, ...made.answer });
    out.line(`${path}  (profile ${name}, ${method}, ${target})`);
    for (const note of made.notes) out.note(note);
    return EXIT.ok;
  },
};

async function answerFor(context: Context, flag: string, question: string): Promise<string> {
  const { args } = context;
  const value = args.text(flag) ?? "";
  return args.isGiven(flag) || args.flag("yes") ? value : ask(context, question, value);
}

interface Made {
  readonly settings: SettingValues;
  readonly answer: Record<string, unknown>;
  readonly notes: readonly string[];
}

/** A secret of this project's own; one that is stored already stays. */
async function secretOf({ io, args, config }: Context, profile: string, target: string): Promise<Made> {
  const owner = { profile, project: projectFile(config.projectPath) };
  const present = storedSecrets(io, args, owner);
  const origin = originOf(target);
  const stored = present ?? { secrets: [generateSecret()], origin };
  if (present === undefined) await storeSecrets(io, owner, stored);
  const fingerprint = secretFingerprint(stored.secrets[0] ?? "");
  const isOther = stored.origin !== origin;
  return {
    settings: {},
    answer: { secretFingerprint: fingerprint, secretOrigin: stored.origin ?? null },
    notes: isOther
      ? [
          `The secret ${fingerprint}… of this project signs for ${stored.origin ?? "no target yet"}.`,
          `next: ${nextStep(args, `hookproof secret generate --profile ${profile}`)}      for one that signs for ${origin}`,
        ]
      : [
          `The secret ${fingerprint}… is in your own store, for this project and ${origin}, and not in the file.`,
          `next: ${nextStep(args, "hookproof secret show --reveal")}      or: ${nextStep(args, "hookproof secret set")}      if the listener has one`,
        ],
  };
}

/** The newest active key of the store, or a fresh one. */
async function keyOf({ io, args, config }: Context): Promise<Made> {
  const given = args.isGiven("store") ? args.text("store") : undefined;
  const store = openKeyStore(storeFolder(io, storeOf(config)));
  const active = (await store.load()).findLast(({ state }) => state === "active");
  const { kid, alg } = active ?? (await store.generate({ alg: "ES256" }));
  return {
    settings: { key: kid, ...(given === undefined ? {} : { store: given }) },
    answer: { kid, alg },
    notes: [
      `Tokens are signed with the key ${kid} (${alg}).`,
      `next: ${nextStep(args, "hookproof jwks serve")}      host the key set for the listener`,
    ],
  };
}
