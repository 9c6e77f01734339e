import type { Socket } from "node:net";
import { checkServerIdentity, TLSSocket } from "node:tls";
import { isLoopbackHost } from "../primitives/address.js";

const known = new WeakMap<Socket, boolean>();

/** Whether a connection is encrypted; an answer to an `https:` URL that came otherwise is a proxy's own. */
export function isEncrypted(socket: Socket | null): boolean {
  return socket !== null && "encrypted" in socket && socket.encrypted === true;
}

/** Whether what comes over a connection is the host's own for certain: checked TLS, or plain HTTP on loopback. */
export function isAuthenticated(socket: Socket, host: string): boolean {
  let answer = known.get(socket);
  if (answer === undefined) {
    answer = isEncrypted(socket) ? isChecked(socket, host) : isLoopbackHost(socket.remoteAddress ?? "");
    known.set(socket, answer);
  }
  return answer;
}

/** Node checks no name where a TLS session is taken up again, and the first one may have been let pass. */
function isChecked(socket: Socket, host: string): boolean {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return false;
  return !socket.isSessionReused() || checkServerIdentity(host, socket.getPeerCertificate()) === undefined;
}
