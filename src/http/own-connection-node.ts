import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { isLoopbackHost } from "../primitives/address.js";

const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;

/**
 * Agents that let a connection pass which nobody had checked. A session of it may be resumed, and Node, which then
 * checks no name, calls that connection authorized.
 */
const careless = new WeakSet<object>();

/** Whether a connection is encrypted; an answer to an `https:` URL that came otherwise is a proxy's own. */
export function isEncrypted(socket: Socket | null): boolean {
  return socket !== null && "encrypted" in socket && socket.encrypted === true;
}

/** Looks at a connection of an agent's as soon as it stands. */
export function noteConnection(socket: Socket, agent: object): void {
  if (socket instanceof TLSSocket && !socket.authorized) careless.add(agent);
}

/**
 * Whether what comes over a connection is the host's own for certain: checked TLS, or plain HTTP from a host on loopback.
 * A forward proxy on loopback answers for hosts that are elsewhere.
 *
 * @param host of the URL, without brackets
 */
export function isAuthenticated(socket: Socket, agent: object, host: string): boolean {
  if (!isEncrypted(socket)) return isLoopbackHost(host) && LOOPBACK.test(socket.remoteAddress ?? "");
  const { rejectUnauthorized } = ("options" in agent && (agent.options as TlsOptions)) || {};
  return (socket as TLSSocket).authorized && !careless.has(agent) && rejectUnauthorized !== false;
}

interface TlsOptions {
  readonly rejectUnauthorized?: unknown;
}
