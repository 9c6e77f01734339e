// What an exchange over undici leaves behind: no timer, no listener, no look at its connection.
import { channel } from "node:diagnostics_channel";
import { EventEmitter, getEventListeners } from "node:events";
import { type UndiciDispatcher, undiciTransport } from "hookproof/node";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { VERSION } from "../../src/core/version.js";

/** The calls by which undici tells a handler of its request. */
interface Handler {
  onRequestStart(controller: { abort(reason: Error): void }): void;
  onResponseStart(controller: object, status: number, headers: Record<string, string>): void;
  onResponseData(controller: object, chunk: Uint8Array): void;
  onResponseEnd(): void;
  onResponseError(controller: object, error: Error): void;
}

const URL_ = "http://127.0.0.1:9/hook?a=1";

/** A dispatcher whose answers the test gives, and one request over it. */
function exchange(method = "POST", body: Uint8Array | null = Buffer.from("{}")) {
  const taken: { options?: Parameters<UndiciDispatcher["dispatch"]>[0]; handler?: Handler } = {};
  const aborted: Error[] = [];
  const caller = new AbortController();
  const transport = undiciTransport({
    dispatch(options, handler) {
      Object.assign(taken, { options, handler });
      return true;
    },
  });
  const answer = transport({
    method,
    url: URL_,
    headers: [
      ["One", "1"],
      ["One", "2"],
    ],
    ...(body && { body }),
    timeoutMs: 5_000,
    maxResponseBytes: 4,
    signal: caller.signal,
  });
  answer.catch(() => {}); // each test says what becomes of it
  const { handler, options } = taken;
  if (!handler || !options) throw new Error("nothing was dispatched");
  const controller = { abort: (reason: Error) => void aborted.push(reason) };
  const listeners = () => getEventListeners(caller.signal, "abort").length;
  return { answer, handler, options, controller, aborted, caller, listeners };
}

type Exchange = ReturnType<typeof exchange>;

/** A connection that notes how often its count of bytes is looked at. */
function countedSocket() {
  let looks = 0;
  const socket = new EventEmitter();
  Object.defineProperty(socket, "bytesRead", {
    get: () => {
      looks += 1;
      return 0;
    },
  });
  return { socket, looks: () => looks };
}

const sendHeaders = channel("undici:client:sendHeaders");

/** As undici does it: starts the request, and writes its headers to a connection in the same turn. */
function begin({ handler, controller }: Exchange, { socket }: ReturnType<typeof countedSocket>): void {
  handler.onRequestStart(controller);
  sendHeaders.publish({ request: { method: "POST", origin: "http://127.0.0.1:9" }, socket });
}

const ENDS: Readonly<Record<string, (one: Exchange) => void>> = {
  "an answer"({ handler, controller }) {
    handler.onRequestStart(controller);
    handler.onResponseStart({}, 200, {});
    handler.onResponseData({}, Buffer.from("ok"));
    handler.onResponseEnd();
  },
  "an answer that is too long"({ handler, controller }) {
    handler.onRequestStart(controller);
    handler.onResponseStart({}, 200, {});
    handler.onResponseData({}, Buffer.from("much more than four"));
  },
  "an error before the request began"({ handler }) {
    handler.onResponseError({}, new Error("no connection"));
  },
  "an error after it began"({ handler, controller }) {
    handler.onRequestStart(controller);
    handler.onResponseError({}, new Error("no connection any more"));
  },
  "the caller's word"({ caller }) {
    caller.abort();
  },
  "its time limit"() {
    vi.advanceTimersByTime(5_000);
  },
  "its time limit, within an answer"({ handler, controller }) {
    handler.onRequestStart(controller);
    handler.onResponseStart({}, 200, {});
    vi.advanceTimersByTime(5_000);
  },
};

