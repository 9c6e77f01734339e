// Loads the probes of a scheme by its name.
import type { SchemeProbeTarget } from "../probes/scheme-probes.js";
import type { HttpSignatureSetup } from "./http-signature/probes.js";
import { entryOf, type OtherScheme } from "./other-scheme.js";
import type { SecurityEventSetup } from "./security-event-token/probes.js";
import type { StandardWebhooksSetup } from "./standard-webhooks/probes.js";

/** A listener's URL and what its sender has, by the scheme's name. */
export interface SchemeSetups extends Readonly<Record<OtherScheme, object>> {
  readonly "standard-webhooks": StandardWebhooksSetup;
  readonly "http-signature": HttpSignatureSetup;
  readonly "security-event-token": SecurityEventSetup;
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
  return (await entryOf(PROBES, scheme)()).probeTarget(setup);
}
