import { hmacSigner, jwtSigner, type Signer, secretFingerprint } from "hookproof";
import type { ProbeTarget } from "hookproof/probes";
import type { Args, Context, Flag } from "./command.js";
import { CliError, EXIT, usageError } from "./failure.js";
import type { CredentialReference } from "./history.js";
import { signingKey, storeFolder } from "./keys.js";
import { givenSecrets } from "./secrets.js";
import { readSession, type Session } from "./sessions.js";

/** The flags of every command that signs. */
export const CREDENTIAL_FLAGS = {
  method: { type: "string", choices: ["hmac", "jwt"], describe: "how to prove the request; jwt with --key" },
  "secret-file": {
    type: "string",
    value: "<path|->",
    repeatable: true,
    describe: "the signing secret; twice (new, old) during a rotation",
  },
  secret: {
    type: "string",
    hidden: true,
    describe: "refused: a secret on the command line is readable by others",
  },
  key: { type: "string", value: "<kid|file>", describe: "a key of the store, or a file with a private JWK" },
  store: { type: "string", value: "<dir>", describe: "the key store; the user's own by default" },
  "base-url": { type: "string", value: "<url>", describe: "the tenant's base URL, the claim sub" },
} as const satisfies Record<string, Flag>;

/** The flags of every command that connects. */
export const CONNECTION_FLAGS = {
  ca: { type: "string", value: "<file>", describe: "a CA certificate in PEM to trust" },
  insecure: { type: "boolean", describe: "do not check the certificate; loopback only" },
} as const satisfies Record<string, Flag>;

export const TARGET_POSITIONAL = {
  name: "target",
  required: false,
  describe: "a listener's URL, or :4400 for the local listener on that port",
};

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

/** Works out the target of a command from its argument and flags, or from what an earlier event was sent with. */
export async function resolveTarget(
  context: Context,
  earlier?: { url: string; credential: CredentialReference },
): Promise<Target> {
  const { args, io } = context;
  refuseSecretOnCommandLine(args);
  const given = args.text("target") ?? earlier?.url;
  if (given === undefined)
    throw usageError(
      "The target is missing.",
      "Give a listener's URL, or :4400 for the local listener on that port.",
    );
  const local = /^:([0-9]{1,5})$/.exec(given)?.[1];
  const session =
    local === undefined ? undefined : { port: Number(local), ...readSession(io, Number(local)) };
  return { url: session?.url ?? given, ...(await resolveCredential(context, session, earlier?.credential)) };
}

type CredentialContext = Pick<Context, "args" | "io" | "out">;

/** The signer that the flags, the session or an earlier event's record give. */
export async function resolveCredential(
  context: CredentialContext,
  session?: Session & { port: number },
  earlier?: CredentialReference,
): Promise<Omit<Target, "url">> {
  const { args, io, out } = context;
  refuseSecretOnCommandLine(args);
  const files = args.texts("secret-file");
  const remembered = files.length === 0 && args.text("key") === undefined ? earlier : undefined;
  if (remembered?.kind === "session")
    return resolveCredential(context, { port: remembered.port, ...readSession(io, remembered.port) });
  if (isJwt(args, session, remembered))
    return jwtCredential(context, remembered?.kind === "key" ? remembered : undefined);

  const fromFiles = remembered?.kind === "secret-files" ? remembered.files : files;
  const secrets = await givenSecrets(io, out, fromFiles);
  const used = secrets.length > 0 ? secrets : session?.secret ? [session.secret] : [];
  const [first] = used;
  if (first === undefined) {
    throw new CliError(EXIT.setup, "SECRET_MISSING", "No signing secret was given.", {
      hint: "Use --secret-file <path>, --secret-file - for standard input, or the variable HOOKPROOF_SECRET.",
    });
  }
  const credential: CredentialReference =
    fromFiles.length > 0
      ? { kind: "secret-files", files: fromFiles }
      : secrets.length > 0
        ? { kind: "environment" }
        : { kind: "session", port: session?.port ?? 0 };
  const fingerprints = used.map((secret) => `${secretFingerprint(secret)}…`).join(", ");
  return {
    method: "hmac",
    signer: hmacSigner({ secret: used }),
    proof: `HMAC-SHA256, secret ${fingerprints}`,
    credential,
    auth: { method: "hmac", secret: first },
  };
}

function isJwt(
  args: Args,
  session: Session | undefined,
  remembered: CredentialReference | undefined,
): boolean {
  const method = args.text("method");
  const hasKey = args.text("key") !== undefined;
  if (method === "hmac" && hasKey)
    throw usageError("--key belongs to --method jwt; --method hmac signs with a secret.");
  if (method !== undefined) return method === "jwt";
  return hasKey || remembered?.kind === "key" || (remembered === undefined && session?.method === "jwt");
}

async function jwtCredential(
  { args, io }: CredentialContext,
  remembered: Extract<CredentialReference, { kind: "key" }> | undefined,
): Promise<Omit<Target, "url">> {
  const store = remembered?.store ?? storeFolder(io, args.text("store"));
  const key = await signingKey(store, remembered?.key ?? args.text("key"));
  const baseUrl = args.text("base-url") ?? remembered?.baseUrl;
  const given = args.text("key");
  return {
    method: "jwt",
    signer: jwtSigner({ ...key, baseUrl }),
    proof: `JWT ${key.alg}, key ${key.kid}`,
    credential: {
      kind: "key",
      key: remembered?.key ?? given ?? key.kid,
      store,
      ...(baseUrl === undefined ? {} : { baseUrl }),
    },
    auth: { method: "jwt", ...key, baseUrl },
  };
}

function refuseSecretOnCommandLine(args: Args): void {
  if (args.text("secret") === undefined) return;
  throw usageError(
    "--secret is refused: other users of this machine can read a command line, and the shell keeps it.",
    "Use --secret-file <path>, --secret-file - for standard input, or the variable HOOKPROOF_SECRET.",
  );
}
