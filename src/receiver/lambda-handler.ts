// A receiver behind AWS Lambda.
import type { HeaderPair } from "../core/headers.js";
import { MAX_BODY_BYTES } from "../core/protocol.js";
import type { Run } from "./accept.js";
import type { ReceivedRequest, Receiver } from "./receiver.js";

/** A request as AWS Lambda gets it, in any of the three forms: `lambdaHandler` finds out which one it is. */
export type LambdaRequest = LambdaHttpRequest | LambdaProxyRequest;

/** A request from a function URL or an API Gateway HTTP API: payload format 2.0. */
export interface LambdaHttpRequest {
  /** `2.0`. */
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

/** A request from an API Gateway REST API (payload format 1.0), or from an Application Load Balancer. */
export interface LambdaProxyRequest {
  /** The HTTP method. */
  readonly httpMethod: string;
  /** The path. */
  readonly path: string;
  /** One value for each name: the last one, where a header was sent twice. */
  readonly headers?: Readonly<Record<string, string | undefined>> | null | undefined;
  /** Every value for each name. A load balancer gives either these or `headers`, a REST API both. */
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[] | undefined>> | null | undefined;
  /** The body: text, or base64 of its bytes. */
  readonly body?: string | null | undefined;
  /** Whether `body` is base64. */
  readonly isBase64Encoded: boolean;
  /** Where the request came from. */
  readonly requestContext: {
    /** There if it came from a load balancer. */
    readonly elb?: object | undefined;
    /** There if it came from API Gateway. */
    readonly identity?:
      | {
          /** The client's address. */
          readonly sourceIp?: string | null | undefined;
        }
      | undefined;
  };
}

/** The answer in the form that belongs to the request. */
export interface LambdaResponse {
  /** The HTTP status. */
  readonly statusCode: number;
  /** The header lines of the answer. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The header lines in place of `headers`, for a load balancer that gave `multiValueHeaders`: it reads these only. */
  readonly multiValueHeaders?: Readonly<Record<string, string[]>>;
  /** JSON: `{}`, or the code and its sentence. */
  readonly body: string;
  /** Always false. A load balancer wants it said. */
  readonly isBase64Encoded: boolean;
}

/**
 * Makes a handler for AWS Lambda behind a function URL or an HTTP API (payload format 2.0), a REST API (format 1.0) or
 * an Application Load Balancer. All of them hand over JSON as text or as base64; the handler verifies the bytes that
 * were signed in both cases, and answers in the form of the request.
 *
 * A load balancer names no source address: the last one of `X-Forwarded-For` counts, which the load balancer appends
 * unless its attribute `routing.http.xff_header_processing.mode` is changed. Leave it at `append` where a listener has
 * allowed ranges.
 *
 * The handler rejects with a TypeError for an event that is no HTTP request (a test event, an integration without
 * proxy) and for a body that something before it parsed.
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
    const answer = { statusCode: status, body, isBase64Encoded: false };
    return wantsLists(request)
      ? {
          ...answer,
          multiValueHeaders: Object.fromEntries(headers.map(([name, value]) => [name, [value]])),
        }
      : { ...answer, headers: Object.fromEntries(headers) };
  };
}

function fromLambda(request: LambdaRequest): ReceivedRequest {
  const received = isHttpRequest(request) ? fromHttp(request) : fromProxy(request);
  if (request.body !== undefined && request.body !== null && typeof request.body !== "string") {
    throw new TypeError(
      "The event's body has been parsed already, and with its bytes the signature is gone. Take the JSON body parser out of this handler's middleware.",
    );
  }
  return {
    ...received,
    body: request.isBase64Encoded ? base64Bytes(request.body ?? "") : request.body,
  };
}

function isHttpRequest(request: LambdaRequest): request is LambdaHttpRequest {
  const http = (request as LambdaHttpRequest | null)?.requestContext?.http;
  return (request as LambdaHttpRequest)?.version === "2.0" && typeof http?.method === "string";
}

function fromHttp({ rawPath, headers, requestContext }: LambdaHttpRequest): ReceivedRequest {
  const { method, sourceIp } = requestContext.http;
  return { method, url: rawPath, headers, sourceAddress: sourceIp };
}

function fromProxy(request: LambdaProxyRequest): ReceivedRequest {
  if (typeof request?.httpMethod !== "string" || typeof request.path !== "string") {
    throw new TypeError(
      "The event is not an HTTP request of a function URL, an HTTP API, a REST API or a load balancer. Use a Lambda proxy integration.",
    );
  }
  const { httpMethod, path, headers, multiValueHeaders, requestContext } = request;
  const lines = headerLines(multiValueHeaders ?? headers ?? {});
  const sourceAddress = requestContext?.elb ? lastForwarded(lines) : requestContext?.identity?.sourceIp;
  return { method: httpMethod, url: path, headers: lines, sourceAddress: sourceAddress ?? undefined };
}

/** A load balancer reads the answer's headers in the form that its request had; a REST API reads both forms. */
function wantsLists(request: LambdaRequest): boolean {
  const { requestContext, multiValueHeaders } = request as LambdaProxyRequest;
  return requestContext.elb !== undefined && multiValueHeaders !== undefined && multiValueHeaders !== null;
}

function headerLines(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): HeaderPair[] {
  return Object.entries(headers).flatMap(([name, value = []]) =>
    (typeof value === "string" ? [value] : value).map((one): HeaderPair => [name, one]),
  );
}

/** The address that the load balancer saw, which it wrote behind all others. */
function lastForwarded(lines: readonly HeaderPair[]): string | undefined {
  const last = lines.findLast(([name]) => name.toLowerCase() === "x-forwarded-for")?.[1] ?? "";
  return last.slice(last.lastIndexOf(",") + 1).trim() || undefined;
}

/** The base64 of a body that is larger than a listener takes: what stands behind it is not decoded. */
const ENOUGH = 4 * Math.ceil((MAX_BODY_BYTES + 1) / 3);

function base64Bytes(text: string): Uint8Array {
  // Line breaks count for nothing: with them a body would end too early.
  const digits = text
    .slice(0, 2 * ENOUGH)
    .replace(/\s/g, "")
    .slice(0, ENOUGH);
  return Uint8Array.from(atob(digits), (character) => character.charCodeAt(0));
}
