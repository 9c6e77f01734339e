// Loads what the server has, then follows it.
import {
  type CallRow,
  type ForcedAnswer,
  LIMITS,
  type RequestRow,
  type SessionInfo,
} from "../../src/inspector/contract.js";
import type { Api } from "./api.js";
import { ApiError } from "./call.js";
import type { StreamEvent } from "./event-stream.js";
import { createFrameBatch } from "./frame-batch.js";
import { appendRows, dropRows, mergeRows } from "./merge-rows.js";
import { createSharedStream } from "./shared-stream.js";

/** What the page knows of the server. */
export interface LiveState {
  /** Absent until the first answer. */
  readonly session?: SessionInfo;
  /** The server's clock ahead of this one. */
  readonly clockOffsetMs: number;
  readonly connected: boolean;
  /** The page was opened without the token of this run of the server. */
  readonly isLockedOut: boolean;
  /** Newest first. */
  readonly rows: readonly RequestRow[];
  readonly forced: readonly ForcedAnswer[];
  /** How often the server was started again since this page was opened. */
  readonly restarts: number;
  /** Newest first. */
  readonly calls: readonly CallRow[];
}

export const NOTHING: LiveState = {
  clockOffsetMs: 0,
  connected: false,
  isLockedOut: false,
  rows: [],
  forced: [],
  restarts: 0,
  calls: [],
};

const RETRY_MS = 700;

/** Loads what the server has, then follows it; tells of every change, at most once a frame. */
export function startInspector(api: Api, onChange: (state: LiveState) => void): void {
  let state = NOTHING;
  // Events that come while the list is loaded belong on top of it.
  let early: StreamEvent[] | undefined = [];
  let loads = 0;
  let retry: ReturnType<typeof setTimeout> | undefined;

  const set = (change: Partial<LiveState>) => {
    state = { ...state, ...change };
    onChange(state);
  };

  const batch = createFrameBatch<StreamEvent>((events) => {
    const reset = events.findLastIndex(({ name }) => name === "reset");
    if (reset >= 0) {
      early = [];
      void load();
    }
    const rest = events.slice(reset + 1);
    if (early) early.push(...rest);
    else set(rest.reduce(applied, state));
  });

  const stream = createSharedStream({
    api,
    onConnection: (connected) => set({ connected }),
    onEvent: batch,
  });

  async function load(): Promise<void> {
    const mine = ++loads;
    early ??= [];
    try {
      const session = await api.session();
      if (mine !== loads) return;
      stream.hear(session.instance);
      const page = await api.requests({ limit: LIMITS.pageRows });
      const calls = session.hasCalls ? await api.calls() : { rows: [] };
      if (mine !== loads) return;
      stream.join(page.lastEventId);
      const waited: StreamEvent[] = early ?? [];
      early = undefined;
      const clockOffsetMs = session.now - Date.now();
      const loaded = {
        session,
        clockOffsetMs,
        connected: true,
        isLockedOut: false,
        rows: page.rows,
        forced: session.forced,
        restarts: state.restarts + (state.session && state.session.instance !== session.instance ? 1 : 0),
        calls: calls.rows,
      };
      set(waited.reduce(applied, loaded));
      await loadOlder(mine, page.next);
    } catch (error) {
      if (mine !== loads) return;
      const isLockedOut = error instanceof ApiError && error.status === 403;
      set({ connected: false, isLockedOut, ...(isLockedOut ? { rows: [], calls: [] } : {}) });
      clearTimeout(retry);
      retry = setTimeout(load, RETRY_MS);
    }
  }

  async function loadOlder(mine: number, first: number | undefined): Promise<void> {
    for (let next = first; next !== undefined; ) {
      const page = await api.requests({ limit: LIMITS.pageRows, before: next });
      if (mine !== loads) return;
      set({ rows: appendRows(state.rows, page.rows) });
      next = page.next;
    }
  }

  void load();
}

function applied(state: LiveState, event: StreamEvent): LiveState {
  if (event.name === "rows") return { ...state, rows: mergeRows(state.rows, event.data.rows) };
  if (event.name === "dropped") return { ...state, rows: dropRows(state.rows, event.data.upTo) };
  if (event.name === "calls") {
    const { rows, droppedUpTo } = event.data;
    return { ...state, calls: dropRows(mergeRows(state.calls, rows), droppedUpTo) };
  }
  return event.name === "forced" ? { ...state, forced: event.data.forced } : state;
}
