export { type ErrorCode, HookproofError, type VerdictCode } from "./errors.js";
export { generateSecret, secretFingerprint, secretWarnings } from "./hmac/secret.js";
export { type HmacInput, hmacSigner, signHmac } from "./hmac/sign.js";
export { verifyHmac } from "./hmac/verify.js";
export type {
  ConnectionAgent,
  Transport,
  TransportOptions,
  TransportRequest,
  TransportResponse,
} from "./http/transport.js";
export type { ExternalSigner } from "./jwt/external-signature.js";
export type { Algorithm, PrivateKeyInput, SigningKey } from "./jwt/key.js";
export { type JwtSignerOptions, jwtSigner } from "./jwt/sign.js";
export type { Clock } from "./primitives/clock.js";
export { createEvent, type WebhookEvent } from "./protocol/event.js";
export { isEventId, newEventId } from "./protocol/event-id.js";
export type { HeaderPair, HeadersInput } from "./protocol/headers.js";
export type { Signer, UnsignedRequest } from "./protocol/signer.js";
export type { Receipt } from "./sender/deliver.js";
export { type AttemptRecord, DeliveryError } from "./sender/delivery-error.js";
export type { Observe, SenderEvent } from "./sender/observe.js";
export type { RetryPolicy } from "./sender/retry-policy.js";
export {
  createSender,
  type Sender,
  type SenderOptions,
  type SendOptions,
  type SendResult,
} from "./sender/sender.js";
export { type SignedRequest, signRequest } from "./sender/sign-request.js";
