// Calls the page's own server with its token.
import { type Failure, TOKEN_HEADER } from "../../src/inspector/contract.js";

/** The server refused a call. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** A call to the server this page came from. */
export type Call = (
  method: string,
  path: string,
  body?: BodyInit | null,
  signal?: AbortSignal | null,
) => Promise<Response>;

/** Calls with the token that this page was opened with. */
export function createCall(token: string): Call {
  return (method, path, body = null, signal = null) => request(token, method, path, body, signal);
}

/** A query of what is given. */
export function params(query: object): URLSearchParams {
  return new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      value === undefined || value === "" ? [] : [[name, String(value)]],
    ),
  );
}

/** A body of JSON. */
export function json(value: unknown): Blob {
  return new Blob([JSON.stringify(value)], { type: "application/json" });
}

async function request(
  token: string,
  method: string,
  path: string,
  body: BodyInit | null,
  signal: AbortSignal | null,
): Promise<Response> {
  const response = await fetch(path, { method, body, headers: { [TOKEN_HEADER]: token }, signal });
  if (response.ok) return response;
  const failure: Partial<Failure> = await response.json().catch(() => ({}));
  throw new ApiError(response.status, failure.message ?? `The server answered ${response.status}.`);
}
