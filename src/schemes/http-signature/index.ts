/**
 * HTTP message signatures (RFC 9421) with `Content-Digest` (RFC 9530), for senders, outboxes and receivers. It needs the
 * package `structured-headers` next to it.
 *
 * @packageDocumentation
 */

export {
  type DerivedComponent,
  type HttpSignatureProfile,
  type HttpSignatureSignerOptions,
  httpSignatureSigner,
} from "./sign.js";
export { type HttpSignatureVerifierOptions, httpSignatureVerifier } from "./verify.js";
