import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type CountingSocket, tooMuchAhead, watchBytesAhead } from "./bytes-ahead-node.js";

/** An agent like those of `https-proxy-agent`: it connects to its proxy with these options, once for each tunnel. */
interface TunnelAgent {
  connectOpts: { readonly signal?: AbortSignal };
  connect(request: { readonly destroyed: boolean }, options: object): Promise<unknown>;
}

const bounded = new WeakSet<object>();

/** What ends the tunnel that is being opened for a request. */
const underWay = new WeakMap<object, () => void>();

/**
 * Bounds what a proxy may do to an agent of the caller's before a tunnel stands: such an agent reads a proxy's answer
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
