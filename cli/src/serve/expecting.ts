// What the flags of `listen` demand of senders.

import { generateSecret, type SigningKey } from "hookproof";
import type { Mistake } from "hookproof/diagnose";
import type { HandledRequest, LocalListener, SchemeListener } from "hookproof-service/listeners";
import type { Context } from "../command.js";
import { INGESTION_PATH } from "../config/settings.js";
import { type FoundSecrets, fingerprintsOf, isLoopback } from "../credentials/origin-rule.js";
import { findSecrets, sourceOf } from "../credentials/secrets.js";
import { refuseIdle, usageError } from "../failure.js";
import { keySetOf, keysFrom, type ReadKeySet, signingKey, storeFolder } from "../keys/keys.js";
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
  /** Where that secret came from; `new` where this listener has made it. */
  readonly secretFrom?: string | undefined;
  /** The scheme, where it is not the service's own. */
  readonly scheme?: ChosenScheme | undefined;
  /** The listener; `forwards` says that its requests reach an automation. */
  listener(
    place: Place & { allowedCidrs: readonly string[]; forwards: boolean },
  ): Promise<LocalListener | SchemeListener>;
  /** The mistakes behind a refusal of a request that arrived at a time, in milliseconds. */
  mistakes(request: HandledRequest["request"], place: Place, at: number): Promise<readonly Mistake[]>;
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
  const found = keys ? undefined : await ownSecrets(context);
  const secrets = keys ? [] : (found?.secrets ?? [generateSecret()]);
  const auth = keys ? ({ method: "jwt", keys } as const) : ({ method: "hmac", secret: secrets } as const);
  return {
    method: auth.method,
    secret: secrets[0],
    secretFrom: found ? sourceOf(found, context.config) : "new",
    listener: async ({ id, baseUrl, allowedCidrs, forwards }) => ({
      listener: { id, baseUrl, auth, allowedCidrs },
      ...(keySet ? { keySet: keySet.document, ...(await tokenSigner(context, baseUrl)) } : {}),
      // Showing requests is harmless; a forwarded request reaches an automation.
      allowDocumentedSecret: !forwards,
    }),
    mistakes: async (request, place, at) => {
      const { diagnose } = await import("hookproof/diagnose");
      const [jwks, clock] = [await keySet?.document(), { now: () => at }];
      return (await diagnose({ request, listener: { ...place, auth }, jwks, clock })).mistakes;
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
  const secrets = keys ? [] : (found?.secrets ?? [(await scheme.newSecret?.(scheme.settings)) ?? ""]);
  const verifyingAt = ({ id, baseUrl }: Place) => {
    const url = `${baseUrl}${INGESTION_PATH}${id}`;
    return { ...scheme.settingsFor(url), url, keys, secrets };
  };
  const mistakes: Expecting["mistakes"] = async ({ method, url: target, headers, body }, place, at) => {
    const captured = { method, target, headers: headers as [string, string][], body };
    return mistakesBehind(scheme, captured, { ...verifyingAt(place), jwks: await keySet?.document() }, at);
  };
  return {
    method: keys ? "jwt" : "hmac",
    secret: secrets[0],
    secretFrom: found ? sourceOf(found, context.config) : "new",
    scheme,
    listener: async ({ forwards: _forwards, allowedCidrs, ...place }) => ({
      id: place.id,
      verifier: await madeWith(scheme, () => scheme.verifier(verifyingAt(place))),
      allowedCidrs,
      secrets,
      ...(await schemeSigner(context, scheme, verifyingAt(place))),
      testEvent: scheme.example,
      mistakes: (request, at) => mistakes(request, place, at),
    }),
    mistakes,
  };
}

/** Signs the inspector's test events with this user's own key, where there is one; the key set may lack it. */
async function tokenSigner(context: Context, baseUrl: string): Promise<Pick<LocalListener, "signer">> {
  const key = await ownKey(context);
  if (!key) return {};
  const { jwtSigner } = await import("hookproof");
  return { signer: jwtSigner({ ...key, baseUrl }) };
}

/** The same for another scheme: by its secrets, or by this user's own key. */
async function schemeSigner(
  context: Context,
  scheme: ChosenScheme,
  agreed: ReturnType<ChosenScheme["settingsFor"]> & { secrets: readonly string[] },
): Promise<Pick<SchemeListener, "signer">> {
  const { secrets } = agreed;
  const key = secrets.length > 0 ? undefined : await ownKey(context);
  if (secrets.length === 0 && !key) return {};
  const proof = key ? { key } : { secrets };
  try {
    return { signer: await scheme.signer({ ...agreed, ...proof }) };
  } catch {
    return {}; // a key of another kind than the scheme takes
  }
}

async function ownKey({ args, io, config }: Context): Promise<SigningKey | undefined> {
  if (args.isGiven("ui") && !args.flag("ui")) return undefined;
  try {
    const { storeOf } = await import("../config/folder-file.js");
    return await signingKey(storeFolder(io, storeOf(config)), undefined);
  } catch {
    return undefined; // no key, or a store that is not this folder's to name
  }
}

/** The given secret, or the profile's if it is for this machine; a secret of another listener is not used here. */
async function ownSecrets(context: Context): Promise<FoundSecrets | undefined> {
  const found = await findSecrets(context);
  if (found === undefined) return undefined;
  const { binding } = found;
  if (binding.kind !== "origin" || isLoopback(binding.origin)) return found;
  context.out.note(
    `The secret ${fingerprintsOf(found).join("…, ")}… signs for ${binding.origin}; this listener uses a new secret. Choose another one with --secret-file.`,
  );
  return undefined;
}
