// Stands in for `docker compose up` where there is no container engine: reads compose.yaml and the Dockerfile, and runs
// each service as a process with the same command, environment, user, read-only root and secrets, and postgres with
// Debian's own. What it cannot show is the image's file system; `npm run test:image` does, with Docker.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import pg from "pg";
import { dataFolder } from "../kit/own-server.js";
import { type ComposeService, composeServices, imageSettings, ROOT } from "./compose-file.js";
import { composePostgres } from "./compose-postgres.js";
import { follow, until } from "./story.js";

interface Started {
  readonly child: ChildProcess;
  /** The service's own process, which bubblewrap has started. */
  readonly pid: Promise<number>;
  readonly ended: Promise<number>;
  log: string;
}

const begun = performance.now();
const services = composeServices();
const image = imageSettings();
const folder = await dataFolder("compose");
const started = new Map<string, Started>();
const starts = new Map<string, Promise<void>>();
let database: Awaited<ReturnType<typeof composePostgres>> | undefined;

try {
  writeFileSync(join(folder, "hosts"), `127.0.0.1 localhost ${[...services.keys()].join(" ")}\n`);
  mkdirSync(join(folder, "secrets"));
  const up = [...services].filter(([, { profiles }]) => profiles === undefined);
  await Promise.all(up.map(([name]) => start(name)));
  const { eventId, seenAt } = await follow({
    sql: query,
    log: async (name) => of(name).log,
    health: async (name) => (await run(name, image.healthCommand).ended) === 0,
    async stop(name) {
      const from = performance.now();
      process.kill(await of(name).pid, "SIGTERM");
      return { code: await of(name).ended, ms: Math.round(performance.now() - from) };
    },
  });
  const ms = Math.round(seenAt - begun);
  console.log(JSON.stringify({ eventId, services: up.map(([name]) => name), ms }));
} catch (error) {
  for (const [name, { log }] of started) console.error(`--- ${name}\n${log}`);
  throw error;
} finally {
  for (const { child } of started.values()) child.kill("SIGKILL");
  await database?.stop();
  rmSync(folder, { recursive: true, force: true });
}

function of(name: string): Started {
  return started.get(name) ?? assert.fail(`${name} is not running`);
}

/** Starts a service once what it depends on is as compose.yaml wants it. */
function start(name: string): Promise<void> {
  const known = starts.get(name);
  if (known) return known;
  const service = services.get(name) ?? assert.fail(`compose.yaml has no ${name}`);
  const starting = (async () => {
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      await start(other);
      if (condition === "service_completed_successfully")
        assert.equal(await of(other).ended, 0, `${other}: ${of(other).log}`);
      else assert.match(condition, /^service_(?:healthy|started)$/);
    }
    if (name === "postgres") {
      const { POSTGRES_DB = "", POSTGRES_PASSWORD_FILE = "" } = service.environment ?? {};
      const secret = join(folder, "secrets", POSTGRES_PASSWORD_FILE.replace("/run/secrets/", ""));
      database = await composePostgres(POSTGRES_DB, readFileSync(secret, "utf8").trim());
      await until("postgres is healthy", async () => (await query("SELECT 1")) === "1");
    } else
      started.set(
        name,
        run(name, [...(service.entrypoint ?? image.entrypoint), ...(service.command ?? []).map(unescaped)]),
      );
  })();
  starts.set(name, starting);
  return starting;
}

/** compose.yaml writes a `$` that is not its own as `$$`. */
function unescaped(text: string): string {
  return text.replaceAll("$$", "$");
}

/** Runs a command as a service: process 1 of its own, another user, everything read-only but what may be written. */
function run(name: string, command: readonly string[]): Started {
  const service = services.get(name) as ComposeService;
  assert.equal(service.read_only, true, name);
  const env = {
    ...image.env,
    ...service.environment,
    PATH: `/run/bin:${dirname(process.execPath)}:/usr/bin:/bin`,
  };
  const child = spawn(
    "bwrap",
    [
      ...[
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--tmpfs",
        "/run",
        "--tmpfs",
        "/var/lib",
      ],
      ...(service.tmpfs ?? []).flatMap((mount) => ["--tmpfs", mount.split(":")[0] as string]),
      ...["--ro-bind", ROOT, ROOT, "--ro-bind", join(folder, "hosts"), "/etc/hosts", "--dir", "/run/bin"],
      ...["--symlink", join(ROOT, "cli/bin/hookproof.cjs"), "/run/bin/hookproof"],
      ...(service.volumes ?? []).flatMap(mounted),
      ...["--remount-ro", "/run", "--remount-ro", "/var/lib", "--chdir", image.workdir],
      ...["--unshare-user", "--uid", image.uid, "--gid", image.uid, "--cap-drop", "ALL"],
      ...[
        "--unshare-pid",
        "--as-pid-1",
        "--die-with-parent",
        "--new-session",
        "--info-fd",
        "3",
        "--clearenv",
      ],
      ...Object.entries(env).flatMap(([variable, value]) => ["--setenv", variable, String(value)]),
      ...command,
    ],
    { stdio: ["ignore", "pipe", "pipe", "pipe"] },
  );
  const info = text(child.stdio[3] as NodeJS.ReadableStream);
  const one: Started = {
    child,
    log: "",
    pid: info.then((json) => (JSON.parse(json) as { "child-pid": number })["child-pid"]),
    ended: new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => resolve(code ?? -1));
    }),
  };
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      one.log += chunk;
    });
  return one;
}

/** A volume of the service as bubblewrap mounts it; of the named ones only the secrets are shared. */
function mounted(volume: string): string[] {
  const [source = "", target = "", mode] = volume.split(":");
  const from = source.startsWith(".") ? join(ROOT, source) : join(folder, source);
  return [mode === "ro" ? "--ro-bind" : "--bind", from, target];
}

async function query(sql: string): Promise<string> {
  const client = new pg.Client({ connectionString: database?.url });
  await client.connect();
  try {
    const { rows } = await client.query({ text: sql, rowMode: "array" });
    return String((rows as unknown[][])[0]?.[0]);
  } finally {
    await client.end();
  }
}

async function text(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}
