/**
 * Standard Webhooks: send and receive by the specification that many services share, with `v1` (HMAC) and `v1a` (Ed25519).
 *
 * @packageDocumentation
 */

export {
  generateStandardKeys,
  generateStandardSecret,
  type StandardWebhooksSecrets,
  standardWebhooksSigner,
} from "./sign.js";
export { standardWebhooksVerifier } from "./verify.js";
