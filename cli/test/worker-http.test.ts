import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { hmacSigner } from "hookproof";
import { openSqlite } from "hookproof/node";
import { createOutbox } from "hookproof/outbox";
import { sqliteStore } from "hookproof/outbox/sqlite";
import { expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { started } from "../../test/kit/local-server.js";
import { IPV6, itWith } from "../../test/kit/needs.js";
import { hasTool } from "../../test/kit/outside-tool.js";
import { receiverServer, SECRET } from "../../test/kit/receiver-server.js";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { commandOf } from "../src/command-line/find-command.js";
import { COMMANDS } from "../src/command-line/registry.js";
import { run } from "../src/main.js";
import { serveWorker } from "../src/outbox/worker-http.js";

/** `outbox work --http`: what an orchestrator and Prometheus see of a worker. */

const FILES = join(import.meta.dirname, "../../examples/operating");
const PYTHON = "/usr/bin/python3";
const PARSER = "from prometheus_client.openmetrics.parser import text_string_to_metric_families";

/** A worker whose events a listener accepts, refuses and does not answer. */
async function working(http = ":0") {
  const receiver = (await started(receiverServer())) as Awaited<ReturnType<typeof receiverServer>>;
  const folder = temporaryFolder("worker");
  const file = join(folder, "app.db");
  const store = sqliteStore({ open: () => openSqlite(file) });
  const url = receiver.url;
  const outbox = createOutbox({
    store,
    listeners: { right: { url, signer: hmacSigner({ secret: SECRET }) } },
  });
  for (let n = 0; n < 3; n++) await outbox.enqueue({ listener: "right", payload: { n } });
  await store.close();

  const controller = new AbortController();
  const env = {
    HOOKPROOF_HOME: join(folder, "home"),
    HOOKPROOF_SECRET: SECRET,
    HOOKPROOF_SECRET_ORIGIN: new URL(url).origin,
    NO_COLOR: "1",
  };
  const command = (...argv: string[]) => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const io = { stdin: Readable.from([]), stdout, stderr, env, stopSignal: controller.signal };
    return { stdout, stderr, ended: run(argv, io) };
  };
  await command("profile", "add", "right", "--target", url).ended;
  const { stdout, stderr, ended } = command("outbox", "work", "--outbox", file, "--http", http, "--json");
  onTestFinished(async () => {
    controller.abort();
    await ended;
  });
  const [line] = (await Promise.race([once(stdout, "data"), once(stderr, "data")])) as [Buffer];
  const at = (JSON.parse(String(line)) as { http?: string }).http ?? expect.fail(String(line));
  const page = async (path: string, method = "GET") => {
    const answer = await fetch(`${at}${path}`, { method });
    const { status, headers } = answer;
    return {
      status,
      type: headers.get("content-type"),
      allow: headers.get("allow"),
      body: await answer.text(),
    };
  };
  return { at, page };
}

const named = (metrics: string) =>
  new Set([...metrics.matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name));

/** The metrics that a text names, without what Prometheus adds for counters and histograms. */
const namesIn = (text: string) =>
  new Set(
    [...text.matchAll(/hookproof_(?:sends|attempts?|outbox)[a-z_]*/g)]
      .map(([name]) => name)
      .map((name) => name.replace(/_(?:total|bucket|sum|count)$/, "")),
  );

it("its metrics are OpenMetrics, and the rules, the dashboard and the page name no other", async () => {
  const { at, page } = await working();
  expect(at).toMatch(/^http:\/\/127\.0\.0\.1:[0-9]+$/);
  const metrics = async () => (await page("/metrics")).body;
  await expect
    .poll(metrics)
    .toMatch(/^hookproof_outbox_deliveries_total\{.*hookproof_listener="right".*\} 3$/m);
  const { type, body } = await page("/metrics");
  expect(type).toBe("application/openmetrics-text; version=1.0.0; charset=utf-8");
  expect(body).not.toContain(SECRET);
  const known = named(body);
  for (const file of ["alerts.yaml", "dashboard.json", "../../docs/guides/on-call.md"]) {
    const names = namesIn(readFileSync(join(FILES, file), "utf8"));
    expect(names.size, file).toBeGreaterThan(3);
    expect(
      [...names].filter((name) => !known.has(name)),
      file,
    ).toEqual([]);
  }
});

const hasParser = hasTool(PYTHON, "-c", PARSER);
itWith("python3-prometheus-client", hasParser)("somebody else's parser reads its metrics", async () => {
  const { page } = await working();
  const { body } = await page("/metrics");
  const count = `${PARSER}\nimport sys\nprint(len(list(text_string_to_metric_families(sys.stdin.read()))))`;
  expect(Number(execFileSync(PYTHON, ["-c", count], { input: body, encoding: "utf8" }))).toBe(
    named(body).size,
  );
});

