// A request as Node hands it over: its body, one that breaks off, and the end of a connection that is not read to its end.
import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { closeAfterAnswer, keptBody, mayLackHeaders, requestBody } from "../../src/http/node/incoming.js";

/** A request whose events the test emits, so that nothing depends on the time that bytes take. */
function fakeRequest(more: object = {}) {
  const socket = Object.assign(new EventEmitter(), { destroy: vi.fn() });
  const request = Object.assign(new EventEmitter(), {
    ...{ socket, destroyed: false, complete: false, rawHeaders: [] as string[] },
    ...more,
  });
  return { socket: request.socket, request, message: request as unknown as IncomingMessage };
}

/** The chunks until the end, and how it ended. */
async function read(body: AsyncIterable<Uint8Array>): Promise<[chunks: string[], end: string]> {
  const chunks: string[] = [];
  try {
    for await (const chunk of body) chunks.push(Buffer.from(chunk).toString());
    return [chunks, "ended"];
  } catch (error) {
    return [chunks, (error as Error).message];
  }
}

const BROKE_OFF = "the request broke off";
const chunk = (text: string) => Buffer.from(text);

describe("a request's body", () => {
  it.each([
    ["end", ["end"], "ended"],
    ["end and close", ["end", "close"], "ended"],
    ["end and error", ["end", "error"], "ended"],
    ["close without end", ["close"], BROKE_OFF],
    ["error", ["error"], BROKE_OFF],
    ["error and close", ["error", "close"], BROKE_OFF],
  ])("is all chunks before it, by: %s", async (_, names, end) => {
    const { request, message } = fakeRequest();
    const reading = read(requestBody(message));
    request.emit("data", chunk("a"));
    await new Promise(setImmediate); // the reader waits for more
    request.emit("data", chunk("b"));
    request.emit("data", chunk("c"));
    for (const name of names) request.emit(name, new Error("of the connection"));
    expect(await reading).toEqual([["a", "b", "c"], end]);
  });

  it("of nothing ends, or breaks off", async () => {
    for (const [name, end] of [
      ["end", "ended"],
      ["close", BROKE_OFF],
    ] as const) {
      const { request, message } = fakeRequest();
      const reading = read(requestBody(message));
      await new Promise(setImmediate);
      request.emit(name);
      expect(await reading).toEqual([[], end]);
    }
  });

  it("of a request that was destroyed is broken, unless it had come whole", async () => {
    const broken = fakeRequest({ destroyed: true });
    expect(await read(requestBody(broken.message))).toEqual([[], BROKE_OFF]);
    expect(broken.request.eventNames()).toEqual([]);
    const whole = fakeRequest({ destroyed: true, complete: true });
    const reading = read(requestBody(whole.message));
    whole.request.emit("data", chunk("a"));
    whole.request.emit("end");
    expect(await reading).toEqual([["a"], "ended"]);
  });

  it("that is left early is not listened to any more, and the connection stays", async () => {
    const { request, socket, message } = fakeRequest();
    const body = requestBody(message)[Symbol.asyncIterator]();
    const first = body.next();
    request.emit("data", chunk("a"));
    expect(await first).toEqual({ done: false, value: chunk("a") });
    expect(request.listenerCount("data")).toBe(1);
    expect(await body.return?.()).toEqual({ done: true, value: undefined });
    expect(request.listenerCount("data")).toBe(0);
    expect(socket.destroy).not.toHaveBeenCalled();
  });

  it("that a framework has kept is its bytes", async () => {
    expect(await read(keptBody(chunk("kept")))).toEqual([["kept"], "ended"]);
  });
});

describe("the end of a connection after an answer", () => {
  function ending(more: object = {}) {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const made = fakeRequest(more);
    const headers: [string, string][] = [];
    const setHeader = (name: string, value: string) => headers.push([name, value]);
    closeAfterAnswer(made.message, { setHeader } as unknown as ServerResponse);
    return { ...made, headers };
  }

  it("is none where the request was read to its end", () => {
    const { headers, request, socket } = ending({ complete: true });
    vi.advanceTimersByTime(60_000);
    expect([headers, request.eventNames(), socket.destroy.mock.calls]).toEqual([[], [], []]);
  });

  it("comes once more than 1 MiB is dropped, and not before", () => {
    const { headers, request, socket } = ending();
    expect(headers).toEqual([["Connection", "close"]]);
    request.emit("data", Buffer.alloc(1024));
    request.emit("data", Buffer.alloc(1024 * 1024 - 1024));
    expect(socket.destroy).not.toHaveBeenCalled();
    request.emit("data", Buffer.alloc(1));
    expect(socket.destroy).toHaveBeenCalledOnce();
  });

  it("comes after 2 s, unless the client has closed it, and no error of it is anybody's", () => {
    const { request, socket } = ending();
    expect(() => request.emit("error", new Error("reset"))).not.toThrow();
    vi.advanceTimersByTime(1_999);
    expect(socket.destroy).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(socket.destroy).toHaveBeenCalledOnce();
    const other = ending();
    other.socket.emit("close");
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(60_000);
    expect(other.socket.destroy).not.toHaveBeenCalled();
  });

  it("makes whatever the client sends behind it a request that broke off", async () => {
    const { socket } = ending();
    expect(await read(requestBody(fakeRequest({ socket }).message))).toEqual([[], BROKE_OFF]);
  });
});

describe("header lines may have been dropped", () => {
  it.each([
    ["fewer than Node keeps", {}, 1_998, false],
    ["as many as Node keeps", {}, 2_000, true],
    ["fewer than the server's own number", { maxHeadersCount: 50 }, 98, false],
    ["as many as the server's own number", { maxHeadersCount: 50 }, 100, true],
    ["no number that is set", { maxHeadersCount: null }, 2_000, true],
    ["no limit", { maxHeadersCount: 0 }, 9_000, false],
  ])("%s", (_, server, texts, mayLack) => {
    const { message } = fakeRequest({ socket: { server }, rawHeaders: Array(texts).fill("x") });
    expect(mayLackHeaders(message)).toBe(mayLack);
  });

  it("of a request without a connection by Node's number", () => {
    const { message } = fakeRequest({ socket: undefined, rawHeaders: Array(2_000).fill("x") });
    expect(mayLackHeaders(message)).toBe(true);
  });
});
