export type { Algorithm, PrivateKeyInput, SigningKey } from "../jwt/key.js";
export { type ProbeSelection, probes, selectProbes } from "./battery.js";
export type { ProbeOutcome } from "./judge.js";
export type { LeftOpen, Probe, ProbeMethod } from "./probe.js";
export type { ProbeResult, SkipCause } from "./run-probe.js";
export { type ProbeTarget, type RunProbesOptions, runProbes } from "./run-probes.js";
