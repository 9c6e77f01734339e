// Works out where a request goes and what signs it.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Signer } from "hookproof";
import { hmacSigner, jwtSigner } from "hookproof";
import type { ProbeTarget } from "hookproof/probes";
import type { Args, Context } from "../command.js";
import { type Config, knownProfiles } from "../config/config.js";
import { isOfFolder, requireInside, storeOf } from "../config/folder-file.js";
import { nextStep } from "../config/next-step.js";
import { INGESTION_PATH, SETTINGS } from "../config/settings.js";
import { CliError, EXIT, refuseIdle, usageError } from "../failure.js";
import type { CredentialReference } from "../history/history-record.js";
import { signingKey, storeFolder } from "../keys/keys.js";
import {
  type ChosenScheme,
  configuredScheme,
  madeWith,
  requireProof,
  schemeOf,
} from "../schemes/chosen-scheme.js";
import type { SchemeSettings } from "../schemes/schemes.js";
import type { Reached } from "../send/reach.js";
import { findSession, isListening, readSession, type Session } from "../serve/sessions.js";
import { wordOf } from "../shell-word.js";
import {
  type Binding,
  type FoundSecrets,
  fingerprintsOf,
  originOf,
  requireOwnOrigin,
  type TargetSource,
} from "./origin-rule.js";
import { findSecrets, readSecrets, sourceOf } from "./secrets.js";
import { storedSecrets } from "./stored-secrets.js";
import { isHttpUrl, shownUrl, typedTarget } from "./typed-target.js";

/** Who a request goes to and how it is proved. */
export interface Target extends Reached {
  readonly method: "hmac" | "jwt";
  readonly signer: Signer;
  /** The scheme, where it is not the service's own. */
  readonly scheme?: ChosenScheme;
  /** The method in words, with a fingerprint or kid instead of the secret or key. */
  readonly proof: string;
  readonly credential: CredentialReference;
  /** The secret or key itself, for the probes, which also sign wrongly; of two secrets the first. */
  readonly auth: ProbeTarget["auth"];
}

interface Place {
  readonly url: string;
  readonly source: TargetSource;
  readonly session?: LocalSession;
  /** The configuration as the target's profile sees it. */
  readonly config: Config;
}

type LocalSession = Session & { readonly port: number };
type CredentialContext = Pick<Context, "args" | "io" | "out" | "config">;

/** An event that was sent or recorded earlier: its URL, and how it was authenticated if that is known. */
interface Earlier {
  readonly url: string;
  readonly credential?: CredentialReference;
  readonly scheme?: SchemeSettings | undefined;
  /** The history is this user's own; an exported file may come from anybody, so its URL is not trusted. */
  readonly source: "history" | "export";
}

/** Works out the target of a command from its argument, the profile, or what an earlier event was sent with. */
export async function resolveTarget(context: Context, earlier?: Earlier): Promise<Target> {
  const { url, source, session, config } = placeOf(context, earlier);
  const known = session ? session.scheme : earlier ? earlier.scheme : configuredScheme(config);
  const scheme = schemeOf(context.args, known);
  if (session) requireItsScheme(context.args, session, scheme);
  if (scheme === undefined) requirePath(url);
  if (!URL.canParse(url))
    throw new CliError(EXIT.usage, "LISTENER_URL_INVALID", `${shownUrl(url)} is not a URL.`);
  // A secret or key that was used for one target must not be used for another one.
  const credential = earlier?.url === url ? earlier.credential : undefined;
  const target = { url, source };
  return {
    url,
    source,
    config,
    ...(await resolveCredential({ ...context, config }, { target, session, credential, scheme })),
  };
}

/** Refuses to prove a request by another scheme with the secret of a local listener, which has the form of its own. */
function requireItsScheme(args: Args, { port, scheme: own }: LocalSession, scheme?: ChosenScheme): void {
  if (scheme === undefined || scheme.settings.name === own?.name) return;
  if (args.isGiven("secret-file") || args.isGiven("key")) return;
  const wanted = `--scheme ${scheme.settings.name}`;
  const verifies = own === undefined ? "the service's own scheme" : `--scheme ${own.name}`;
  throw new CliError(
    EXIT.usage,
    "USAGE",
    `The listener on port ${port} verifies ${verifies}, not ${wanted}.`,
    {
      hint: `Leave out --scheme, which takes the listener's own; or end the listener, and start it with hookproof listen --port ${port} ${wanted}${scheme.proofs.includes("secret") ? "" : " --jwks <url|file>"}.`,
    },
  );
}

/** Refuses a URL that is no listener's before a secret is asked for: of the address of a machine alone, or of another path. */
function requirePath(url: string): void {
  if (!URL.canParse(url) || new URL(url).pathname.includes(INGESTION_PATH)) return;
  const port = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\]):([0-9]+)/i.exec(url)?.[1];
  throw new CliError(
    EXIT.usage,
    "LISTENER_URL_INVALID",
    `The listener's URL must end in ${INGESTION_PATH}{listener_id}.`,
    { hint: port && `Use :${port} for a listener that runs there: hookproof listen --port ${port}` },
  );
}

