// The commands that store, make, show and remove a profile's signing secret.
import { generateSecret, secretFingerprint, secretWarnings } from "hookproof";
import type { Command, Context, Flag } from "../command.js";
import { nextStep } from "../config/next-step.js";
import { checkedOrigin, originOf } from "../credentials/origin-rule.js";
import { ORIGIN_VARIABLE, readSecrets } from "../credentials/secrets.js";
import {
  ownerInShort,
  removeSecrets,
  requireStored,
  type StoredSecrets,
  storedSecrets,
  storeSecrets,
} from "../credentials/stored-secrets.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { countOf } from "../output.js";
import { askHidden, canAsk, confirm } from "../terminal/ask.js";

/** The flag for the origin of a stored secret, if the profile has no target. */
const STORED_ORIGIN_FLAG = {
  origin: {
    type: "string",
    value: "<url>",
    describe: "the scheme, host and port it may sign for; the profile's target by default",
  },
} as const satisfies Record<string, Flag>;

/**
 * The secrets to store: their origin is the flag's, or that of the profile's target in its own file. A rotation keeps
 * the current secret, and so its origin.
 */
function newlyStored(
  { args, config }: Pick<Context, "args" | "config">,
  secret: string,
  present: StoredSecrets | undefined,
): StoredSecrets {
  const given = args.text("origin");
  const named = given === undefined ? originOf(config.ownText("target")) : checkedOrigin(given, "--origin");
  if (present === undefined) return { secrets: [secret], origin: named };
  const origin = named ?? present.origin;
  if (present.origin !== undefined && origin !== present.origin)
    throw new CliError(
      EXIT.setup,
      "SECRET_OTHER_ORIGIN",
      `The current secret signs for ${present.origin}, and the new one would sign for ${origin}.`,
      { hint: "Leave --rotate out to replace it." },
    );
  const [newest] = present.secrets;
  return { secrets: newest === undefined || newest === secret ? [secret] : [secret, newest], origin };
}

