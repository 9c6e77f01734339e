import { hmacKey, hmacSha256 } from "#hash";
import { decodeBase64url } from "../primitives/base64url.js";
import { bodyBytes } from "../primitives/bytes.js";
import {
  EVENT_ID_HEADER,
  type HeadersInput,
  receivedHeaders,
  SIGNATURE_HEADER,
  TIMESTAMP_HEADER,
} from "../protocol/headers.js";
import { signingHead } from "../protocol/signing-input.js";

/** A known mistake that explains a signature. */
export interface Cause {
  /** A stable name, such as `secret-base64url-decoded`. */
  readonly id: string;
  readonly message: string;
  /** What to change. */
  readonly fix: string;
}

/** What a diagnosis found; no cause means that no known mistake explains the signature. */
export interface Diagnosis {
  readonly causes: readonly Cause[];
}

/** A failing request and what the caller knows. */
export interface DiagnoseInput {
  request: { headers: HeadersInput; body: string | Uint8Array };
  /** The secret's text as the service shows it. */
  secret: string;
}

/**
 * Looks for the mistake that made a signature: recomputes it the way people get it wrong, and names the way
 * that matches. For tools and developers; verification never uses it.
 *
 * @example
 * ```ts
 * import { diagnose } from "hookproof/diagnose";
 *
 * const { causes } = await diagnose({
 *   request: {
 *     headers: {
 *       "Webhook-Timestamp": "1767225600",
 *       "Webhook-Event-Id": "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10",
 *       "Webhook-Signature": "5IR7O7M7coTagTYFSQcd_pWFTM8MOOcTqzRb4CF0BqA",
 *     },
 *     body: '{"type":"user.offboarded","userId":"u_123"}',
 *   },
 *   secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
 * });
 * causes[0]?.id; // "secret-base64url-decoded"
 * ```
 */
export async function diagnose({ request, secret }: DiagnoseInput): Promise<Diagnosis> {
  const headers = receivedHeaders(request.headers);
  const [timestamp = ""] = headers.all(TIMESTAMP_HEADER);
  const [eventId = ""] = headers.all(EVENT_ID_HEADER);
  const [signature = ""] = headers.all(SIGNATURE_HEADER);
  const decoded = decodeBase64url(secret);
  const matches =
    decoded &&
    hmacSha256(hmacKey(decoded), signingHead(timestamp, eventId), bodyBytes(request.body)) === signature;
  return { causes: matches ? [SECRET_DECODED] : [] };
}

const SECRET_DECODED: Cause = {
  id: "secret-base64url-decoded",
  message: "It matches if the secret is base64url-decoded first. The key is the string itself.",
  fix: "Use the secret's text as it is: createHmac('sha256', secret), without Buffer.from(secret, 'base64url').",
};