/** Where the target is: a URL, a local listener's port, or what a profile says. */
export function placeOf({ args, io, config }: CredentialContext, earlier?: Earlier): Place {
  const given = args.text("target");
  const argument =
    given &&
    typedTarget(given, {
      isProfile: (name) => knownProfiles(config.files).includes(name),
      hasListener: (port) => isListening(io, port),
    });
  if (argument !== undefined && !/^:|:\/\//.test(argument)) {
    if (args.isGiven("profile") && args.text("profile") !== argument)
      throw usageError(`The target ${JSON.stringify(argument)} and --profile name two profiles.`);
    const named = config.withProfile(argument);
    named.requireKnownProfile();
    return configured(io, named);
  }
  if (argument !== undefined) return located(io, config, argument, "typed");
  return earlier ? located(io, config, earlier.url, earlier.source) : configured(io, config);
}

function configured(io: Context["io"], config: Config): Place {
  const found = config.find("target");
  const source = found?.origin === SETTINGS.target.env ? "environment" : "file";
  return located(io, config, found === undefined ? undefined : String(found.value), source);
}

function located(io: Context["io"], config: Config, given: string | undefined, source: TargetSource): Place {
  if (given === undefined)
    throw usageError(
      "The target is missing.",
      "Give a listener's URL, :4400 for the local listener on that port, or a profile with a target.",
    );
  const port = /^:([0-9]{1,5})$/.exec(given)?.[1];
  const session =
    port === undefined ? findSession(io, given) : { port: Number(port), ...readSession(io, Number(port)) };
  return session ? { url: session.url, source, session, config } : { url: given, source, config };
}

/** What is known of a request before its credential is. */
interface Proving {
  readonly target?: { readonly url: string; readonly source: TargetSource } | undefined;
  readonly session?: LocalSession | undefined;
  /** What proved an earlier event to the same target. */
  readonly credential?: CredentialReference | undefined;
  readonly scheme: ChosenScheme | undefined;
}

/** The signer that flags, environment, session, profile or an earlier event's record give, for that target. */
export async function resolveCredential(
  context: CredentialContext,
  { target, session, credential: earlier, scheme }: Proving,
): Promise<Omit<Target, keyof Reached>> {
  const { args, io } = context;
  const remembered = args.isGiven("secret-file") || args.isGiven("key") ? undefined : earlier;
  if (remembered?.kind === "session") {
    const { port } = remembered;
    return resolveCredential(context, { target, session: { port, ...readSession(io, port) }, scheme });
  }
  requireBaseUrl(args);
  const isByKey = isJwt(context, session, remembered, scheme);
  if (!isByKey || scheme)
    refuseIdle(args, ["base-url"], "is for --method jwt without --scheme: it is the claim sub.");
  if (isByKey) refuseIdle(args, ["secret-file"], "is for --method hmac; a token is signed with a key.");
  if (scheme) requireProof(scheme, isByKey ? "key" : "secret");
  if (isByKey) {
    const before = remembered?.kind === "key" ? remembered : undefined;
    if (scheme && before === undefined && target?.source === "file") requireOwnAudience(context, target.url);
    return jwtCredential(context, before, scheme);
  }

  const found = await hmacSecrets(context, target?.url, session, remembered);
  if (target !== undefined) requireOwnOrigin(args, found, target);
  const fingerprints = fingerprintsOf(found)
    .map((text) => `${text}…`)
    .join(", ");
  const { secrets, credential } = found;
  return {
    method: "hmac",
    ...(scheme
      ? { scheme, signer: await madeWith(scheme, () => scheme.signer({ ...scheme.settings, secrets })) }
      : { signer: hmacSigner({ secret: secrets }) }),
    proof: `${scheme?.title ?? "HMAC-SHA256"}, secret ${fingerprints}${shownSource(found, context)}`,
    credential,
    auth: { method: "hmac", secret: secrets[0] ?? "" },
  };
}

/** Where a secret came from that the command line does not name, to stand behind its fingerprint. */
function shownSource(found: FoundSecrets, { config }: Pick<Context, "config">): string {
  const source = sourceOf(found, config);
  return source === undefined || source.startsWith("--") ? "" : `  (${source})`;
}

/**
 * Refuses a folder's configuration that sends a token of this user's own key to one origin, and has it made for another:
 * whoever gets it there could pass it on. In the service's own scheme no token is made for another.
 */
function requireOwnAudience({ args, config }: CredentialContext, url: string): void {
  const audience = config.text("audience");
  const isKeyOfFolder =
    isOfFolder(config, "store") || (isOfFolder(config, "key") && existsSync(config.text("key") ?? ""));
  if (audience === undefined || args.isGiven("key") || isKeyOfFolder) return;
  if (!isOfFolder(config, "audience") || !isOfFolder(config, "target")) return;
  if (originOf(audience) === originOf(url)) return;
  throw new CliError(
    EXIT.setup,
    "SECRET_OTHER_ORIGIN",
    `${config.projectPath} names the target ${url}, and ${JSON.stringify(audience)} as whom your key's token is for.`,
    {
      hint: `If you trust that configuration: --config ${wordOf(config.projectPath)}, or --audience ${wordOf(audience)}`,
    },
  );
}

