import { existsSync } from "node:fs";
import { chown, writeFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { join } from "node:path";
import { heldPort } from "./held-port.mjs";
import { dataFolder, startOwnServer } from "./own-server.js";

const BINARY = "/usr/sbin/pgbouncer";

/** Whether PgBouncer is installed, as Debian's package has it. */
export const hasPgBouncer = existsSync(BINARY);

/** PgBouncer in transaction mode before a server on loopback, with few connections to it. */
export async function pgBouncer(server: string): Promise<{ url: string; stop(): Promise<void> }> {
  const url = new URL(server);
  const folder = await dataFolder("pgbouncer");
  const port = await heldPort();
  await writeFile(join(folder, "users.txt"), `"${url.username}" "${url.password}"\n`);
  await writeFile(
    join(folder, "pgbouncer.ini"),
    `[databases]
* = host=${url.hostname} port=${url.port} user=${url.username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = users.txt
pool_mode = transaction
default_pool_size = 4
max_client_conn = 200
server_login_retry = 1
`,
  );
  // PgBouncer refuses to run as root.
  const owner = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  if (owner.uid !== undefined) await chown(folder, owner.uid, owner.gid);
  const isReady = () =>
    new Promise<boolean>((resolve) => {
      const socket = createConnection(port, "127.0.0.1", () => {
        socket.destroy();
        resolve(true);
      });
      socket.on("error", () => resolve(false));
    });
  const own = await startOwnServer([BINARY, join(folder, "pgbouncer.ini")], folder, isReady, owner);
  const through = Object.assign(new URL(server), { hostname: "127.0.0.1", port: String(port) });
  return { url: through.href, stop: () => own.stop() };
}
