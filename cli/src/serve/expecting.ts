// What the flags of `listen` demand of senders.
import { generateSecret } from "hookproof";
import type { Mistake } from "hookproof/diagnose";
import type { HandledRequest, LocalListener, SchemeListener } from "hookproof-service/listeners";
import type { Context } from "../command.js";
import { fingerprintsOf, isLoopback } from "../credentials/origin-rule.js";
import { findSecrets } from "../credentials/secrets.js";
import { refuseIdle, usageError } from "../failure.js";
import { keySetOf, keysFrom, type ReadKeySet } from "../keys/keys.js";
import {
  type ChosenScheme,
  configuredScheme,
  madeWith,
  mistakesBehind,
  requireProof,
  schemeOf,
} from "../schemes/chosen-scheme.js";

/** Where a listener is. */
interface Place {
  readonly id: string;
  readonly baseUrl: string;
}

/** What a local listener expects of its senders. */
export interface Expecting {
  readonly method: "hmac" | "jwt";
  /** What `send` to this listener signs with, where it is a secret. */
  readonly secret?: string | undefined;
  /** The scheme, where it is not the service's own. */
  readonly scheme?: ChosenScheme | undefined;
  /** The listener; `forwards` says that its requests reach an automation. */
  listener(
    place: Place & { allowedCidrs: readonly string[]; forwards: boolean },
  ): Promise<LocalListener | SchemeListener>;
  /** The mistakes behind a refusal. */
  mistakes(request: HandledRequest["request"], place: Place): Promise<readonly Mistake[]>;
}

/** What the flags of `listen` say. */
export async function expectingOf(context: Context): Promise<Expecting> {
  const { args, io } = context;
  const [jwks, scheme] = [keySetOf(context), schemeOf(args, configuredScheme(context.config))];
  if (args.text("method") === "jwt" && jwks === undefined)
    throw usageError("--method jwt needs --jwks <url|file>.", "hookproof jwks serve hosts one.");
  if (jwks === undefined) refuseIdle(args, ["allow-insecure-jwks"], "is for --jwks.");
  if (args.text("method") === "hmac" && args.isGiven("jwks")) throw usageError("--jwks is for --method jwt.");
  const keySet = jwks === undefined ? undefined : await keysFrom(io, jwks, args.flag("allow-insecure-jwks"));
  if (scheme) return ofScheme(context, scheme, keySet);
  const keys = keySet?.keys;
  const secrets = keys ? [] : ((await ownSecrets(context)) ?? [generateSecret()]);
  const auth = keys ? ({ method: "jwt", keys } as const) : ({ method: "hmac", secret: secrets } as const);
  return {
    method: auth.method,
    secret: secrets[0],
    listener: async ({ id, baseUrl, allowedCidrs, forwards }) => ({
      listener: { id, baseUrl, auth, allowedCidrs },
      ...(keySet ? { keySet: keySet.document } : {}),
      // Showing requests is harmless; a forwarded request reaches an automation.
      allowDocumentedSecret: !forwards,
    }),
    mistakes: async (request, place) => {
      const { diagnose } = await import("hookproof/diagnose");
      const jwks = await keySet?.document();
      return (await diagnose({ request, listener: { ...place, auth }, jwks })).mistakes;
    },
  };
}

async function ofScheme(
  context: Context,
  scheme: ChosenScheme,
  keySet: ReadKeySet | undefined,
): Promise<Expecting> {
  const keys = keySet?.keys;
  const { args, io, config } = context;
  if (!keys && !scheme.newSecret)
    throw usageError(
      `--scheme ${scheme.settings.name} needs --jwks <url|file>.`,
      "hookproof jwks serve hosts one.",
    );
  requireProof({ ...scheme, settings: scheme.settingsFor("") }, keys ? "key" : "secret");
  // A profile's stored secret is for the profile's own scheme.
  const isOwn = configuredScheme(config)?.name === scheme.settings.name && !args.isGiven("scheme");
  const isGiven = isOwn || args.isGiven("secret-file") || io.env.HOOKPROOF_SECRET !== undefined;
  const found = keys || !isGiven ? undefined : await ownSecrets(context);
  const secrets = keys ? [] : (found ?? [(await scheme.newSecret?.(scheme.settings)) ?? ""]);
  const verifyingAt = ({ id, baseUrl }: Place) => {
    const url = `${baseUrl}/api/v1/webhooks/incoming/${id}`;
    return { ...scheme.settingsFor(url), url, keys, secrets };
  };
  const mistakes: Expecting["mistakes"] = async ({ method, url: target, headers, body }, place) => {
    const captured = { method, target, headers: headers as [string, string][], body };
    return mistakesBehind(scheme, captured, { ...verifyingAt(place), jwks: await keySet?.document() });
  };
  return {
    method: keys ? "jwt" : "hmac",
    secret: secrets[0],
    scheme,
    listener: async ({ forwards: _forwards, allowedCidrs, ...place }) => ({
      id: place.id,
      verifier: await madeWith(scheme, () => scheme.verifier(verifyingAt(place))),
      allowedCidrs,
      secrets,
      mistakes: (request) => mistakes(request, place),
    }),
    mistakes,
  };
}

/** The given secret, or the profile's if it is for this machine; a secret of another listener is not used here. */
async function ownSecrets(context: Context): Promise<readonly string[] | undefined> {
  const found = await findSecrets(context);
  if (found === undefined) return undefined;
  const { binding } = found;
  if (binding.kind !== "origin" || isLoopback(binding.origin)) return found.secrets;
  context.out.note(
    `The secret ${fingerprintsOf(found).join("…, ")}… signs for ${binding.origin}; this listener uses a new secret. Choose another one with --secret-file.`,
  );
  return undefined;
}
