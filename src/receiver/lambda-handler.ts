import type { Run } from "./accept.js";
import type { ReceivedRequest, Receiver } from "./receiver.js";

/** A request as AWS Lambda gets it from a function URL or an API Gateway HTTP API: payload format 2.0. */
export interface LambdaRequest {
  /** `2.0`; other formats are refused. */
  readonly version: string;
  /** The path, as the client sent it. */
  readonly rawPath: string;
  /** Names in lower case. The values of a header that was sent twice are joined with a comma. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body: text, or base64 of its bytes. */
  readonly body?: string | null | undefined;
  /** Whether `body` is base64. */
  readonly isBase64Encoded: boolean;
  /** The HTTP method and the address of the client. */
  readonly requestContext: {
    /** The part of the context that is about HTTP. */
    readonly http: {
      /** The HTTP method. */
      readonly method: string;
      /** The client's address. */
      readonly sourceIp: string;
    };
  };
}

/** The answer in payload format 2.0. */
export interface LambdaResponse {
  /** The HTTP status. */
  readonly statusCode: number;
  /** The header lines of the answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON: `{}`, or the code and its sentence. */
  readonly body: string;
}

/**
 * Makes a handler for AWS Lambda behind a function URL or an API Gateway HTTP API. Both hand over JSON as text and
 * everything else as base64; the handler verifies the bytes that were signed in both cases.
 *
 * The handler rejects with a TypeError for events of another format (1.0, or an Application Load Balancer's) and
 * for a body that something before it parsed.
 *
 * @example
 * ```ts
 * import { generateSecret } from "hookproof"; // stands for your listener's own secret
 * import { createReceiver, lambdaHandler } from "hookproof/receiver";
 *
 * const receiver = createReceiver({
 *   listener: { id: "lst_1", baseUrl: "https://tenant.example.com", auth: { method: "hmac", secret: generateSecret() } },
 * });
 * export const handler = lambdaHandler(receiver, async (event) => console.log(event.id));
 * ```
 */
export function lambdaHandler(
  receiver: Receiver,
  run: Run,
): (request: LambdaRequest) => Promise<LambdaResponse> {
  return async (request) => {
    const { status, headers, body } = await receiver.receive(fromLambda(request), run);
    return { statusCode: status, headers: Object.fromEntries(headers), body };
  };
}

function fromLambda(request: LambdaRequest): ReceivedRequest {
  const http = request?.requestContext?.http;
  if (request?.version !== "2.0" || typeof http?.method !== "string") {
    throw new TypeError(
      "The event is not of payload format 2.0. Use a function URL or an HTTP API, and set its integration's payload format to 2.0.",
    );
  }
  if (request.body !== undefined && request.body !== null && typeof request.body !== "string") {
    throw new TypeError(
      "The event's body has been parsed already, and with its bytes the signature is gone. Take the JSON body parser out of this handler's middleware.",
    );
  }
  return {
    method: http.method,
    url: request.rawPath,
    headers: request.headers,
    body: request.isBase64Encoded ? base64Bytes(request.body ?? "") : request.body,
    sourceAddress: http.sourceIp,
  };
}

function base64Bytes(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
