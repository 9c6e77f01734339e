/**
 * Security event tokens that the recipient fetches (RFC 8936): the endpoint of a transmitter over an outbox's store, the
 * polls of a recipient, and the status and verification of a stream at a transmitter of others.
 *
 * @packageDocumentation
 */

export { securityEventPollHandler } from "./poll-handler.js";
export { pollSecurityEvents } from "./poll-security-events.js";
export { type SecurityEventStream, securityEventStream } from "./stream.js";
