// Bounds what comes ahead of an answer, and what a proxy sends to a tunnel.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { clearInterval, setInterval } from "node:timers";
import { HookproofError } from "../../core/errors.js";

/**
 * The most bytes that may be read between a first look, just after a request, and the end of its answer's headers, TLS
 * overhead included. Most answers are there before it, and asking a connection for its count costs microseconds.
 */
const MAX_BYTES_AHEAD = 65_536;

/** How often the connections are checked. */
const LOOK_MS = 20;

/** The part of a connection that is checked. */
export interface CountingSocket {
  readonly bytesRead: number;
}

interface Watch {
  readonly socket: CountingSocket;
  limit: number | undefined;
  readonly tooMuch: () => void;
  readonly isOver: (() => boolean) | undefined;
  /** Its place among the watches; -1 when it has ended. */
  place: number;
}

/** Not a Set: its tables of before keep what was deleted alive until a full collection, 4 KB for each request (S26). */
const watches: Watch[] = [];
let timer: NodeJS.Timeout | undefined;

/**
 * Calls `tooMuch` once when more bytes are read, from the next look on, than any answer's headers have. A parser skips empty
 * lines before a status line without an event, so only the connection's own count shows them.
 *
 * @param isOver whether the watch is over, where no event says so
 * @returns a function that ends the watch; call it when the answer's headers have arrived, and at the end
 */
export function watchBytesAhead(
  socket: CountingSocket,
  tooMuch: () => void,
  isOver?: () => boolean,
): () => void {
  const watch: Watch = { socket, limit: undefined, tooMuch, isOver, place: watches.length };
  watches.push(watch);
  timer ??= setInterval(look, LOOK_MS).unref();
  return () => end(watch);
}

/** The last one takes its place. */
function end(watch: Watch): void {
  const { place } = watch;
  if (place < 0) return;
  watch.place = -1;
  const last = watches.pop();
  if (!last || last === watch) return;
  watches[place] = last;
  last.place = place;
}

function look(): void {
  for (const watch of [...watches]) {
    const isOver = watch.isOver?.() === true;
    watch.limit ??= watch.socket.bytesRead + MAX_BYTES_AHEAD;
    if (!isOver && watch.socket.bytesRead <= watch.limit) continue;
    end(watch);
    if (!isOver) watch.tooMuch();
  }
  if (watches.length > 0) return;
  clearInterval(timer);
  timer = undefined;
}

/** The error of a request that `watchBytesAhead` ends. */
export function tooMuchAhead(): HookproofError {
  return new HookproofError("RESPONSE_INVALID", "More than 64 KiB came, and no answer's headers in them.");
}

/** An agent like those of `https-proxy-agent`: it connects to its proxy with these options, once for each tunnel. */
interface TunnelAgent {
  connectOpts: { readonly signal?: AbortSignal };
  connect(request: { readonly destroyed: boolean }, options: object): Promise<unknown>;
}

const bounded = new WeakSet<object>();

/** The function that ends the tunnel which is being opened for a request. */
const underWay = new WeakMap<object, () => void>();

/**
 * Limits what a proxy may send to an agent of the caller's before the tunnel is open. Such an agent reads a proxy's answer
 * without a limit and hands its connection over only afterwards, so that ending the request ends nothing. For
 * this its `connect` is replaced, for good, by one that gives each connection a signal and counts what it reads.
 */
export function boundTunnels(agent: object): void {
  if (bounded.has(agent) || !isTunnelAgent(agent)) return;
  bounded.add(agent);
  const { connect } = agent;
  agent.connect = async (request, options) => {
    const ended = new AbortController();
    const end = () => ended.abort();
    if (request.destroyed) end();
    let unwatch: (() => void) | undefined;
    let flood: Error | undefined;
    const onFlood = () => {
      flood = tooMuchAhead();
      end();
    };
    const take = (message: unknown) => {
      unwatch ??= watchBytesAhead((message as { socket: CountingSocket }).socket, onFlood);
    };
    const given = agent.connectOpts;
    const signal = given.signal ? AbortSignal.any([given.signal, ended.signal]) : ended.signal;
    let opening: Promise<unknown>;
    subscribe("net.client.socket", take);
    try {
      // The options are read, and the connection is begun, before this returns.
      agent.connectOpts = { ...given, signal };
      opening = connect.call(agent, request, options);
    } finally {
      agent.connectOpts = given;
      unsubscribe("net.client.socket", take);
    }
    underWay.set(request, end);
    try {
      return await opening;
    } catch (error) {
      throw flood ?? error;
    } finally {
      underWay.delete(request);
      unwatch?.();
    }
  };
}

/** Ends the tunnel that an agent is opening for a request, if it is. */
export function endTunnel(request: object): void {
  underWay.get(request)?.();
}

function isTunnelAgent(agent: object): agent is TunnelAgent {
  return "connectOpts" in agent && "connect" in agent && typeof agent.connect === "function";
}
