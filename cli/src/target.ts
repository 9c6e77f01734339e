import { resolve } from "node:path";
import { hmacSigner, jwtSigner, type Signer, secretFingerprint } from "hookproof";
import type { ProbeTarget } from "hookproof/probes";
import type { Context, Flag } from "./command.js";
import type { Config } from "./config/config.js";
import { CliError, EXIT, usageError } from "./failure.js";
import type { CredentialReference } from "./history-record.js";
import { signingKey, storeFolder } from "./keys.js";
import { type FoundSecrets, findSecrets, readSecrets } from "./secrets.js";
import { findSession, readSession, type Session } from "./sessions.js";
import { storedSecrets } from "./stored-secrets.js";

/** The flags of every command that signs. */
export const CREDENTIAL_FLAGS = {
  method: { type: "string", choices: ["hmac", "jwt"], describe: "how to prove the request; jwt with --key" },
  "secret-file": {
    type: "string",
    value: "<path|->",
    repeatable: true,
    describe: "the signing secret; twice (new, old) during a rotation",
    completes: "file",
  },
  key: {
    type: "string",
    value: "<kid|file>",
    describe: "a key of the store, or a file with a private JWK",
    completes: "kid",
  },
  store: {
    type: "string",
    value: "<dir>",
    describe: "the key store; the user's own by default",
    completes: "file",
  },
  "base-url": { type: "string", value: "<url>", describe: "the tenant's base URL, the claim sub" },
} as const satisfies Record<string, Flag>;

/** The flags of every command that connects. */
export const CONNECTION_FLAGS = {
  ca: { type: "string", value: "<file>", describe: "a CA certificate in PEM to trust", completes: "file" },
  insecure: { type: "boolean", describe: "do not check the certificate; loopback only" },
} as const satisfies Record<string, Flag>;

export const TARGET_POSITIONAL = {
  name: "target",
  required: false,
  describe: "a listener's URL, :4400 for the local listener on that port, or a profile",
  completes: "profile",
} as const;

/** Who a request goes to and how it is proved. */
export interface Target {
  readonly url: string;
  readonly method: "hmac" | "jwt";
  readonly signer: Signer;
  /** The method in words, with a fingerprint or kid instead of the secret or key. */
  readonly proof: string;
  readonly credential: CredentialReference;
  /** The secret or key itself, for the probes, which also sign wrongly; of two secrets the first. */
  readonly auth: ProbeTarget["auth"];
}

interface Place {
  readonly url: string;
  readonly session?: LocalSession;
  /** The configuration as the target's profile sees it. */
  readonly config: Config;
}

type LocalSession = Session & { readonly port: number };
type CredentialContext = Pick<Context, "args" | "io" | "out" | "config">;

/** Works out the target of a command from its argument, the profile, or what an earlier event was sent with. */
export async function resolveTarget(
  context: Context,
  earlier?: { url: string; credential?: CredentialReference },
): Promise<Target> {
  const { url, session, config } = placeOf(context, earlier?.url);
  return { url, ...(await resolveCredential({ ...context, config }, session, earlier?.credential)) };
}

/** Where the target is: a URL, a local listener's port, or what a profile says. */
export function placeOf({ args, io, config }: CredentialContext, earlier?: string): Place {
  const argument = args.text("target");
  if (argument !== undefined && !/^:|:\/\//.test(argument)) {
    if (args.isGiven("profile") && args.text("profile") !== argument)
      throw usageError(`The target ${JSON.stringify(argument)} and --profile name two profiles.`);
    const named = config.withProfile(argument);
    named.requireKnownProfile();
    return located(io, named, named.text("target"));
  }
  return located(io, config, argument ?? earlier ?? config.text("target"));
}

function located(io: Context["io"], config: Config, given: string | undefined): Place {
  if (given === undefined)
    throw usageError(
      "The target is missing.",
      "Give a listener's URL, :4400 for the local listener on that port, or a profile with a target.",
    );
  const port = /^:([0-9]{1,5})$/.exec(given)?.[1];
  const session =
    port === undefined ? findSession(io, given) : { port: Number(port), ...readSession(io, Number(port)) };
  return session ? { url: session.url, session, config } : { url: given, config };
}

