// The verifier of receivers that are given a listener, and what it demands.
/** The verifier of receivers that are given a listener and no verifier, and what it demands. */
export { LISTENER_CHECKS } from "./access-governance/checks.js";
export { type ListenerOptions, listenerVerifier } from "./access-governance/verify.js";
