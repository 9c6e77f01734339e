// A port of loopback that nobody else is given, for a server that has to be told its port.
import { once } from "node:events";
import { connect, createServer } from "node:net";

/** Kept from the garbage collector, which would close them. */
const held = [];

/**
 * A port that this process holds until it ends; connections to it are refused until a server listens there. What holds it
 * is a connection from the port to itself: the system gives such a port to nobody who asks for any, and lets a server that
 * names it listen (SO_REUSEADDR, which servers set).
 *
 * @returns {Promise<number>}
 */
export async function heldPort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const own = connect(port, "127.0.0.1");
  const [[accepted]] = await Promise.all([once(server, "connection"), once(own, "connect")]);
  server.close();
  for (const socket of [own, accepted]) socket.on("error", () => {}).unref();
  held.push(own, accepted);
  return port;
}
