// Sends requests by fetch, for runtimes other than Node.
import { concatBytes } from "../core/bytes.js";
import { HookproofError } from "../core/errors.js";
import {
  aborted,
  asUnsent,
  missingHeaders,
  publicAddresses,
  type Transport,
  type TransportOptions,
  type TransportRequest,
  type TransportResponse,
} from "./transport.js";

/** Whether header lines are sent as they are; `fetch` joins those of one name. */
export const KEEPS_HEADER_LINES: boolean = false;

/**
 * A transport over the runtime's own `fetch`, for runtimes other than Node. `fetch` hides informational answers and
 * the connection: nothing but the time limits bounds the former, and no answer is called authenticated.
 */
export function createTransport(options: TransportOptions = {}): Transport {
  if (options.agent) throw new TypeError("agent works on Node only");
  const policy = options.allowPrivateNetwork === false ? publicAddresses(options.allowedCidrs) : undefined;
  return async (request) => {
    policy?.checkHost(new URL(request.url).hostname);
    if (request.signal?.aborted) throw asUnsent(aborted());
    const timeout = AbortSignal.timeout(request.timeoutMs);
    const signal = request.signal ? AbortSignal.any([request.signal, timeout]) : timeout;
    try {
      return await exchange(request, signal, (cause) => failure(request, timeout, cause));
    } catch (cause) {
      throw failure(request, timeout, cause);
    }
  };
}

async function exchange(
  request: TransportRequest,
  signal: AbortSignal,
  explained: (cause: unknown) => HookproofError,
): Promise<TransportResponse> {
  const headers = new Headers();
  for (const [name, value] of [...request.headers, ...missingHeaders(request.headers)])
    headers.append(name, value);
  const response = await fetch(request.url, {
    method: request.method,
    headers,
    redirect: "manual",
    signal,
    ...(request.body ? { body: new Uint8Array(request.body) } : {}),
  });
  // A browser hides a redirect behind status 0.
  const status = response.type === "opaqueredirect" ? 302 : response.status;
  const body = await readUpTo(response, request.maxResponseBytes, explained);
  return { status, headers: [...response.headers], ...body };
}

async function readUpTo(
  response: Response,
  limit: number,
  explained: (cause: unknown) => HookproofError,
): Promise<Pick<TransportResponse, "body" | "truncated" | "bodyError">> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  try {
    for (let read = await reader?.read(); read?.value; read = await reader?.read()) {
      chunks.push(read.value);
      length += read.value.length;
      if (length <= limit) continue;
      void reader?.cancel().catch(() => {});
      return { body: concatBytes(chunks).subarray(0, limit), truncated: true };
    }
  } catch (cause) {
    return { body: concatBytes(chunks), truncated: true, bodyError: explained(cause) };
  }
  return { body: concatBytes(chunks), truncated: false };
}

function failure(request: TransportRequest, timeout: AbortSignal, cause: unknown): HookproofError {
  if (request.signal?.aborted) return aborted(cause);
  if (timeout.aborted)
    return new HookproofError("TIMED_OUT", `No complete answer within ${request.timeoutMs} ms.`, { cause });
  return new HookproofError(
    "CONNECTION_FAILED",
    `${new URL(request.url).host} could not be reached, or the connection broke.`,
    {
      cause,
    },
  );
}
