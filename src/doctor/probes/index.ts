/**
 * Probes: requests, right and wrong, that show what a listener accepts and what it refuses.
 *
 * @packageDocumentation
 */

export { type ProbeTarget, type RunProbesOptions, runProbes } from "./run-probes.js";

// Which probes

export type { AuthenticationMethod, Probe } from "./probe.js";
export { type ProbeFilter, probes, selectProbes } from "./run-probes.js";
export type { ProbeOutcome, ProbeResult } from "./send-probe.js";

// Listeners of another scheme

export {
  runSchemeProbes,
  type SchemeProbeTarget,
  schemeProbes,
  schemeVerdict,
  type WrongChange,
  type WrongSigner,
} from "./scheme-probes.js";
export { type SchemeSetup, schemeProbeTarget } from "./scheme-target.js";

// How a listener behaves where it has a choice

export {
  type BehaviourDrift,
  type BehaviourProfile,
  behaveAs,
  behaviourDrift,
  readBehaviour,
  recordBehaviour,
} from "./behaviour.js";

// What is wrong with the listener

export { findListenerMistake } from "./find-listener-mistake.js";
export type { ListenerVerdict } from "./listener-verdict.js";