describe.each(Object.entries(ENDS))("an exchange that ended by %s", (what, end) => {
  it("leaves no timer and no listener, and hears of nothing any more", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const one = exchange();
    expect([one.listeners(), vi.getTimerCount()]).toEqual([1, 1]);
    end(one);
    expect([one.listeners(), vi.getTimerCount()]).toEqual([0, 0]);
    const outcome = await one.answer.then(
      ({ status }) => status,
      ({ code }) => code,
    );
    const { length } = one.aborted;
    one.caller.abort();
    vi.advanceTimersByTime(60_000);
    one.handler.onResponseData({}, Buffer.from("late"));
    one.handler.onResponseEnd();
    expect(one.aborted).toHaveLength(length);
    expect(outcome).toBe(
      {
        "an answer": 200,
        "an answer that is too long": 200,
        "its time limit, within an answer": 200,
        "the caller's word": "ABORTED",
        "its time limit": "TIMED_OUT",
      }[what] ?? "CONNECTION_FAILED",
    );
  });
});

it.each(Object.entries(ENDS).filter(([what]) => !/time limit/.test(what) && !/before/.test(what)))(
  "the connection of one that ended by %s is not looked at any more",
  async (_, end) => {
    const [ended, open] = [exchange(), exchange()];
    const [first, second] = [countedSocket(), countedSocket()];
    begin(ended, first);
    begin(open, second);
    await expect.poll(second.looks).toBeGreaterThan(0);
    expect(first.looks()).toBeGreaterThan(0);
    end(ended);
    const [before, since] = [first.looks(), second.looks()];
    await expect.poll(second.looks).toBeGreaterThan(since + 3); // the one that goes on counts the looks
    expect(first.looks()).toBe(before);
    open.caller.abort();
  },
);

it("a connection is watched until the answer's headers, and not for the time of its body", async () => {
  const [one, open] = [exchange(), exchange()];
  const [first, second] = [countedSocket(), countedSocket()];
  begin(one, first);
  begin(open, second);
  await expect.poll(first.looks).toBeGreaterThan(0);
  one.handler.onResponseStart({}, 200, {});
  const [before, since] = [first.looks(), second.looks()];
  await expect.poll(second.looks).toBeGreaterThan(since + 3);
  expect(first.looks()).toBe(before);
  for (const { caller } of [one, open]) caller.abort();
});

it("the answers to CONNECT are watched at the proxy of a dispatcher, and at no other host", async () => {
  const proxied = {
    dispatch: () => true,
    [Symbol("proxy agent options")]: { uri: "http://proxy.example.com:3128/" },
  };
  undiciTransport(proxied);
  undiciTransport({ dispatch: () => true });
  const request = (origin: unknown) => ({ method: "CONNECT", origin, completed: false, aborted: false });
  const [known, other, nowhere] = [
    request("http://proxy.example.com:3128"),
    request("http://other.example.com:3128"),
    request(undefined),
  ];
  const sockets = [known, other, nowhere].map((each) => {
    const counted = countedSocket();
    sendHeaders.publish({ request: each, socket: counted.socket });
    return counted;
  });
  await expect.poll(() => sockets[0]?.looks()).toBeGreaterThan(3);
  expect(sockets.slice(1).map(({ looks }) => looks())).toEqual([0, 0]);
  known.completed = true; // which ends the watch
});

it.each([
  ["POST", Buffer.from('{"n":1}')],
  ["GET", null],
] as const)("undici is handed the %s as it is, with no limits of its own", (method, body) => {
  const { options, caller } = exchange(method, body);
  expect(options).toEqual({
    origin: "http://127.0.0.1:9",
    path: "/hook?a=1",
    method,
    headers: ["One", "1", "One", "2", "User-Agent", `hookproof/${VERSION}`, "Accept", "application/json"],
    body,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  caller.abort();
});

it("a request that was left before it began is ended when it begins", () => {
  const { handler, controller, aborted, caller } = exchange();
  caller.abort();
  expect(aborted).toEqual([]);
  handler.onRequestStart(controller);
  expect(aborted).toEqual([expect.objectContaining({ code: "ABORTED" })]);
});
