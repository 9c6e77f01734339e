/** The verifier of receivers that are given a listener and no verifier. */
export { type ListenerOptions, listenerVerifier } from "./access-governance/verify.js";
