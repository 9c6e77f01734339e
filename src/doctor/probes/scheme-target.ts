// What a listener of each scheme is probed with.
import type { OtherScheme } from "../schemes/other-scheme.js";
import { probeTargetOf, type SchemeSetups } from "../schemes/probes-by-name.js";
import type { SchemeProbeTarget } from "./scheme-probes.js";

/** A listener of a scheme that Hookproof has, and what its sender signs with. */
export type SchemeSetup = SchemeSetups[OtherScheme];

/**
 * What `runSchemeProbes` sends to a listener of a scheme that Hookproof has: signed with what a correct sender has, and
 * everything that the scheme's specification refuses.
 *
 * @param setup the scheme, the listener's URL, and secret or key
 * @throws {TypeError} for a scheme that it does not know, and as the scheme's signer does
 * @throws {HookproofError} SECRET_INVALID
 *
 * @example
 * ```ts
 * import { runSchemeProbes, schemeProbeTarget } from "hookproof/probes";
 *
 * declare const secrets: string; // whsec_…
 *
 * const target = await schemeProbeTarget({ scheme: "standard-webhooks", url: "http://127.0.0.1:3000/hooks", secrets });
 * for await (const { id, outcome } of runSchemeProbes(target, { allowTrigger: true })) console.log(id, outcome);
 * ```
 */
export async function schemeProbeTarget(setup: SchemeSetup): Promise<SchemeProbeTarget> {
  return probeTargetOf(setup.scheme, setup);
}
