// @ts-check
// All stages of CI, as far as they can side by side: README's own commands as an ordinary user with Node and nothing else, and
// beside it types and lint; then what needs more programs. Every stage runs, whatever fails; the end lists all of it.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { runStages } from "./run-stages.mjs";
import { stranger } from "./stranger.mjs";

const ROOT = resolve(import.meta.dirname, "..");
process.chdir(ROOT);
const work = mkdtempSync(join(tmpdir(), "hookproof-ci-"));
const home = stranger(work);

/** Debian's programs that tests call; their services stay off, as the tests start servers of their own. */
const PROGRAMS =
  "openssl curl jq age zsh fish mandoc procps perl python3 python3-jwt python3-cryptography python3-psycopg ruby php-cli golang-go \
  libjackson2-databind-java libgoogle-gson-java mariadb-server-core python3-flask python3-django \
  python3-fastapi python3-uvicorn python3-pytest junit5 ruby-sinatra ruby-webrick ruby-railties php-laravel-framework default-jdk-headless \
  rustc cargo librust-hmac-dev librust-sha2-dev librust-base64ct-dev \
  libspring-web-servlet-java libjetty9-java libjetty9-extra-java mono-mcs mono-runtime libnewtonsoft-json5.0-cil \
  libmono-system-web-extensions4.0-cil python3-prometheus-client postgresql pgbouncer bubblewrap redis-server build-essential \
  spin chromium nginx-light haproxy apache2 prometheus".split(/\s+/);
const missing = PROGRAMS.filter((name) => !isInstalled(name));
const apt = `DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq --no-install-recommends ${missing.join(" ")}`;

/** Folders with packages of their own, which only some tests need. */
const FOLDERS = [
  ...["test/drivers", "test/interop", "test/doctor/diagnose/frameworks/node", "test/types/compilers"],
  ...["test/service/generators", "test/image/kubernetes", "test/runtimes", "bench", "examples/orm"],
];
const installs = FOLDERS.map(
  (folder) =>
    `npm ci --prefix ${folder} --ignore-scripts${folder === "test/runtimes" ? " --omit=optional" : ""}`,
);
// npm ci would demand the compiler of every platform, which not every registry has.
installs.push("npm install --prefix site --no-save --ignore-scripts");

// Prisma's client is made from its schema, by what npm has brought.
installs.push("npm run --prefix examples/orm generate");

const vitest = "node node_modules/vitest/vitest.mjs run";
// From here on a skipped test is an error, but for these: Debian's age is older, and the long forms are another run.
const env = {
  CI: "true",
  HOOKPROOF_MAY_SKIP: "age 1.3, HOOKPROOF_LONG=1, HOOKPROOF_SCREENSHOTS=1, Node 20, Node 22.19",
};

/** What needs a newer Node than this one: the transports over undici 8. */
const NODE_24 = "test/runtimes/node_modules/node-24/bin/node";
const UNDICI_8 =
  "node_modules/vitest/vitest.mjs run --project main --project thorough -t 'undici 8' test/http test/sender/proxies test/outbox/proxies";

await runStages({
  work,
  env,
  processors: 2,
  stages: [
    {
      name: "download",
      command: missing.length > 0 ? `apt-get update -qq && ${apt} --download-only` : "true",
      takes: 0,
    },
    { name: "install", command: "npm ci --ignore-scripts", takes: 1 },
    { name: "types", command: "npm run check:types", after: ["install"], takes: 1 },
    { name: "lint", command: "npm run check:lint", after: ["install"], takes: 1 },
    {
      name: "stranger: demo",
      command: "npm ci && npm run demo -- --exit && npm run pack",
      as: home,
      after: ["install"],
      takes: 1,
    },
    { name: "build", command: "npm run build", after: ["types", "lint"], takes: 1 },
    {
      name: "stranger: test",
      command: "npm test",
      as: home,
      after: ["stranger: demo", "build"],
      takes: 2,
      tests: true,
    },
    {
      name: "programs",
      // The one folder whose package is compiled, by what has just been installed.
      command: `${missing.length > 0 ? `${apt} && ` : ""}npm ci --prefix test/native`,
      after: ["download", "install", "stranger: test"],
      takes: 1,
    },
    { name: "packages", command: installs.join(" && "), after: ["install"], takes: 0 },
    {
      name: "check",
      command: "npm run check:unused && npm run check:docs && npm run check:built",
      ...{ after: ["stranger: test"], takes: 1 },
    },
    {
      name: "what the stranger has skipped",
      command: () => `${vitest} --project main -t '\\[with ' ${skippedBy("stranger: test")}`,
      ...{ after: ["programs", "packages", "build"], takes: 1, tests: true },
    },
    {
      name: "tests",
      command: projects("thorough", "alone", "packages", "languages", "site"),
      ...last("what the stranger has skipped", "check"),
    },
    { name: "databases and browser", command: projects("databases", "browser"), ...last("tests") },
    // Beside nothing else: their kills and cuts come at times of the clock.
    { name: "chaos", command: projects("chaos"), ...last("databases and browser") },
    { name: "simulation", command: projects("simulation"), ...last("chaos") },
    {
      name: "other runtimes",
      command: `node test/runtimes/run.mjs "Node 24" Bun Deno workerd Chromium && ${NODE_24} ${UNDICI_8}`,
      ...{ after: ["simulation"], takes: 2, again: true },
    },
    {
      name: "no figure has fallen",
      command: "node bench/run.mjs hmac jwt --quick && node bench/run.mjs --against kept --quick",
      ...{ after: ["other runtimes"], takes: 2, again: true },
    },
  ],
}).finally(() => {
  home.remove();
  rmSync(work, { recursive: true, force: true });
});

function isInstalled(/** @type {string} */ name) {
  return spawnSync("dpkg", ["-s", name], { stdio: "ignore" }).status === 0;
}

function projects(/** @type {string[]} */ ...names) {
  return [vitest, ...names.map((name) => `--project ${name}`)].join(" ");
}

/** Tests that keep both processors busy, after what comes before them. */
function last(/** @type {string[]} */ ...after) {
  return { after, takes: 2, tests: true };
}

/** The files in which a stage has skipped tests. */
function skippedBy(/** @type {string} */ stage) {
  const file = join(work, `${stage}.json`);
  if (!existsSync(file)) throw new Error(`"${stage}" did not say what it has skipped`);
  return JSON.parse(readFileSync(file, "utf8")).skippedIn.join(" ");
}