it("tells whether it lives and whether it is ready, and nothing else", async () => {
  const { page } = await working("127.0.0.1:0");
  expect(await page("/healthz")).toMatchObject({ status: 200, body: "ok\n" });
  expect(await page("/readyz?now")).toMatchObject({ status: 200, body: "ready\n" });
  expect(await page("/healthz", "HEAD")).toMatchObject({ status: 200, body: "" });
  expect(await page("/metrics", "POST")).toMatchObject({ status: 405, allow: "GET, HEAD" });
  for (const path of ["/", "/metrics/", "/constructor", "/%2e%2e/etc/passwd"])
    expect((await page(path)).status, path).toBe(404);
});

/** The status under a name that a client says in `Host`. */
async function statusUnder(at: string, host: string): Promise<number | undefined> {
  const sent = request(`${at}/metrics`, { headers: { host } }).end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}

it("answers on loopback under names of this machine only: a page's own name may lead here", async () => {
  const worker = await serveWorker(":0");
  onTestFinished(() => worker.close());
  const { host, port } = new URL(worker.url);
  for (const name of [host, `localhost:${port}`, "LOCALHOST", "[::1]:80", "127.0.0.2"])
    expect(await statusUnder(worker.url, name), name).toBe(200);
  for (const name of ["attacker.example", `attacker.example:${port}`, "localhost.attacker.example"])
    expect(await statusUnder(worker.url, name), name).toBe(403);

  const open = await serveWorker("0.0.0.0:0");
  onTestFinished(() => open.close());
  expect(await statusUnder(open.url.replace("0.0.0.0", "127.0.0.1"), "worker.internal:9464")).toBe(200);
});

it.each(["9464:1", "/metrics", "a b:1", ":99999", "example.com", ""])("refuses --http %j", async (http) => {
  await expect(serveWorker(http)).rejects.toMatchObject({ code: "USAGE" });
});

itWith(...IPV6)("is reached in IPv6", async () => {
  const worker = await serveWorker("[::1]:0");
  onTestFinished(() => worker.close());
  expect((await fetch(`${worker.url}/healthz`)).status).toBe(200);
});

it("is not ready while the outbox cannot be reached, and when it is being stopped", async () => {
  const worker = await serveWorker("127.0.0.1:0");
  onTestFinished(() => worker.close());
  const ready = async () => (await fetch(`${worker.url}/readyz`)).status;
  const reason = '"permission denied for table event"';
  worker.observe({ type: "store-changed", available: false, code: "OUTBOX_UNAVAILABLE", reason });
  expect(await ready()).toBe(503);
  expect(await (await fetch(`${worker.url}/readyz`)).text()).toContain("permission denied for table event");
  const newer = '"too many connections"';
  worker.observe({ type: "store-changed", available: false, code: "OUTBOX_UNAVAILABLE", reason: newer });
  expect(await (await fetch(`${worker.url}/readyz`)).text()).toContain("too many connections");
  worker.observe({ type: "store-changed", available: true });
  expect(await ready()).toBe(200);
  worker.stopping();
  expect(await ready()).toBe(503);
  worker.observe({ type: "store-changed", available: true });
  expect(await ready()).toBe(503);
});

itWith("promtool", hasTool("promtool", "--version"))("the rules are rules of Prometheus", () => {
  const checked = execFileSync("promtool", ["check", "rules", join(FILES, "alerts.yaml")], {
    encoding: "utf8",
  });
  expect(checked).toContain("9 rules found");
});

it("the page has a section for each alert", () => {
  const { groups } = parse(readFileSync(join(FILES, "alerts.yaml"), "utf8")) as {
    groups: { rules: { alert: string }[] }[];
  };
  const page = readFileSync(join(FILES, "../../docs/guides/on-call.md"), "utf8");
  const headings = [...page.matchAll(/^## (Hookproof\w+)$/gm)].map(([, name]) => name);
  expect(headings).toEqual(groups.flatMap(({ rules }) => rules.map(({ alert }) => alert)));
});

/** The page's sections about alerts, by their names. */
const sections = () =>
  new Map(
    readFileSync(join(FILES, "../../docs/guides/on-call.md"), "utf8")
      .split(/^## /m)
      .slice(1)
      .map((text) => [text.split("\n")[0] ?? "", text]),
  );

it("each section says what to type, and the command line understands it", async () => {
  for (const [name, text] of sections()) {
    const typed = [...text.matchAll(/`((?:hookproof|systemctl|curl|psql) [^`]+)`/g)].map(
      ([, line = ""]) => line,
    );
    expect(typed.length, name).toBeGreaterThan(0);
    for (const line of typed.filter((one) => one.startsWith("hookproof "))) {
      const words = line
        .replaceAll(/"[^"]*"|<[^>]*>/g, "x")
        .split(" ")
        .slice(1);
      const command = commandOf(words) ?? expect.fail(line);
      const { flags } = (await COMMANDS[command]?.load()) ?? expect.fail(line);
      const known = [...Object.keys(flags), "profile"];
      const given = words.filter((word) => word.startsWith("--")).map((word) => word.slice(2));
      expect(
        given.filter((flag) => !known.includes(flag)),
        line,
      ).toEqual([]);
    }
  }
});

itWith("systemd", hasTool("systemd-analyze", "--version"))("the unit is a unit of systemd", () => {
  execFileSync("systemd-analyze", ["verify", join(FILES, "hookproof-outbox.service")], { stdio: "pipe" });
});
