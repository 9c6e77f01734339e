import {
  type ExportQuery,
  type Failure,
  type ForcedAnswer,
  type ImportResult,
  type ReplayOrder,
  type ReplayResult,
  type RequestDetail,
  type RequestPage,
  type RequestQuery,
  type SessionInfo,
  TOKEN_HEADER,
} from "../../src/inspector/contract.js";

/** Calls to the inspector's server. Every one throws an `ApiError` when it is refused. */
export interface Api {
  session(): Promise<SessionInfo>;
  requests(query: RequestQuery, signal?: AbortSignal): Promise<RequestPage>;
  request(n: number, signal?: AbortSignal): Promise<RequestDetail>;
  replay(n: number, order: ReplayOrder): Promise<ReplayResult>;
  force(answer: ForcedAnswer): Promise<ForcedAnswer>;
  stopForcing(listenerId: string): Promise<void>;
  clear(): Promise<void>;
  importFile(file: Blob): Promise<ImportResult>;
}

/** The server refused a call. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Calls to the server this page came from. */
export function createApi(): Api {
  let token = "";

  async function session(): Promise<SessionInfo> {
    const info: SessionInfo = await (await call("GET", "api/session")).json();
    token = info.token;
    return info;
  }

  async function change(method: string, path: string, body?: BodyInit): Promise<Response> {
    try {
      return await call(method, path, body, { [TOKEN_HEADER]: token });
    } catch (error) {
      // After a restart of the server the token is another one.
      if (!(error instanceof ApiError) || error.status !== 403) throw error;
      const before = token;
      await session();
      if (token === before) throw error;
      return call(method, path, body, { [TOKEN_HEADER]: token });
    }
  }

  return {
    session,
    requests: async (query, signal) =>
      (await call("GET", `api/requests?${params(query)}`, null, {}, signal)).json(),
    request: async (n, signal) => (await call("GET", `api/requests/${n}`, null, {}, signal)).json(),
    replay: async (n, order) => (await change("POST", `api/requests/${n}/replay`, json(order))).json(),
    force: async (answer) => (await change("PUT", "api/forced-answer", json(answer))).json(),
    async stopForcing(listenerId) {
      await change("DELETE", `api/forced-answer?${params({ listener: listenerId })}`);
    },
    async clear() {
      await change("DELETE", "api/requests");
    },
    importFile: async (file) => (await change("POST", "api/import", file)).json(),
  };
}

/** Where a browser downloads an export from. */
export function exportUrl(query: ExportQuery): string {
  return `api/export?${params(query)}`;
}

function params(query: object): URLSearchParams {
  return new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      value === undefined || value === "" ? [] : [[name, String(value)]],
    ),
  );
}

function json(value: unknown): Blob {
  return new Blob([JSON.stringify(value)], { type: "application/json" });
}

async function call(
  method: string,
  path: string,
  body: BodyInit | null = null,
  headers: Record<string, string> = {},
  signal: AbortSignal | null = null,
): Promise<Response> {
  const response = await fetch(path, { method, body, headers, signal });
  if (response.ok) return response;
  const failure: Partial<Failure> = await response.json().catch(() => ({}));
  throw new ApiError(
    response.status,
    failure.message ?? `The inspector's server answered ${response.status}.`,
  );
}