export const secretSet: Command = {
  name: "secret set",
  details:
    "Asks in a terminal, or reads a file; a secret on the command line is refused. Only its owner can read the stored secret.",
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
      describe: "keep the current secret too, until the listener has switched",
    },
  },
  examples: [
    ["hookproof secret set --profile staging", "asks for the secret"],
    [
      "vault read -field=secret hooks | hookproof secret set --secret-file - --rotate",
      "a new secret next to the old one",
    ],
  ],
  exits: [[3, "the secret is missing or cannot be stored"]],
  acceptsNewProfile: true,
  async run(context) {
    const { args, io, out, config } = context;
    const { owner } = config;
    const { profile } = owner;
    const secret = await newSecret(context);
    const stored = newlyStored(
      context,
      secret,
      args.flag("rotate") ? storedSecrets(io, args, owner) : undefined,
    );
    await storeSecrets(io, owner, stored);
    const fingerprints = stored.secrets.map(secretFingerprint);
    const { origin } = stored;
    out.document({ type: "secret", ok: true, profile, fingerprints, origin: origin ?? null });
    out.line(`${fingerprints.map((text) => `${text}…`).join(", ")}  (${ownerInShort(owner, origin)})`);
    if (origin === undefined)
      out.note(
        `${nextStep(args, `hookproof profile add ${profile} --target <url>`)}      sets the target it signs for`,
      );
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

export const secretGenerate: Command = {
  name: "secret generate",
  details: "The secret is 256 random bits in base64url.",
  flags: {
    ...STORED_ORIGIN_FLAG,
    rotate: {
      type: "boolean",
      describe: "keep the current secret too, until the listener has switched",
    },
    reveal: { type: "boolean", describe: "print the secret, to give it to the listener" },
    yes: { type: "boolean", describe: "replace a stored secret without asking" },
  },
  examples: [
    ["hookproof secret generate", "for the profile in use; prints the fingerprint"],
    ["hookproof secret generate --profile staging --rotate", "a new secret next to the old one"],
  ],
  exits: [[3, "the secret cannot be stored"]],
  acceptsNewProfile: true,
  async run(context) {
    const { args, io, out, config } = context;
    const { owner } = config;
    const { profile } = owner;
    const present = storedSecrets(io, args, owner);
    if (present !== undefined && !args.flag("rotate"))
      await confirm(
        context,
        `Replace the secret of ${profile}?`,
        `Profile ${profile} has a secret; --rotate keeps it next to the new one.`,
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
    const shown = `${fingerprints.map((text) => `${text}…`).join(", ")}  (${ownerInShort(owner, origin)})`;
    if (revealed) out.raw(secret);
    else out.line(shown);
    if (!revealed)
      out.note(`next: ${nextStep(args, "hookproof secret show --reveal")}      to give it to the listener`);
    return EXIT.ok;
  },
};

export const secretShow: Command = {
  name: "secret show",
  details: "With --reveal it prints the secret itself.",
  flags: { reveal: { type: "boolean", describe: "print the secrets" } },
  examples: [
    ["hookproof secret show", "the fingerprint, as the other commands print it"],
    ["hookproof secret show --profile staging --reveal | pbcopy", "the secret, for the listener's settings"],
  ],
  exits: [[3, "there is no stored secret"]],
  async run({ args, io, out, config }) {
    const { owner } = config;
    const { profile } = owner;
    const { secrets, origin } = requireStored(io, args, owner);
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
    const shown = fingerprints.map((print) => `${print}…  (${ownerInShort(owner, origin)})`);
    if (revealed) secrets.forEach(out.raw);
    else shown.forEach(out.line);
    return EXIT.ok;
  },
};

export const secretEnv: Command = {
  name: "secret env",
  details:
    "They set it to the profile's newest secret, and HOOKPROOF_SECRET_ORIGIN to the origin it may sign for. Refused in a terminal without --reveal.",
  flags: {
    shell: {
      type: "string",
      choices: ["posix", "fish", "pwsh"],
      default: "posix",
      describe: "the shell's syntax; posix is for sh, bash and zsh",
    },
    reveal: { type: "boolean", describe: "print it in a terminal too" },
  },
  examples: [
    ['eval "$(hookproof secret env)"', "for the programs of this shell"],
    ["hookproof secret env --profile staging --shell fish | source", "the same in fish"],
  ],
  exits: [[3, "there is no stored secret"]],
  async run({ args, io, out, config }) {
    const { profile } = config.owner;
    const { secrets, origin = "" } = requireStored(io, args, config.owner);
    const [secret = ""] = secrets;
    if (io.stdout.isTTY && !args.flag("reveal"))
      throw usageError(
        "This would show the secret in the terminal.",
        'Use it as: eval "$(hookproof secret env)"',
      );
    // An empty origin replaces that of an earlier profile.
    const env = { HOOKPROOF_SECRET: secret, [ORIGIN_VARIABLE]: origin };
    out.document({ type: "secret", ok: true, profile, env });
    for (const [name, value] of Object.entries(env)) out.raw(assignment(args.text("shell"), name, value));
    return EXIT.ok;
  },
};

function assignment(shell: string | undefined, name: string, value: string): string {
  if (shell === "fish") return `set -gx ${name} '${value.replace(/[\\']/g, "\\$&")}'`;
  if (shell === "pwsh") return `$env:${name} = '${value.replaceAll("'", "''")}'`;
  return `export ${name}='${value.replaceAll("'", `'\\''`)}'`;
}

export const secretRemove: Command = {
  name: "secret remove",
  details: "With --old only the older one, which ends a rotation.",
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
    const { secrets, origin } = requireStored(io, args, owner);
    const [newest = "", ...older] = secrets;
    const removed = args.flag("old") ? older : [newest, ...older];
    await confirm(
      context,
      `Remove ${countOf(removed.length, "stored secret")} of ${profile}?`,
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
