// Calls to the inspector's server.
import type {
  CallDetail,
  CallPage,
  ClockState,
  DebuggedRun,
  ExportQuery,
  ForcedAnswer,
  ImportResult,
  ReplayOrder,
  ReplayResult,
  RequestDetail,
  RequestMark,
  RequestPage,
  RequestQuery,
  SavedSnapshot,
  SessionInfo,
  SetFault,
  TestEventOrder,
  TestEventResult,
} from "../../src/inspector/contract.js";
import { createCall, json, params } from "./call.js";

/** Calls to the inspector's server. Every one throws an `ApiError` when it is refused. */
export interface Api {
  session(): Promise<SessionInfo>;
  requests(query: RequestQuery, signal?: AbortSignal): Promise<RequestPage>;
  request(n: number, signal?: AbortSignal): Promise<RequestDetail>;
  calls(q?: string): Promise<CallPage>;
  call(n: number, signal?: AbortSignal): Promise<CallDetail>;
  replay(n: number, order: ReplayOrder): Promise<ReplayResult>;
  sendTestEvent(order: TestEventOrder): Promise<TestEventResult>;
  mark(n: number, mark: RequestMark): Promise<void>;
  force(answer: ForcedAnswer): Promise<ForcedAnswer>;
  stopForcing(listenerId: string): Promise<void>;
  clear(): Promise<void>;
  clearCalls(): Promise<void>;
  /** The server's events behind an id, as they come. */
  events(after: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  /** A file with the requests of a query. */
  exported(query: ExportQuery): Promise<Blob>;
  importFile(file: Blob): Promise<ImportResult>;
  /** Runs an automation step by step with the JSON text of an event; nothing is kept. */
  debug(automationId: string, event: string): Promise<DebuggedRun>;
  /** What is set for the service: faults, clock, snapshots. */
  controlled(): Promise<Controlled>;
  /** Changes it; the path is one of the service's remote control, such as `faults/getAuthConfig`. */
  control(method: "PUT" | "POST" | "DELETE", path: string, body?: object): Promise<void>;
}

/** What the remote control of the service shows. */
export interface Controlled {
  readonly faults: readonly SetFault[];
  readonly clock: ClockState;
  readonly snapshots: readonly SavedSnapshot[];
}

/** Calls to the server this page came from, with the token that this page was opened with. */
export function createApi(token: string): Api {
  const call = createCall(token);
  return {
    session: async () => (await call("GET", "api/session")).json(),
    requests: async (query, signal) =>
      (await call("GET", `api/requests?${params(query)}`, null, signal)).json(),
    request: async (n, signal) => (await call("GET", `api/requests/${n}`, null, signal)).json(),
    calls: async (q) => (await call("GET", `api/calls?${params({ q })}`)).json(),
    call: async (n, signal) => (await call("GET", `api/calls/${n}`, null, signal)).json(),
    events: async (after, signal) =>
      (await call("GET", `api/events?${params({ after })}`, null, signal)).body ?? new ReadableStream(),
    exported: async (query) => (await call("GET", `api/export?${params(query)}`)).blob(),
    replay: async (n, order) => (await call("POST", `api/requests/${n}/replay`, json(order))).json(),
    sendTestEvent: async (order) => (await call("POST", "api/test-event", json(order))).json(),
    async mark(n, mark) {
      await call("PUT", `api/requests/${n}/mark`, json(mark));
    },
    force: async (answer) => (await call("PUT", "api/forced-answer", json(answer))).json(),
    async stopForcing(listenerId) {
      await call("DELETE", `api/forced-answer?${params({ listener: listenerId })}`);
    },
    async clear() {
      await call("DELETE", "api/requests");
    },
    async clearCalls() {
      await call("DELETE", "api/calls");
    },
    async controlled() {
      const [faults, clock, snapshots] = await Promise.all(
        ["faults", "clock", "snapshots"].map(async (path) =>
          (await call("GET", `api/control/${path}`)).json(),
        ),
      );
      return { faults: faults.list, clock, snapshots: snapshots.list };
    },
    async control(method, path, body) {
      await call(method, `api/control/${path}`, body === undefined ? null : json(body));
    },
    debug: async (automationId, event) =>
      (
        await call(
          "POST",
          `api/control/automations/${encodeURIComponent(automationId)}/debug`,
          json({ event: JSON.parse(event) }),
        )
      ).json(),
    importFile: async (file) => (await call("POST", "api/import", file)).json(),
  };
}
