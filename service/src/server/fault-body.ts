// The body of an error that was set to happen.
import { requestInfo } from "../api/errors.js";
import type { OperationId } from "../api/operations.js";
import { bearerChallenge, REALM } from "./send-json.js";

/** google.rpc.Code by HTTP status, as gateways of such an API translate them. */
const RPC_CODES: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  405: 12,
  409: 6,
  412: 9,
  413: 8,
  415: 3,
  416: 11,
  429: 8,
  499: 1,
  500: 13,
  501: 12,
  503: 14,
  504: 4,
};
const UNKNOWN = 2;

/** What the token endpoint says of a status (RFC 6749 section 5.2). */
const OAUTH_ERRORS: Readonly<Record<number, string>> = {
  401: "invalid_client",
  403: "unauthorized_client",
  429: "temporarily_unavailable",
  503: "temporarily_unavailable",
};

/** Codes of the webhook endpoint that go with a status. */
const WEBHOOK_CODES: Readonly<Record<number, string>> = {
  400: "BODY_NOT_JSON",
  401: "SIGNATURE_MISMATCH",
  403: "SOURCE_NOT_ALLOWED",
  404: "LISTENER_UNKNOWN",
  405: "METHOD_NOT_ALLOWED",
  409: "EVENT_DUPLICATE",
  413: "BODY_TOO_LARGE",
  415: "CONTENT_TYPE_UNSUPPORTED",
  503: "RUN_FAILED",
};

const MESSAGE = "This answer was set on purpose.";

/** The error that an operation answers a status with, in its own shape, and the headers that belong to it. */
export function faultBody(
  operation: OperationId,
  status: number,
  requestId: string,
): { headers: Record<string, string>; body: object } {
  if (status < 400) return { headers: {}, body: {} };
  if (operation === "createToken") {
    const error = OAUTH_ERRORS[status] ?? (status >= 500 ? "server_error" : "invalid_request");
    const headers = status === 401 ? { "WWW-Authenticate": `Basic realm="${REALM}"` } : undefined;
    return { headers: headers ?? {}, body: { error, error_description: MESSAGE } };
  }
  if (operation === "receiveWebhook") {
    const code = WEBHOOK_CODES[status] ?? (status >= 500 ? "RUN_FAILED" : "REFUSED");
    return { headers: {}, body: { code, message: MESSAGE } };
  }
  const code = RPC_CODES[status] ?? (status >= 500 ? RPC_CODES[500] : UNKNOWN);
  return {
    headers: status === 401 ? { "WWW-Authenticate": bearerChallenge("invalid_token") } : {},
    body: { code, message: MESSAGE, details: [requestInfo(requestId)] },
  };
}
