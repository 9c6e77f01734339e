import type { RequestListener } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { afterEach, describe, expect, it, vi } from "vitest";
import { startExample } from "../kit/example-process.js";
import { type LambdaFront, lambdaGateway } from "../kit/lambda-gateway.js";
import { exchange, serve } from "../kit/loopback.js";
import { itWith } from "../kit/needs.js";
import { npmRuntime, type RuntimePackage } from "../kit/npm-runtime.js";
import { SECRET, signedRequest } from "../kit/signed-request.js";

const ENV = { LISTENER_SECRET: SECRET };
const PATH = "/api/v1/webhooks/incoming/lst_offboarding";
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  for (const stop of stops.splice(0)) await stop();
});

/** What every listener must do: accept once, know a copy, refuse forgeries, other types and large bodies. */
async function expectListener(server: string): Promise<void> {
  const url = server + PATH;
  const request = await signedRequest({ text: "Grüße, 世界" });
  expect(await exchange(url, request)).toEqual([200, {}]);
  expect(await exchange(url, request)).toMatchObject([409, { code: "EVENT_DUPLICATE" }]);
  const fresh = await signedRequest();
  expect(await exchange(url, { ...fresh, body: '{"user":"u_2"}' })).toMatchObject([
    401,
    { code: "SIGNATURE_MISMATCH" },
  ]);
  const { "Content-Type": _, ...untyped } = fresh.headers as Record<string, string>;
  expect(
    await exchange(url, { ...fresh, headers: { ...untyped, "Content-Type": "text/plain" } }),
  ).toMatchObject([415, { code: "CONTENT_TYPE_UNSUPPORTED" }]);
  expect(await exchange(url, { ...fresh, headers: untyped })).toMatchObject([
    400,
    { code: "CONTENT_TYPE_MISSING" },
  ]);
  expect(await exchange(url, { ...fresh, body: new Uint8Array(65_537) })).toMatchObject([
    413,
    { code: "BODY_TOO_LARGE" },
  ]);
}

it.each(["receive-node-http.mjs", "receive-express.mjs", "receive-fastify.mjs", "receive-hono.mjs"])(
  "%s runs alone",
  async (name) => {
    const example = await startExample(name, undefined, ENV);
    stops.push(example.stop);
    await expectListener(example.url);
    await expect.poll(() => example.lines).toEqual([expect.stringMatching(/^run [0-9a-f-]{36}$/)]);
  },
);

const modules: Record<string, () => Promise<RequestListener>> = {
  async "receive-next-route.mjs"() {
    const { POST } = await import("../../examples/receive-next-route.mjs");
    return getRequestListener(POST);
  },
  async "receive-workers.mjs"() {
    const { default: worker } = await import("../../examples/receive-workers.mjs");
    const env = { LISTENER_BASE_URL: "https://tenant.example.com", LISTENER_SECRET: SECRET };
    return getRequestListener((request) => worker.fetch(request, env));
  },
};

it.each(Object.entries(modules))("%s behind a web server", async (_name, load) => {
  const run = vi.spyOn(console, "log").mockImplementation(() => {});
  vi.stubEnv("LISTENER_SECRET", SECRET);
  const server = await serve(await load());
  stops.push(server.stop);
  await expectListener(server.url);
  expect(run).toHaveBeenCalledTimes(1);
});

const FRONTS: LambdaFront[] = ["function URL", "REST API", "load balancer", "load balancer with lists"];

describe.each(FRONTS)("receive-lambda.mjs behind a %s", (front) => {
  it.each([true, false])("base64 %s", async (isBase64Encoded) => {
    const run = vi.spyOn(console, "log").mockImplementation(() => {});
    vi.stubEnv("LISTENER_SECRET", SECRET);
    const { handler } = await import("../../examples/receive-lambda.mjs");
    const server = await serve(lambdaGateway(handler, isBase64Encoded, front));
    stops.push(server.stop);
    await expectListener(server.url);
    const { headers } = await fetch(server.url + PATH);
    expect(headers.get("content-type")).toMatch(/^application\/json/);
    expect(headers.get("allow")).toBe("POST");
    expect(run).toHaveBeenCalledTimes(1);
  });
});

const runtimes: [name: string, runtime: RuntimePackage, options: string[]][] = [
  ["receive-deno.mjs", "@deno/linux-x64-glibc", ["run", "--allow-net", "--allow-env"]],
  ["receive-bun.mjs", "@oven/bun-linux-x64", []],
];
for (const [name, runtime, options] of runtimes) {
  // On the built library: these runtimes do not read TypeScript's `.js` specifiers.
  itWith(runtime, npmRuntime(runtime))(`${name} runs alone`, async () => {
    const example = await startExample(name, [npmRuntime(runtime) as string, ...options], ENV);
    stops.push(example.stop);
    await expectListener(example.url);
  });
}
