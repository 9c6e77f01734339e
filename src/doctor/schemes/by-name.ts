// Loads the mistakes and probes of a scheme by its name.
import type { SigningKey } from "../../jwt/key.js";
import type { StandardWebhooksSecrets } from "../../schemes/standard-webhooks/sign.js";
import type { SchemeProbeTarget } from "../probes/scheme-probes.js";
import type { Mistake } from "../rows/mistake.js";
import type { HttpSignatureInput } from "./http-signature/diagnose.js";
import type { SecurityEventInput } from "./security-event-token/diagnose.js";
import type { StandardWebhooksInput } from "./standard-webhooks/diagnose.js";

/** The name of a scheme besides the default one. */
export type OtherScheme = "standard-webhooks" | "http-signature" | "security-event-token";

/** What is known of a request of another scheme than the default one, by the scheme's name. */
export interface SchemeInputs extends Readonly<Record<OtherScheme, object>> {
  readonly "standard-webhooks": StandardWebhooksInput;
  readonly "http-signature": HttpSignatureInput;
  readonly "security-event-token": SecurityEventInput;
}

/** A scheme's mistakes, and how they are found. */
interface SchemeDoctor<Input> {
  readonly MISTAKES: readonly Mistake[];
  diagnosed(input: Input): readonly Mistake[] | Promise<readonly Mistake[]>;
}

/** Each is loaded when it is asked for: HTTP message signatures need a package that others do not have. */
const DOCTORS: { readonly [Name in OtherScheme]: () => Promise<SchemeDoctor<SchemeInputs[Name]>> } = {
  "standard-webhooks": () => import("./standard-webhooks/diagnose.js"),
  "http-signature": () => import("./http-signature/diagnose.js"),
  "security-event-token": () => import("./security-event-token/diagnose.js"),
};

/** A listener's URL and what its sender has, by the scheme's name. */
export interface SchemeSetups extends Readonly<Record<OtherScheme, object>> {
  readonly "standard-webhooks": {
    readonly scheme: "standard-webhooks";
    /** The listener's URL. */
    readonly url: string;
    /** `whsec_…`: one, or several. */
    readonly secrets: StandardWebhooksSecrets;
  };
  readonly "http-signature": {
    readonly scheme: "http-signature";
    /** The listener's URL. */
    readonly url: string;
  } & (
    | {
        /** The key of the sender, of which the listener knows the public half. */
        readonly key: SigningKey;
      }
    | {
        /** The shared secret. */
        readonly secret: string;
        /** The name of the secret, `keyid`. */
        readonly keyId: string;
      }
  );
  readonly "security-event-token": {
    readonly scheme: "security-event-token";
    /** The listener's URL. */
    readonly url: string;
    /** The key of the issuer, of which the listener knows the public half. */
    readonly key: SigningKey;
    /** The claim `iss`. */
    readonly issuer: string;
    /** The claim `aud`. */
    readonly audience: string;
  };
}

/** Each scheme's probes, loaded when they are asked for. */
const PROBES: {
  readonly [Name in OtherScheme]: () => Promise<{
    probeTarget(setup: SchemeSetups[Name]): SchemeProbeTarget | Promise<SchemeProbeTarget>;
  }>;
} = {
  "standard-webhooks": () => import("./standard-webhooks/probes.js"),
  "http-signature": () => import("./http-signature/probes.js"),
  "security-event-token": () => import("./security-event-token/probes.js"),
};

/** What a listener of this scheme is probed with. */
export async function probeTargetOf<Name extends OtherScheme>(
  scheme: Name,
  setup: SchemeSetups[Name],
): Promise<SchemeProbeTarget> {
  return (await PROBES[known(scheme)]()).probeTarget(setup);
}

function known<Name extends OtherScheme>(scheme: Name): Name {
  if (!Object.hasOwn(DOCTORS, scheme))
    throw new TypeError(`scheme must be one of ${Object.keys(DOCTORS).join(", ")}, or left out`);
  return scheme;
}

/** Finds the mistakes of a request of this scheme, or lists all that it can have. */
export async function doctorOf<Name extends OtherScheme>(
  scheme: Name,
): Promise<SchemeDoctor<SchemeInputs[Name]>> {
  return DOCTORS[known(scheme)]();
}
