// Calls to the outbox page's server.
import type {
  DeadLetters,
  EventView,
  Overview,
  RedriveOrder,
  RedriveResult,
} from "../../src/outbox/contract.js";
import { type Call, json, params } from "../live/call.js";

/** Calls to the outbox page's server. Every one throws an `ApiError` when it is refused. */
export interface OutboxApi {
  overview(): Promise<Overview>;
  deadLetters(): Promise<DeadLetters>;
  waiting(listener: string): Promise<readonly EventView[]>;
  event(id: string): Promise<readonly EventView[]>;
  redrive(order: RedriveOrder): Promise<RedriveResult>;
  pause(listener: string, reason: string): Promise<void>;
  resume(listener: string): Promise<void>;
}

/** The calls, over `call`. */
export function createOutboxApi(call: Call): OutboxApi {
  const get = async (path: string) => (await call("GET", `api/${path}`)).json();
  const post = (path: string, order: object) => call("POST", `api/${path}`, json(order));
  return {
    overview: () => get("overview"),
    deadLetters: () => get("dead-letters"),
    waiting: (listener) => get(`waiting?${params({ listener })}`),
    event: (id) => get(`events/${encodeURIComponent(id)}`),
    redrive: async (order) => (await post("redrive", order)).json(),
    async pause(listener, reason) {
      await post("pause", { listener, ...(reason === "" ? {} : { reason }) });
    },
    async resume(listener) {
      await post("resume", { listener });
    },
  };
}
