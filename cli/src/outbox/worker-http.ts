// What a worker shows over HTTP: health, readiness and metrics.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Observer } from "hookproof";
import { type OtelMeter, otelObserver } from "hookproof/otel";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { usageError } from "../failure.js";
import { started } from "../serve/serving.js";

/** What a worker shows over HTTP: whether it lives, whether it can work, and its metrics. */
export interface WorkerHttp {
  /** Where it listens, such as `http://127.0.0.1:9464`. */
  readonly url: string;
  /** Whether others than this machine can reach it. */
  readonly isOpen: boolean;
  /** Takes the worker's activities. */
  readonly observe: Observer;
  /** From now on the worker is not ready: it is being stopped. */
  stopping(): void;
  close(): Promise<void>;
}

/** The attributes that the library's metrics have, with dots. */
const ATTRIBUTES = [
  "server.address",
  "hookproof.listener_id",
  "hookproof.listener",
  "outcome",
  "http.response.status_code",
  "error.type",
  "hookproof.job",
];

/** Seconds: answers take milliseconds, events may wait for days. */
const BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 3_600, 21_600, 86_400, 604_800];

/**
 * Serves `/healthz`, `/readyz` and `/metrics` (OpenMetrics).
 *
 * @param at a port, or an address and a port, such as `0.0.0.0:9464`; without an address, the loopback one
 */
export async function serveWorker(at: string): Promise<WorkerHttp> {
  const { hostname, port } = addressOf(at);
  const registry = new Registry();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never);
  const observeMetrics = otelObserver({ meter: meterOver(registry) });
  let outage: string | undefined;
  let isStopping = false;

  const pages: Readonly<Record<string, () => Promise<Page> | Page>> = {
    "/healthz": () => [200, TEXT, "ok\n"],
    "/readyz": () => {
      const reason = isStopping ? "the worker is stopping" : outage;
      return reason === undefined ? [200, TEXT, "ready\n"] : [503, TEXT, `${reason}\n`];
    },
    "/metrics": async () => [200, registry.contentType, await registry.metrics()],
  };
  const server = createServer((request, response) => {
    const { address = "" } = (server.address() as AddressInfo | null) ?? {};
    const isRefused = isLoopback(address) && !LOOPBACK_NAME.test(request.headers.host ?? "");
    void answer(pages, request, response, isRefused);
  });
  await started(
    () =>
      new Promise<void>((resolve, reject) => {
        server.once("error", reject).listen(port, hostname, resolve);
      }),
    port,
    "--http",
  );
  const address = server.address() as AddressInfo;
  const shown = address.family === "IPv6" ? `[${address.address}]` : address.address;
  return {
    url: `http://${shown}:${address.port}`,
    isOpen: !isLoopback(address.address),
    observe(event) {
      if (event.type === "store-changed")
        outage = event.available
          ? undefined
          : `the outbox cannot be used: ${event.code}${event.reason ? ` (${event.reason})` : ""}`;
      observeMetrics(event);
    },
    stopping: () => {
      isStopping = true;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function isLoopback(address: string): boolean {
  return address === "::1" || address.startsWith("127.");
}

/**
 * What this machine is called. On loopback only these are answered: a page of the outside can point a name of its own
 * at 127.0.0.1 and would read the metrics otherwise (DNS rebinding). Who opens the worker to others chooses its names.
 */
const LOOPBACK_NAME = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]{1,5})?$/i;

type Page = readonly [status: number, type: string, body: string];

const TEXT = "text/plain; charset=utf-8";

async function answer(
  pages: Readonly<Record<string, () => Promise<Page> | Page>>,
  { method, url = "" }: IncomingMessage,
  response: ServerResponse,
  isRefused: boolean,
): Promise<void> {
  const path = url.split("?")[0] as string;
  const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
  const isRead = method === "GET" || method === "HEAD";
  const [status, type, body] = isRefused
    ? NOT_THIS_NAME
    : !page
      ? NOT_FOUND
      : isRead
        ? await page()
        : NOT_ALLOWED;
  const allow = status === 405 ? { Allow: "GET, HEAD" } : {};
  response.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store", ...allow });
  response.end(method === "HEAD" ? undefined : body);
}

const NOT_FOUND: Page = [404, TEXT, "There are /healthz, /readyz and /metrics.\n"];
const NOT_THIS_NAME: Page = [403, TEXT, "The worker does not answer under this name.\n"];
const NOT_ALLOWED: Page = [405, TEXT, "These pages are read with GET.\n"];

function addressOf(at: string): { readonly hostname: string; readonly port: number } {
  const text = /^[0-9]+$/.test(at) ? `:${at}` : at;
  const url = text.startsWith(":") ? `http://127.0.0.1${text}` : `http://${text}`;
  const { hostname, port, pathname } = URL.canParse(url) ? new URL(url) : ({} as Partial<URL>);
  // A URL leaves out the port 80.
  if (hostname && pathname === "/" && /:[0-9]+$/.test(text))
    return { hostname: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 80) };
  throw usageError(`--http must be a port or an address with one, such as :9464 or 0.0.0.0:9464.`);
}

/** A meter of OpenTelemetry over Prometheus' client: the names, units and attributes become those of Prometheus. */
function meterOver(registry: Registry): Required<OtelMeter> {
  const settings = (
    name: string,
    { description = name, unit = "" }: { description?: string; unit?: string } = {},
  ) => ({
    name: `${name.replaceAll(".", "_")}${unit === "s" ? "_seconds" : ""}`,
    help: description,
    labelNames: ATTRIBUTES.map(labelName),
    registers: [registry],
  });
  return {
    createCounter(name, options) {
      const { name: base, ...rest } = settings(name, options);
      const counter = new Counter({ ...rest, name: `${base}_total` });
      return { add: (value, attributes) => counter.inc(labels(attributes), value) };
    },
    createHistogram(name, options) {
      const histogram = new Histogram({ ...settings(name, options), buckets: BUCKETS });
      return { record: (value, attributes) => histogram.observe(labels(attributes), value) };
    },
    createGauge(name, options) {
      const gauge = new Gauge(settings(name, options));
      return { record: (value, attributes) => gauge.set(labels(attributes), value) };
    },
  };
}

function labelName(attribute: string): string {
  return attribute.replaceAll(".", "_");
}

function labels(attributes: Readonly<Record<string, string | number>> = {}): Record<string, string | number> {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [labelName(name), value]));
}
