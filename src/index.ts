/**
 * Sign webhooks and send them: signers by secret or key, a sender that retries under one event id, errors with codes.
 *
 * @packageDocumentation
 */

// Sending

export {
  createSender,
  type Sender,
  type SenderOptions,
  type SendManyOptions,
  type SendOptions,
  type SendResult,
} from "./sender/sender.js";
export {
  type ListenerMessage,
  type ListenerResult,
  type SendToListenersOptions,
  sendToListeners,
} from "./sender/to-listeners.js";

// Signing

export { type HmacInput, type HmacSecret, hmacSigner, signHmac } from "./schemes/access-governance/hmac.js";

// … by a key

export { type JwtSignerOptions, jwtSigner } from "./schemes/access-governance/jwt.js";

// Events

export { createEvent, isEventId, newEventId, type WebhookEvent } from "./core/event.js";

// … checked by schemas

export { type EventCatalogueOptions, eventCatalogue } from "./events/json-schema.js";
export type { EventPayload, EventSchemas, StandardSchema, UntypedEvents } from "./events/standard-schema.js";

// Failures

export { type ErrorCode, HookproofError } from "./core/errors.js";
export { DeliveryError } from "./sender/deliver.js";

// Secrets, and signatures without a sender

export { verifyHmac } from "./schemes/access-governance/hmac.js";
export { generateSecret, secretFingerprint, secretWarnings } from "./schemes/access-governance/secret.js";
export { type SignedRequest, signRequest } from "./sender/sign-request.js";

// What the names above are made of

export type { Clock } from "./core/clock.js";
export type { HeaderPair, HeadersInput } from "./core/headers.js";
export type {
  ConnectionAgent,
  Transport,
  TransportOptions,
  TransportRequest,
  TransportResponse,
} from "./http/transport.js";
export { ALGORITHMS, type Algorithm } from "./jwt/algorithms.js";
export type { ExternalSigner, PrivateKeyInput, SigningKey } from "./jwt/key.js";
export type { Signer, UnsignedRequest } from "./schemes/scheme.js";
export type { AttemptRecord } from "./sender/attempt-record.js";
export type { Receipt } from "./sender/deliver.js";
export type { Activity, Observer, OutboxActivity } from "./sender/observe.js";
export type { RetryPolicy } from "./sender/retry-policy.js";