/** The signer that flags, environment, session, profile or an earlier event's record give. */
export async function resolveCredential(
  context: CredentialContext,
  session?: LocalSession,
  earlier?: CredentialReference,
): Promise<Omit<Target, "url">> {
  const { args, io } = context;
  const remembered = args.isGiven("secret-file") || args.isGiven("key") ? undefined : earlier;
  if (remembered?.kind === "session")
    return resolveCredential(context, { port: remembered.port, ...readSession(io, remembered.port) });
  if (isJwt(context, session, remembered))
    return jwtCredential(context, remembered?.kind === "key" ? remembered : undefined);

  const found = await hmacSecrets(context, session, remembered);
  const fingerprints = found.secrets.map((secret) => `${secretFingerprint(secret)}…`).join(", ");
  const profile = found.credential.kind === "profile" ? `  (profile ${found.credential.profile})` : "";
  return {
    method: "hmac",
    signer: hmacSigner({ secret: found.secrets }),
    proof: `HMAC-SHA256, secret ${fingerprints}${profile}`,
    credential: found.credential,
    auth: { method: "hmac", secret: found.secrets[0] ?? "" },
  };
}

/** A local listener's own secret comes before the profile's, which belongs to the profile's own target. */
async function hmacSecrets(
  context: CredentialContext,
  session: LocalSession | undefined,
  remembered: CredentialReference | undefined,
): Promise<FoundSecrets> {
  const { io, out } = context;
  if (remembered?.kind === "secret-files")
    return { secrets: await readSecrets(io, out, remembered.files), credential: remembered };
  if (remembered?.kind === "profile") {
    const secrets = storedSecrets(io, remembered.profile);
    if (secrets.length > 0) return { secrets, credential: remembered };
  }
  const local: FoundSecrets | undefined = session?.secret
    ? { secrets: [session.secret], credential: { kind: "session", port: session.port } }
    : undefined;
  const found = await findSecrets(context, local);
  if (found) return found;
  throw new CliError(EXIT.setup, "SECRET_MISSING", "No signing secret was given.", {
    hint: "Use --secret-file <path>, --secret-file - for standard input, HOOKPROOF_SECRET, or: hookproof secret set",
  });
}

function isJwt(
  { args, config }: CredentialContext,
  session: Session | undefined,
  remembered: CredentialReference | undefined,
): boolean {
  const method = args.text("method");
  if (method === "hmac" && args.isGiven("key"))
    throw usageError("--key belongs to --method jwt; --method hmac signs with a secret.");
  if (method !== undefined) return method === "jwt";
  if (args.isGiven("key")) return true;
  if (args.isGiven("secret-file")) return false;
  if (remembered !== undefined) return remembered.kind === "key";
  if (session !== undefined) return session.method === "jwt";
  return (config.text("method") ?? (config.text("key") === undefined ? "hmac" : "jwt")) === "jwt";
}

async function jwtCredential(
  { args, io, config }: CredentialContext,
  remembered: Extract<CredentialReference, { kind: "key" }> | undefined,
): Promise<Omit<Target, "url">> {
  const store = remembered?.store ?? storeFolder(io, config.text("store"));
  const given = remembered?.key ?? config.text("key");
  const key = await signingKey(store, given);
  const baseUrl = args.text("base-url") ?? remembered?.baseUrl ?? config.text("baseUrl");
  return {
    method: "jwt",
    signer: jwtSigner({ ...key, baseUrl }),
    proof: `JWT ${key.alg}, key ${key.kid}`,
    credential: {
      kind: "key",
      key: given ?? key.kid,
      store: resolve(store),
      ...(baseUrl === undefined ? {} : { baseUrl }),
    },
    auth: { method: "jwt", ...key, baseUrl },
  };
}