function requireBaseUrl(args: Args): void {
  const given = args.text("base-url");
  if (given !== undefined && !isHttpUrl(given))
    throw usageError(`--base-url must be an http or https URL, not ${shownUrl(given)}.`);
}

/** See `findSecrets`: a local listener's own secret stands behind a profile's that is for the same target. */
async function hmacSecrets(
  context: CredentialContext,
  url: string | undefined,
  session: LocalSession | undefined,
  remembered: CredentialReference | undefined,
): Promise<FoundSecrets> {
  const { args, io, out } = context;
  const earlier = rememberedBinding(url);
  if (remembered?.kind === "secret-files")
    return {
      secrets: await readSecrets(io, out, remembered.files),
      credential: remembered,
      binding: earlier,
    };
  if (remembered?.kind === "profile") {
    const stored = storedSecrets(io, args, remembered);
    if (stored)
      return {
        secrets: stored.secrets,
        credential: remembered,
        binding: stored.origin === undefined ? { kind: "none" } : { kind: "origin", origin: stored.origin },
      };
  }
  const origin = originOf(session?.url);
  const local: FoundSecrets | undefined =
    session?.secret && origin
      ? {
          secrets: [session.secret],
          credential: { kind: "session", port: session.port },
          binding: { kind: "origin", origin },
        }
      : undefined;
  const found = await findSecrets(context, local);
  if (!found)
    throw new CliError(EXIT.setup, "SECRET_MISSING", "No signing secret was given.", {
      hint: `Use --secret-file <path>, --secret-file - for standard input, HOOKPROOF_SECRET, or: ${nextStep(args, "hookproof secret set")}`,
    });
  // The same secret of the environment has signed for this target before.
  const isAgain =
    remembered?.kind === "environment" &&
    found.credential.kind === "environment" &&
    found.binding.kind === "environment" &&
    remembered.fingerprint === found.credential.fingerprint;
  return isAgain ? { ...found, binding: earlier } : found;
}

/** What signed for a target before, by this user's history, may do so again. */
function rememberedBinding(url: string | undefined): Binding {
  const origin = originOf(url);
  return origin === undefined ? { kind: "none" } : { kind: "origin", origin };
}

/** Whether a key proves the request, and no secret. */
function isJwt(
  { args, config }: CredentialContext,
  session: Session | undefined,
  remembered: CredentialReference | undefined,
  scheme: ChosenScheme | undefined,
): boolean {
  const method = args.text("method");
  if (method === "hmac" && (args.isGiven("key") || args.isGiven("kid")))
    throw usageError("--key is for --method jwt; --method hmac signs with a secret.");
  if (method !== undefined) return method === "jwt";
  if (args.isGiven("key") || args.isGiven("kid")) return true;
  if (args.isGiven("secret-file")) return false;
  if (scheme?.proofs.length === 1) return scheme.proofs.includes("key");
  if (remembered !== undefined) return remembered.kind === "key";
  if (session !== undefined) return session.method === "jwt";
  return (config.text("method") ?? (config.text("key") === undefined ? "hmac" : "jwt")) === "jwt";
}

/** A file's kid is that of the same file's key: it is put on no other one, such as that of HOOKPROOF_KEY. */
function configuredKid(config: Config): string | undefined {
  const [key, kid] = [config.find("key"), config.find("kid")];
  if (kid?.file !== undefined && key !== undefined && key.file !== kid.file) return undefined;
  return config.text("kid");
}

async function jwtCredential(
  { args, io, config }: CredentialContext,
  remembered: Extract<CredentialReference, { kind: "key" }> | undefined,
  scheme: ChosenScheme | undefined,
): Promise<Omit<Target, keyof Reached>> {
  const store = remembered?.store ?? storeFolder(io, storeOf(config));
  if (remembered === undefined)
    requireInside(config, "key", { code: "SECRET_FILE_OUTSIDE", what: "key", flag: "--key" });
  const given = remembered?.key ?? config.text("key");
  const profiled = remembered === undefined && !args.isGiven("key") ? configuredKid(config) : undefined;
  const kid = args.text("kid") ?? remembered?.kid ?? profiled;
  const key = await signingKey(store, given, kid);
  const baseUrl = args.text("base-url") ?? remembered?.baseUrl ?? config.text("baseUrl");
  return {
    method: "jwt",
    ...(scheme
      ? { scheme, signer: await madeWith(scheme, () => scheme.signer({ ...scheme.settings, key })) }
      : { signer: jwtSigner({ ...key, baseUrl }) }),
    proof: `${scheme?.title ?? "JWT"} ${key.alg}, key ${key.kid}`,
    credential: {
      kind: "key",
      key: given ?? key.kid,
      store: resolve(store),
      ...(baseUrl === undefined ? {} : { baseUrl }),
      ...(kid === undefined ? {} : { kid }),
    },
    auth: { method: "jwt", ...key, baseUrl },
  };
}
