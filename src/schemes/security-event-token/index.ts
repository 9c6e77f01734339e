/**
 * Security event tokens: send and receive what has happened to a session, a credential or an account as signed tokens
 * (RFC 8417) by push (RFC 8935), with the event types of CAEP.
 *
 * @packageDocumentation
 */

export { type SecurityEventSignerOptions, securityEventSigner } from "./sign.js";
export {
  type SecurityEventClaims,
  type SecurityEventVerifierOptions,
  securityEventVerifier,
} from "./verify.js";

// What happened

export {
  CAEP,
  RISC,
  SCIM,
  type SecurityEvent,
  type SecurityEventAbout,
  type SecurityEventPayloads,
  SSF,
  securityEvent,
} from "../../events/security-events.js";

// What the names above are made of

export type { SigningKeySource } from "../../jwt/sign-token.js";
