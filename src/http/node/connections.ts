// Keeps connections of Node's HTTP for the next request.
import type { ClientRequest, Agent as HttpAgent } from "node:http";
import type { AgentOptions } from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { type HeaderPair, onlyValue } from "../../core/headers.js";

/** How long a connection may be idle, if its server does not say less. */
const IDLE_MS = 30_000;

/** Safety margin before the server's own keep-alive limit, whose timer started before ours. */
const EARLIER_MS = 1_000;

/** How long a connection may be idle by its server's last `Keep-Alive`, which mostly is the one before. */
const idleLimits = new WeakMap<object, { readonly text: string; readonly ms: number }>();

/** Node's HTTP, by the protocol of a URL. */
interface NodeHttp {
  readonly "http:": typeof import("node:http");
  readonly "https:": typeof import("node:https");
}

let loaded: NodeHttp | undefined;

/** Node's HTTP, where it is loaded. Who only signs does without: it takes longer to load than the library. */
export function loadedHttp(): NodeHttp | undefined {
  return loaded;
}

/** By `import`, and nothing of ours with it: a file that cannot be read once, Node never reads again. */
export async function loadHttp(): Promise<NodeHttp> {
  const [http, https] = await Promise.all([import("node:http"), import("node:https")]);
  loaded ??= { "http:": http, "https:": https };
  return loaded;
}

/** Agents that keep connections for the next request, and close those that are idle for too long. */
export function keptAgents(http: NodeHttp, options: AgentOptions) {
  const all = { ...options, keepAlive: true };
  const { "http:": plain, "https:": secure } = unkeptAgents(http, all);
  const reuse = http["http:"].Agent.prototype.reuseSocket;
  return { "http:": closingIdle(plain, reuse), "https:": closingIdle(secure, reuse) };
}

/** Agents that keep none, unless the options say so. */
export function unkeptAgents(http: NodeHttp, options: AgentOptions) {
  return { "http:": new http["http:"].Agent(options), "https:": new http["https:"].Agent(options) };
}

/** Notes how long a server keeps the connection of this answer, if it says so. */
export function noteKeepAlive(socket: object, headers: readonly HeaderPair[]): void {
  const text = onlyValue(headers, "keep-alive");
  if (text === undefined || idleLimits.get(socket)?.text === text) return;
  const seconds = /^timeout=(\d+)/.exec(text)?.[1];
  if (seconds === undefined) return;
  idleLimits.set(socket, { text, ms: Math.min(IDLE_MS, Number(seconds) * 1_000 - EARLIER_MS) });
}

/** What arrives over an idle connection answers no request, and would be read for as long as it came. */
function unasked(this: Socket): void {
  this.destroy();
}

function closingIdle<Agent extends HttpAgent>(agent: Agent, reuse: HttpAgent["reuseSocket"]): Agent {
  return Object.assign(agent, {
    keepSocketAlive(socket: Socket): boolean {
      const limitMs = idleLimits.get(socket)?.ms ?? IDLE_MS;
      if (limitMs <= 0) return false;
      socket.setKeepAlive(true, 1_000);
      socket.unref();
      socket.on("data", unasked);
      // An agent destroys an idle connection whose time limit is over.
      socket.setTimeout(limitMs);
      return true;
    },
    reuseSocket(socket: Socket, request: ClientRequest): void {
      socket.setTimeout(0);
      socket.off("data", unasked);
      reuse.call(agent, socket, request);
    },
  });
}

const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;

/**
 * Agents that once let an unchecked connection pass. Its TLS session may be resumed, and Node, which checks no name
 * then, calls the resumed connection authorized.
 */
const careless = new WeakSet<object>();

/** Whether a connection is encrypted. An answer to an `https:` URL that came over another one is a proxy's own. */
export function isEncrypted(socket: Socket | null): boolean {
  return socket !== null && "encrypted" in socket && socket.encrypted === true;
}

/** Notes a new connection of an agent, once its TLS handshake is complete. */
export function noteConnection(socket: Socket, agent: object): void {
  if (isEncrypted(socket) && !(socket as TLSSocket).authorized) careless.add(agent);
}

/**
 * Whether what comes over a connection is certainly the host's own: TLS whose certificate was checked, or plain HTTP
 * from a host on loopback. A forward proxy on loopback answers for hosts that are elsewhere.
 *
 * @param isLoopback whether the URL's host is on loopback
 */
export function isAuthenticated(socket: Socket, agent: object, isLoopback: boolean): boolean {
  if (!isEncrypted(socket)) return isLoopback && LOOPBACK.test(socket.remoteAddress ?? "");
  const { rejectUnauthorized } = ("options" in agent && (agent.options as TlsOptions)) || {};
  return (socket as TLSSocket).authorized && !careless.has(agent) && rejectUnauthorized !== false;
}

interface TlsOptions {
  readonly rejectUnauthorized?: unknown;
}
