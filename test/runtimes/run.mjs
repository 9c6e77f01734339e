// One suite in every runtime that docs/overview.md names: npm run test:runtimes [name ...]. Prints its table;
// with --write puts it there. The runtimes are those of package.json here, at exact versions and by their hashes
// (npm ci --prefix test/runtimes); Chromium is Debian's.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { startListeners } from "hookproof-service";
import { heldPort } from "../kit/held-port.mjs";

const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const here = import.meta.dirname;
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "hookproof-runtimes-"));

const runtimes = {
  "Node 20": { program: "node-20/bin/node", start: inProcess },
  "Node 22": { program: "node-22/bin/node", start: inProcess },
  "Node 24": { program: "node-24/bin/node", start: inProcess },
  "Node 26": { program: "node-26/bin/node", start: inProcess },
  Bun: { program: "@oven/bun-linux-x64/bin/bun", start: inProcess },
  Deno: { program: "@deno/linux-x64-glibc/deno", args: ["run", "-A"], start: inProcess },
  workerd: { program: "@cloudflare/workerd-linux-64/bin/workerd", start: inWorkerd },
  Chromium: { start: inChromium },
};

const asked = process.argv.slice(2).filter((argument) => !argument.startsWith("-"));
const chosen = Object.keys(runtimes).filter((name) => asked.length === 0 || asked.includes(name));
const server = await startListeners({
  listeners: (baseUrl) => [{ listener: { id: "lst_1", baseUrl, auth: { method: "hmac", secret: SECRET } } }],
});
const listenerUrl = `${server.url}/api/v1/webhooks/incoming/lst_1`;

const rows = [];
for (const name of chosen) {
  console.error(`${name} …`);
  const { program, start, args } = runtimes[name];
  const binary = program && join(here, "node_modules", program);
  if (binary && !existsSync(binary)) await run("npm", ["ci", "--ignore-scripts", "--prefix", here]);
  rows.push({ name, ...(await start({ binary, args })) });
}
await server.stop();
await remove(folder);

const failures = rows.flatMap(({ name, results }) =>
  Object.entries(results)
    .filter(([, result]) => result !== "ok")
    .map(([capability, result]) => `${name}: ${capability}: ${result}`),
);
for (const failure of failures) console.error(failure);
const text = table();
console.log(text);
if (process.argv.includes("--write") && failures.length === 0 && asked.length === 0) writeTable(text);
process.exit(failures.length === 0 ? 0 : 1);

async function inProcess({ binary, args = [] }) {
  const [{ stdout: version }, { stdout }] = await Promise.all([
    run(binary, ["--version"]),
    run(binary, [...args, join(here, "in-process.mjs"), listenerUrl], { timeout: 120_000 }),
  ]);
  return { version: /\d+(\.\d+)+/.exec(version)?.[0], results: JSON.parse(stdout) };
}

async function inWorkerd({ binary }) {
  const worker = await bundle("worker.mjs", ["workerd", "worker"]);
  const port = await heldPort();
  const config = join(folder, "config.capnp");
  writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
      compatibilityDate = "2026-06-01",
      bindings = [(name = "LISTENER_URL", text = "${listenerUrl}")],
      globalOutbound = "loopback",
    )),
    (name = "loopback", network = (allow = ["private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
`,
  );
  const { stdout: version } = await run(binary, ["--version"]);
  const child = spawn(binary, ["serve", config], { cwd: folder, stdio: ["ignore", "inherit", "inherit"] });
  try {
    return {
      version: version.trim().split(" ").at(-1),
      results: await askUntilUp(`http://127.0.0.1:${port}`),
    };
  } finally {
    child.kill();
    rmSync(worker);
  }
}

/** Chromium's other processes may write for a moment after it has ended; what came meanwhile is a new try's to see. */
async function remove(path, tries = 100) {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    if (tries === 0) throw error;
    await new Promise((resolve) => setTimeout(resolve, 50));
    await remove(path, tries - 1);
  }
}

async function askUntilUp(url) {
  for (let i = 0; i < 200; i++) {
    const response = await fetch(url).catch(() => undefined);
    if (response) return response.json();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${url} did not come up`);
}

async function inChromium() {
  const script = readFileSync(await bundle("page.mjs", ["browser"]));
  const pages = createServer();
  pages.listen(0, "127.0.0.1");
  await once(pages, "listening");
  const posted = new Promise((resolve) => {
    pages.on("request", async (request, response) => {
      if (request.method === "POST") {
        let text = "";
        for await (const chunk of request) text += chunk;
        response.end();
        resolve(JSON.parse(text));
      } else if (request.url === "/page.mjs") {
        response.setHeader("Content-Type", "text/javascript").end(script);
      } else {
        response
          .setHeader("Content-Type", "text/html")
          .end('<script type="module" src="/page.mjs"></script>');
      }
    });
  });
  const { stdout: version } = await run("chromium", ["--version"]);
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"];
  const profile = `--user-data-dir=${join(folder, "chromium")}`;
  const url = `http://127.0.0.1:${pages.address().port}/`;
  const child = spawn("chromium", [...flags, profile, "--remote-debugging-port=0", url], { stdio: "ignore" });
  try {
    return { version: /\d+(\.\d+)+/.exec(version)?.[0], results: await posted };
  } finally {
    child.kill();
    await once(child, "exit");
    pages.closeAllConnections();
    pages.close();
  }
}

/** The suite and the library as one file, with the conditions that such a runtime's tools resolve with. */
async function bundle(entry, conditions) {
  const outfile = join(folder, entry);
  await build({
    entryPoints: [join(here, entry)],
    outfile,
    bundle: true,
    format: "esm",
    target: "es2022",
    conditions,
    logLevel: "error",
  });
  return outfile;
}

/** The table as Biome formats it, so that what is written into the page stays as it is. */
function table() {
  const capabilities = Object.keys(rows[0].results);
  const cells = [
    ["runtime", ...capabilities],
    ...rows.map(({ name, version, results }) => [
      `${name} (${version})`,
      ...capabilities.map((capability) => (results[capability] === "ok" ? "✔" : "✖")),
    ]),
  ];
  const widths = cells[0].map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(" | ")} |`;
  const [head, ...body] = cells.map(line);
  return [head, line(widths.map((width) => "-".repeat(width))), ...body].join("\n");
}

function writeTable(text) {
  const page = join(here, "../../docs/overview.md");
  const [before, rest] = readFileSync(page, "utf8").split("<!-- runtimes -->\n");
  const after = rest.slice(rest.indexOf("<!-- /runtimes -->"));
  writeFileSync(page, `${before}<!-- runtimes -->\n\n${text}\n\n${after}`);
}
