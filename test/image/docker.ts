// `npm run test:image`: builds the image with Docker and follows an event through `docker compose up`. Where Docker does
// not answer, it starts a daemon of its own (Debian's docker.io), and where the base images cannot be had, builds them
// from Debian (debootstrap) and this machine's Node; --debian does so everywhere, and --no-build takes the image that is
// there. Needs root for both, and the ports of compose.yaml.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT } from "./compose-file.js";
import { debianImages } from "./debian-images.js";
import { follow, until } from "./story.js";

const folder = mkdtempSync(join(tmpdir(), "hookproof-docker-"));
const env: NodeJS.ProcessEnv = { ...process.env, COMPOSE_PROJECT_NAME: `hookproof-test-${process.pid}` };
const run = (program: string, ...args: string[]) =>
  execFileSync(program, args, { env, cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
const answers = () => spawnSync("docker", ["info"], { env, stdio: "ignore" }).status === 0;
const step = (text: string) => console.log(`[${Math.round(performance.now() / 1000)} s] ${text}`);

const daemon = answers() ? undefined : await ownDaemon();
try {
  const isDebian = process.argv.includes("--debian") || !canPull();
  if (isDebian) {
    step("base images from Debian");
    if (!hasImage("hookproof-test/postgres")) debianImages(folder, env);
    env.NODE_IMAGE = "hookproof-test/node";
    env.POSTGRES_IMAGE = "hookproof-test/postgres";
  }
  step("the image");
  const base = env.NODE_IMAGE ? ["--build-arg", `NODE_IMAGE=${env.NODE_IMAGE}`] : [];
  if (!process.argv.includes("--no-build"))
    run("docker", "build", "--quiet", "--network", "host", ...base, "--tag", "hookproof:local", ".");
  look();
  step("docker compose up");
  const from = performance.now();
  try {
    compose("up", "--detach", "--no-build");
    const { eventId, seenAt } = await follow({
      sql: async (text) =>
        compose("exec", "-T", "postgres", "psql", "-U", "postgres", "-d", "app", "-Atc", text).trim(),
      log: async (service) => logs(service),
      health: async (service) => inspect(service, "{{.State.Health.Status}}") === "healthy",
      async stop(service) {
        const begun = performance.now();
        compose("stop", service);
        return { code: Number(inspect(service, "{{.State.ExitCode}}")), ms: performance.now() - begun };
      },
    });
    step(`${eventId}: delivered, shown and counted; ${Math.round(seenAt - from)} ms from compose up`);
  } catch (error) {
    console.error(compose("logs", "--no-color"));
    throw error;
  } finally {
    compose("down", "--volumes", "--timeout", "5");
  }
} finally {
  daemon?.kill("SIGTERM");
  if (daemon) await new Promise((resolve) => daemon.once("close", resolve));
  rmSync(folder, { recursive: true, force: true });
}

/** What the image itself promises: nobody's root, nothing to write to, no package manager, a list of its packages. */
function look(): void {
  const inside = (...command: string[]) =>
    spawnSync("docker", ["run", "--rm", "--read-only", "--network", "none", "--entrypoint", ...command], {
      env,
      encoding: "utf8",
    });
  const of = (...[program = "", ...args]: string[]) => inside(program, "hookproof:local", ...args);
  assert.match(of("hookproof", "--version").stdout, /^[0-9]+\.[0-9]+\.[0-9]+\n$/);
  assert.equal(of("id", "-u").stdout, "65532\n");
  assert.notEqual(of("touch", "/var/lib/hookproof/file").status, 0);
  assert.notEqual(of("npm", "--version").status, 0);
  const sbom = JSON.parse(of("cat", "/app/sbom.json").stdout) as { components: { name: string }[] };
  const names = sbom.components.map(({ name }) => name);
  for (const name of ["jose", "express", "pg", "yargs"]) assert.ok(names.includes(name), name);
  assert.ok(!names.includes("vitest"));
  const bytes = Number(run("docker", "image", "inspect", "--format", "{{.Size}}", "hookproof:local"));
  step(`${names.length} packages in its SBOM, ${Math.round(bytes / 1e6)} MB`);
}

function compose(...args: string[]): string {
  const isPlugin = spawnSync("docker", ["compose", "version"], { stdio: "ignore" }).status === 0;
  return isPlugin ? run("docker", "compose", ...args) : run("docker-compose", ...args);
}

function containerOf(service: string): string {
  return run("docker", "ps", "--all", "--quiet", ...filters(service)).trim();
}

function filters(service: string): string[] {
  const labels = { project: env.COMPOSE_PROJECT_NAME, service };
  return Object.entries(labels).flatMap(([name, value]) => [
    "--filter",
    `label=com.docker.compose.${name}=${value}`,
  ]);
}

function inspect(service: string, format: string): string {
  return run("docker", "inspect", "--format", format, containerOf(service)).trim();
}

/** Both streams of a service. */
function logs(service: string): string {
  const { stdout, stderr } = spawnSync("docker", ["logs", containerOf(service)], { env, encoding: "utf8" });
  return `${stdout}\n${stderr}`;
}

function hasImage(name: string): boolean {
  return spawnSync("docker", ["image", "inspect", name], { env, stdio: "ignore" }).status === 0;
}

function canPull(): boolean {
  return (
    spawnSync("docker", ["pull", "--quiet", "node:24-bookworm-slim"], { env, stdio: "ignore" }).status === 0
  );
}

async function ownDaemon() {
  step("a Docker daemon of its own");
  env.DOCKER_HOST = `unix://${join(folder, "docker.sock")}`;
  const config = join(folder, "daemon.json");
  mkdirSync(dirname(config), { recursive: true });
  writeFileSync(config, "{}");
  const child = spawn(
    "dockerd",
    [
      ...["--config-file", config, "--host", env.DOCKER_HOST, "--pidfile", join(folder, "pid")],
      ...["--data-root", join(folder, "data"), "--exec-root", join(folder, "exec")],
    ],
    { stdio: "ignore" },
  );
  await until("the daemon answers", async () => answers());
  return child;
}
