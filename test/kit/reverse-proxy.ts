import { existsSync } from "node:fs";
import { chmod, chown, mkdir, writeFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { join } from "node:path";
import { heldPort } from "./held-port.mjs";
import { dataFolder, startOwnServer } from "./own-server.js";

/** The reverse proxies of Debian that tests set up to do harm. */
export type ReverseProxy = "nginx" | "haproxy" | "apache2";

/** Whether a proxy is installed, as Debian's package has it. */
export function hasProxy(name: ReverseProxy): boolean {
  return existsSync(`/usr/sbin/${name}`);
}

/** A proxy that runs. */
export interface RunningProxy {
  readonly port: number;
  readonly folder: string;
  stop(): Promise<void>;
}

/**
 * Starts a proxy as a process of its own that sends what it gets to `backend` (host and port).
 *
 * @param harm what it does to requests: lines of its own configuration language
 */
export async function startProxy(
  name: ReverseProxy,
  harm: (folder: string) => string,
  backend: string,
): Promise<RunningProxy> {
  const folder = await dataFolder(name);
  await mkdir(join(folder, "tmp"));
  const port = await heldPort();
  const file = join(folder, "proxy.conf");
  await writeFile(file, CONFIGURATIONS[name]({ folder, port, backend, harm: harm(folder) }));
  // Started by root, Apache's and nginx's workers are another user.
  if (process.getuid?.() === 0)
    for (const path of [folder, join(folder, "tmp")]) await chown(path, NOBODY, NOBODY);
  await chmod(file, 0o644);
  const own = await startOwnServer(COMMANDS[name](file, folder), folder, () => answersAt(port));
  return { port, folder, stop: () => own.stop() };
}

/** The user `nobody` of Debian. */
const NOBODY = 65_534;

interface Setting {
  readonly folder: string;
  readonly port: number;
  readonly backend: string;
  readonly harm: string;
}

const COMMANDS: Readonly<Record<ReverseProxy, (file: string, folder: string) => [string, ...string[]]>> = {
  nginx: (file, folder) => ["/usr/sbin/nginx", "-p", folder, "-c", file, "-e", join(folder, "error.log")],
  haproxy: (file) => ["/usr/sbin/haproxy", "-db", "-f", file],
  // One process, in a group of its own: Apache ends by ending its whole group.
  apache2: (file) => ["/usr/bin/setsid", "/usr/sbin/apache2", "-X", "-f", file],
};

const CONFIGURATIONS: Readonly<Record<ReverseProxy, (setting: Setting) => string>> = {
  nginx: ({ folder, port, backend, harm }) => `daemon off;
master_process off;
pid ${folder}/nginx.pid;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/tmp; proxy_temp_path ${folder}/tmp;
  fastcgi_temp_path ${folder}/tmp; uwsgi_temp_path ${folder}/tmp; scgi_temp_path ${folder}/tmp;
  upstream backend { server ${backend}; }
  server {
    listen 127.0.0.1:${port};
    ${harm}
  }
}
`,
  haproxy: ({ port, backend, harm }) => `defaults
  mode http
  timeout connect 5s
  timeout client 10s
  timeout server 10s
listen proxy
  bind 127.0.0.1:${port}
  ${harm}
  server backend ${backend}
`,
  apache2: ({ folder, port, backend, harm }) => `ServerRoot ${folder}
ServerName localhost
PidFile ${folder}/apache.pid
DefaultRuntimeDir ${folder}
Mutex file:${folder} default
Listen 127.0.0.1:${port}
ErrorLog ${folder}/error.log
User nobody
Group nogroup
StartServers 1
${[
  "mpm_prefork",
  "authz_core",
  "proxy",
  "proxy_http",
  "headers",
  "deflate",
  "filter",
  "ext_filter",
  "cgi",
  "alias",
]
  .map((module) => `LoadModule ${module}_module /usr/lib/apache2/modules/mod_${module}.so\n`)
  .join("")}
Define backend http://${backend}
${harm}
`,
};

function answersAt(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}
