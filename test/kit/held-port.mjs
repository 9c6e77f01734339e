// A port of loopback that nobody else is given, for a server that has to be told its port.
import { once } from "node:events";
import { readFileSync } from "node:fs";
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

/**
 * Listens on a port that was held. Where it cannot, the error has the sockets on that port: whoever has it is not known else.
 *
 * @param {import("node:net").Server} server
 * @param {number} port
 */
export async function listenOnHeld(server, port) {
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    const hex = port.toString(16).toUpperCase().padStart(4, "0");
    const lines = readFileSync("/proc/net/tcp", "utf8").split("\n");
    const sockets = lines.filter((line) => line.includes(`:${hex} `)).join("\n");
    throw new Error(`${/** @type {Error} */ (error).message}\n${sockets}`, { cause: error });
  }
}
