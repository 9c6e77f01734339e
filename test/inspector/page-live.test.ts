// How the page loads what the server has and follows it, in one tab and in several, without a browser.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Api } from "../../service/inspector/live/api.js";
import { ApiError } from "../../service/inspector/live/call.js";
import { createFrameBatch } from "../../service/inspector/live/frame-batch.js";
import { type LiveState, NOTHING, startInspector } from "../../service/inspector/live/inspector.js";
import type { CallRow, RequestRow, SessionInfo } from "../../service/src/inspector/contract.js";

const NOW = Date.UTC(2026, 0, 1);
const row = (n: number) => ({ n, status: 200 }) as RequestRow;
const numbers = (rows: readonly { n: number }[]) => rows.map(({ n }) => n);

/** What of a browser the page needs: frames, channels between tabs, and locks that one tab has at a time. */
class Browser {
  readonly #frames = new Map<number, () => void>();
  readonly #channels: BroadcastChannel[] = [];
  readonly #held = new Map<string, Promise<unknown>>();

  constructor({ hasLocks = true } = {}) {
    const channels = this.#channels;
    vi.useFakeTimers({ now: NOW });
    vi.stubGlobal("requestAnimationFrame", (draw: () => void) => {
      const id = this.#frames.size + 1;
      this.#frames.set(id, draw);
      return id;
    });
    vi.stubGlobal("cancelAnimationFrame", (id: number) => this.#frames.delete(id));
    vi.stubGlobal(
      "BroadcastChannel",
      class extends BroadcastChannel {
        constructor(name: string) {
          super(name);
          channels.push(this);
        }
      },
    );
    const request = async (name: string, { signal }: { signal: AbortSignal }, lead: () => Promise<void>) => {
      const before = this.#held.get(name);
      const mine = Promise.resolve(before).then(() => (signal.aborted ? undefined : lead()));
      this.#held.set(name, mine);
      await mine;
    };
    vi.stubGlobal("navigator", hasLocks ? { locks: { request } } : {});
  }

  /** Draws the frame that is asked for. */
  draw(): void {
    for (const [id, draw] of [...this.#frames]) if (this.#frames.delete(id)) draw();
  }

  close(): void {
    for (const channel of this.#channels) channel.close();
    vi.useRealTimers();
    vi.unstubAllGlobals();
  }
}

let browser: Browser;
beforeEach(() => {
  browser = new Browser();
});
afterEach(() => browser.close());

/** A server of the test, and what a page makes of it. */
class Server {
  instance = "run 1";
  rows: RequestRow[] = [];
  calls: CallRow[] = [];
  hasCalls = false;
  pageRows = 500;
  /** What `session` is refused with. */
  refusal: Error | undefined;
  readonly asked: string[] = [];
  readonly #streams = new Set<ReadableStreamDefaultController<Uint8Array>>();
  #eventId = 7;

  readonly api = {
    session: async (): Promise<Partial<SessionInfo>> => {
      this.asked.push("session");
      if (this.refusal) throw this.refusal;
      return { instance: this.instance, now: Date.now() + 5_000, forced: [], hasCalls: this.hasCalls };
    },
    requests: async ({ before = Number.POSITIVE_INFINITY }: { before?: number }) => {
      this.asked.push(`requests before ${before}`);
      const older = this.rows.filter(({ n }) => n < before);
      const rows = older.slice(0, this.pageRows);
      const next = older.length > rows.length ? { next: rows.at(-1)?.n } : {};
      return { rows, lastEventId: String(this.#eventId), ...next };
    },
    calls: async () => ({ rows: this.calls }),
    events: async (after: string, signal: AbortSignal) => {
      this.asked.push(`events after ${after}`);
      if (this.refusal) throw this.refusal;
      return new ReadableStream<Uint8Array>({
        start: (stream) => {
          this.#streams.add(stream);
          signal.addEventListener("abort", () => this.#close(stream));
        },
      });
    },
  } as unknown as Api;

  /** Tells every page that listens. */
  tell(name: string, data: object): void {
    const text = `id: ${++this.#eventId}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
    for (const stream of this.#streams) stream.enqueue(new TextEncoder().encode(text));
  }

  /** Ends all connections. */
  hangUp(): void {
    for (const stream of this.#streams) this.#close(stream);
  }

  #close(stream: ReadableStreamDefaultController<Uint8Array>): void {
    if (this.#streams.delete(stream)) stream.close();
  }
}

/** A tab with the page of a server. */
function tabOf(server: Server) {
  const states: LiveState[] = [NOTHING];
  startInspector(server.api, (state) => void states.push(state));
  return {
    states,
    state: () => states.at(-1) ?? NOTHING,
    rows: () => numbers(states.at(-1)?.rows ?? []),
    /** Waits, frame after frame, until it is so. */
    until: (isSo: (state: LiveState) => unknown) =>
      expect
        .poll(() => {
          browser.draw();
          return Boolean(isSo(states.at(-1) ?? NOTHING));
        })
        .toBe(true),
  };
}
const passed = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe("a page", () => {
  it("has what the server has, page by page, and its clock", async () => {
    const server = new Server();
    server.rows = [row(5), row(4), row(3), row(2), row(1)];
    server.pageRows = 2;
    const { state, rows, until } = tabOf(server);
    expect(state()).toBe(NOTHING);
    await until(({ rows }) => rows.length === 5);
    expect(rows()).toEqual([5, 4, 3, 2, 1]);
    expect(state()).toMatchObject({ connected: true, isLockedOut: false, clockOffsetMs: 5_000, restarts: 0 });
    expect(server.asked.filter((one) => one.startsWith("requests"))).toEqual([
      "requests before Infinity",
      "requests before 4",
      "requests before 2",
    ]);
  });

  it("takes what comes: rows, rows that are gone, forced answers, calls", async () => {
    const server = new Server();
    server.rows = [row(1)];
    server.hasCalls = true;
    server.calls = [{ n: 1 } as CallRow];
    const { state, rows, until } = tabOf(server);
    await until(() => server.asked.includes("events after 7"));
    expect(numbers(state().calls)).toEqual([1]);
    server.tell("rows", { rows: [row(2), row(3)] });
    await until(() => rows().length === 3);
    await passed(200);
    server.tell("dropped", { upTo: 2 });
    server.tell("forced", { forced: [{ listenerId: "lst_1", status: 503 }] });
    server.tell("calls", { rows: [{ n: 2 }, { n: 3 }], droppedUpTo: 1 });
    await until(({ calls }) => calls.length === 2);
    expect(rows()).toEqual([3]);
    expect(state().forced).toEqual([{ listenerId: "lst_1", status: 503 }]);
    expect(numbers(state().calls)).toEqual([3, 2]);
  });

  it("has no calls of a server without an API", async () => {
    const server = new Server();
    server.calls = [{ n: 1 } as CallRow];
    const { state, until } = tabOf(server);
    await until(({ connected }) => connected);
    expect(state().calls).toEqual([]);
  });

  it("puts what came while it loaded on top of what it loads", async () => {
    const server = new Server();
    server.rows = [row(1)];
    const { rows, until } = tabOf(server);
    await until(() => server.asked.includes("events after 7"));
    let answer = () => {};
    const page = server.api.requests;
    Object.assign(server.api, {
      requests: async (query: object) => {
        const loaded = await page(query);
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
        return loaded;
      },
    });
    server.rows = [row(5)];
    server.tell("reset", {});
    await until(() => server.asked.filter((one) => one === "requests before Infinity").length === 2);
    await passed(200);
    server.tell("rows", { rows: [row(6)] });
    await passed(0);
    browser.draw();
    expect(rows()).toEqual([1]);
    answer();
    await until(() => rows().length === 2);
    expect(rows()).toEqual([6, 5]);
  });

  it("says that the server is gone, goes on asking, and counts its restarts", async () => {
    const server = new Server();
    server.rows = [row(9)];
    const { state, rows, until } = tabOf(server);
    await until(() => server.asked.includes("events after 7"));
    server.refusal = new TypeError("fetch failed");
    server.hangUp();
    await until(({ connected }) => !connected);
    expect(rows()).toEqual([9]);
    server.refusal = undefined;
    server.instance = "run 2";
    server.rows = [row(1)];
    await passed(3_000);
    server.tell("reset", {});
    await until(({ restarts }) => restarts === 1);
    expect(rows()).toEqual([1]);
    expect(state()).toMatchObject({ connected: true, session: { instance: "run 2" } });
    await passed(200);
    server.tell("reset", {});
    await until(() => server.asked.filter((one) => one === "session").length === 3);
    await until(({ connected }) => connected);
    expect(state().restarts).toBe(1);
  });

  it("that is refused shows nothing any more, and comes back once it is let in", async () => {
    const server = new Server();
    server.rows = [row(1)];
    server.refusal = new ApiError(403, "no");
    const { state, until } = tabOf(server);
    await until(({ isLockedOut }) => isLockedOut);
    expect(state()).toMatchObject({ connected: false, rows: [], calls: [] });
    server.refusal = undefined;
    await passed(699);
    expect(server.asked).toEqual(["session"]);
    await passed(1);
    await until(({ rows }) => rows.length === 1);
    expect(state()).toMatchObject({ connected: true, isLockedOut: false });
  });

  it("whose server fails is not locked out", async () => {
    const server = new Server();
    server.refusal = new ApiError(500, "busy");
    const { states, until } = tabOf(server);
    await until(() => states.length === 2);
    expect(states[1]).toMatchObject({ connected: false, isLockedOut: false });
  });

  it("is shown nothing more of the stream that refuses it, once it was told", async () => {
    const server = new Server();
    server.rows = [row(1)];
    const { until } = tabOf(server);
    await until(() => server.asked.includes("events after 7"));
    server.refusal = new ApiError(403, "no");
    server.hangUp();
    await passed(300);
    await until(({ isLockedOut, rows }) => isLockedOut && rows.length === 0);
    const sessions = () => server.asked.filter((one) => one === "session").length;
    const loads = sessions();
    // The stream is refused again and again; the page loads again by its own timer alone.
    await passed(600);
    expect(sessions()).toBe(loads);
  });
});

describe("tabs of one server", () => {
  const streams = ({ asked }: Server) => asked.filter((one) => one.startsWith("events"));

  it("read one stream for all of them", async () => {
    const server = new Server();
    const tabs = [tabOf(server), tabOf(server), tabOf(server)];
    for (const tab of tabs) await tab.until(({ connected }) => connected);
    await expect.poll(() => streams(server)).toEqual(["events after 7"]);
    server.tell("rows", { rows: [row(1)] });
    for (const tab of tabs) await tab.until(({ rows }) => rows.length === 1);
    server.hangUp();
    for (const tab of tabs) await tab.until(({ connected }) => !connected);
    await passed(300);
    for (const tab of tabs) await tab.until(({ connected }) => connected);
    expect(streams(server)).toEqual(["events after 7", "events after 8"]);
  });

  it("read a stream each where a browser has no locks", async () => {
    browser.close();
    browser = new Browser({ hasLocks: false });
    const server = new Server();
    const tabs = [tabOf(server), tabOf(server)];
    for (const tab of tabs) await tab.until(({ connected }) => connected);
    await expect.poll(() => streams(server).length).toBe(2);
  });

  it("are those of one run of it: what another run says is not heard", async () => {
    const [old, restarted] = [new Server(), new Server()];
    restarted.instance = "run 2";
    const [one, other] = [tabOf(old), tabOf(restarted)];
    await one.until(() => streams(old).length === 1);
    await other.until(() => streams(restarted).length === 1);
    restarted.tell("rows", { rows: [row(4)] });
    await other.until(({ rows }) => rows.length === 1);
    expect(one.rows()).toEqual([]);
  });

  it("leave the stream of a run that is over", async () => {
    const server = new Server();
    const tab = tabOf(server);
    await tab.until(() => streams(server).length === 1);
    server.instance = "run 2";
    server.tell("reset", {});
    await tab.until(() => streams(server).length === 2);
    server.tell("rows", { rows: [row(1)] });
    await passed(200);
    await tab.until(({ rows }) => rows.length === 1);
  });
});

describe("what comes in is handed over once a frame", () => {
  function batched() {
    const handed: (readonly number[])[] = [];
    return { handed, take: createFrameBatch<number>((items) => void handed.push(items)) };
  }

  it("the first at the next frame, with all that came before it was drawn", () => {
    const { handed, take } = batched();
    take(1);
    take(2);
    expect(handed).toEqual([]);
    browser.draw();
    browser.draw();
    expect(handed).toEqual([[1, 2]]);
  });

  it("what follows closely no more often than every 200 ms, and then at a frame", async () => {
    const { handed, take } = batched();
    take(1);
    browser.draw();
    take(2);
    browser.draw();
    await passed(199);
    browser.draw();
    take(3);
    expect(handed).toEqual([[1]]);
    await passed(1);
    expect(handed).toEqual([[1]]);
    browser.draw();
    expect(handed).toEqual([[1], [2, 3]]);
    await passed(200);
    take(4);
    browser.draw();
    expect(handed).toEqual([[1], [2, 3], [4]]);
  });

  it("after 250 ms in a tab out of sight, where no frame is drawn, and once", async () => {
    const { handed, take } = batched();
    take(1);
    await passed(249);
    expect(handed).toEqual([]);
    await passed(1);
    expect(handed).toEqual([[1]]);
    browser.draw();
    expect(handed).toEqual([[1]]);
  });
});
