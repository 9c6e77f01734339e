import { readdirSync, readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import express, { type RequestHandler } from "express";
import { createSender, generateSecret, hmacSigner } from "hookproof";
import { createKeySet, generateKey } from "hookproof/jwks";
import { guardedLookup, toNodeListener } from "hookproof/node";
import type { OtelTracer } from "hookproof/otel";
import { createReceiver } from "hookproof/receiver";
import {
  createInspector,
  type LocalListener,
  type RunningServer,
  type ServiceLog,
  type ServiceOptions,
  seedDatabase,
  startKeySetHost,
  startListeners,
  startServer,
  webhookRouter,
} from "hookproof-service";
import ts from "typescript";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.js";
import { endedRuns, ownAutomation } from "./own-automation.js";
import { startService } from "./running-service.js";

const WAYS: readonly [how: string, fail: () => never][] = [
  [
    "throws",
    () => {
      throw new Error("failed");
    },
  ],
  ["rejects", () => Promise.reject(new Error("failed")) as never],
  [
    "gives another library's promise that rejects",
    () => {
      const promise = {};
      Reflect.set(promise, "then", (_: unknown, no: (error: Error) => void) => no(new Error("failed")));
      return promise as never;
    },
  ],
];

let unhandled: unknown[];
const onUnhandled = (reason: unknown) => void unhandled.push(reason);
const servers: { stop(): Promise<void> }[] = [];
beforeEach(() => {
  unhandled = [];
  process.on("unhandledRejection", onUnhandled);
  process.on("uncaughtException", onUnhandled);
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
  process.off("unhandledRejection", onUnhandled);
  process.off("uncaughtException", onUnhandled);
});

/** Rejections that nobody looks at are told after the microtasks. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}

function started<Server extends { stop(): Promise<void> }>(server: Server): Server {
  servers.push(server);
  return server;
}

/** A request as any stranger sends it; the status of its answer. */
function asked(server: { readonly url: string }, path: string, method = "GET"): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${server.url}${path}`, { method, agent: false }, (response) => {
      response
        .resume()
        .on("end", () => resolve(response.statusCode))
        .on("error", reject);
    });
    outgoing.on("error", reject).end(method === "POST" ? "{}" : undefined);
  });
}

const LISTENER = "/api/v1/webhooks/incoming/lst_1";
const setup = (more: Partial<LocalListener> = {}): LocalListener => ({
  listener: {
    id: "lst_1",
    baseUrl: "https://tenant.example.com",
    auth: { method: "hmac", secret: generateSecret() },
  },
  ...more,
});
const routed = async (handler: RequestHandler): Promise<RunningServer> =>
  started(await startServer(express().use(handler), {}));
const loggingTo = (call: () => void): ServiceLog => ({ info: call, warn: call, error: call });
const span = (call: () => never): OtelTracer =>
  ({ startSpan: () => ({ setAttribute: call, setStatus: call, end: call }) }) as never;
async function serviceAnswers(options: ServiceOptions): Promise<void> {
  const service = await startService(options);
  expect(await asked(service, "/healthz")).toBe(200);
  expect(await asked(service, "/api/v1/auth-configs/none")).toBe(401);
  expect(await asked(service, "/healthz")).toBe(200);
}

/** What each callback is an option of; each is called at least once, and the server answers afterwards. */
const CALLBACKS: Record<string, (fail: () => never) => Promise<void>> = {
  "webhookRouter: onHandled": async (fail) => {
    const server = await routed(webhookRouter([setup()], fail));
    for (let n = 0; n < 2; n++) expect(await asked(server, LISTENER, "POST")).toBe(400);
  },
  "webhookRouter: onUnknown": async (fail) => {
    const server = await routed(webhookRouter([], () => {}, fail));
    for (let n = 0; n < 2; n++) expect(await asked(server, LISTENER, "POST")).toBe(404);
  },
  "webhookRouter: listeners": async (fail) => {
    const router = express().use(webhookRouter(fail));
    const server = await routed(
      router.use(((_error, _req, res, _next) => {
        res.status(500).end();
      }) as express.ErrorRequestHandler),
    );
    for (let n = 0; n < 2; n++) expect(await asked(server, LISTENER, "POST")).toBe(500);
  },
  "LocalListener.beforeAnswer": async (fail) => {
    const server = await routed(webhookRouter([setup({ beforeAnswer: fail })]));
    for (let n = 0; n < 2; n++) expect(await asked(server, LISTENER, "POST")).toBe(400);
  },
  "LocalListener.keySet": async (fail) => {
    const inspector = await createInspector();
    const server = started(await startListeners({ listeners: () => [setup({ keySet: fail })], inspector }));
    for (let n = 0; n < 2; n++) expect(await asked(server, LISTENER, "POST")).toBe(400);
    expect(inspector.list().total).toBe(2);
    inspector.close();
  },
  "ListenersOptions.onHandled": async (fail) => {
    const server = started(await startListeners({ listeners: () => [setup()], onHandled: fail }));
    for (let n = 0; n < 2; n++) expect(await asked(server, LISTENER, "POST")).toBe(400);
    const inspector = await createInspector();
    const watched = started(await startListeners({ listeners: () => [setup()], onHandled: fail, inspector }));
    for (let n = 0; n < 2; n++) expect(await asked(watched, LISTENER, "POST")).toBe(400);
    expect(inspector.list().total).toBe(2);
    inspector.close();
  },
  "ListenersOptions.onUnknown": async (fail) => {
    const server = started(await startListeners({ listeners: () => [setup()], onUnknown: fail }));
    for (const path of ["/nowhere", LISTENER.replace(/[^/]+$/, "lst_other")])
      for (let n = 0; n < 2; n++) expect(await asked(server, path, "POST")).toBe(404);
  },
  "ListenersOptions.listeners": async (fail) => {
    await expect(startListeners({ listeners: fail })).rejects.toThrow("failed");
  },
  "KeySetHostServerOptions.onAsked": async (fail) => {
    const keySet = createKeySet([await generateKey({ alg: "EdDSA" })]);
    const server = started(await startKeySetHost({ keySet, onAsked: fail }));
    for (let n = 0; n < 2; n++) expect(await asked(server, "/.well-known/jwks.json")).toBe(200);
  },
  "startServer: handler": async (fail) => {
    const server = started(await startServer(fail, {}));
    for (let n = 0; n < 2; n++) expect(await asked(server, "/")).toBe(500);
    const late = started(
      await startServer((_request, response) => {
        response.flushHeaders();
        return fail();
      }, {}),
    );
    for (let n = 0; n < 2; n++) await expect(asked(late, "/")).rejects.toThrow();
  },
  "ServerOptions.onRefused": async (fail) => {
    const server = started(
      await startServer((_request, response) => void response.end(), { onRefused: fail }),
    );
    for (let n = 0; n < 2; n++) {
      const refused = fetch(server.url, { headers: { "X-Long": "x".repeat(100_000) } }).then(
        ({ status }) => status,
      );
      expect(await refused).toBe(431);
    }
    expect(await asked(server, "/")).toBe(200);
  },
  "AutomationOptions.onRun": async (fail) => {
    const lines: string[] = [];
    const log = { ...loggingTo(() => {}), error: (_: object, message: string) => void lines.push(message) };
    const service = await startService({ onRun: fail, log });
    const { id, listenerUrl, signingSecret } = await ownAutomation(service);
    const sender = createSender({ url: listenerUrl, signer: hmacSigner({ secret: signingSecret }) });
    await sender.send({ number: 1 });
    await sender.send({ number: 2 });
    expect(await endedRuns(service, id, 2)).toHaveLength(2);
    await expect.poll(() => lines).toEqual(["onRun failed", "onRun failed"]);
  },
  "ServiceOptions.log": (fail) => serviceAnswers({ log: loggingTo(fail) }),
  "ServiceOptions.tracer": async (fail) => {
    await serviceAnswers({ tracer: span(fail) });
    await serviceAnswers({ tracer: { startSpan: fail } });
  },
  "InspectorOptions.onProblem": async (fail) => {
    const historyFile = join(temporaryFolder("history"), "history.db");
    let told = 0;
    const inspector = await createInspector({
      historyFile,
      onProblem: () => {
        told += 1;
        return fail();
      },
    });
    const { default: LibSql } = await import("libsql");
    const other = new LibSql(historyFile);
    other.exec("DROP TABLE requests");
    other.close();
    const server = started(await startListeners({ listeners: () => [setup()], inspector }));
    for (let n = 0; n < 2; n++) expect(await asked(server, LISTENER, "POST")).toBe(400);
    expect(told).toBe(1);
    inspector.close();
  },
  "ResetOptions.onProgress": async (fail) => {
    const db = join(temporaryFolder("seeded"), "service.db");
    await seedDatabase({ db, users: 1, onProgress: fail });
    await (await startService({ db })).stop();
  },
  "hookproof/node: guardedLookup, resolve": async (fail) => {
    const found = await new Promise((resolve) => {
      guardedLookup({ resolve: fail })("name.example", { all: true }, resolve);
    });
    expect(found).toMatchObject({ message: "failed" });
  },
};

describe.each(WAYS)("a callback that %s", (_how, fail) => {
  it.each(Object.keys(CALLBACKS))("%s: ends no process", async (name) => {
    await CALLBACKS[name]?.(fail);
    await settled();
    expect(unhandled).toEqual([]);
  });
});

describe("toNodeListener behind a parser that has read the body", () => {
  it("answers 500 at node:http, and warns once", async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning);
    process.on("warning", onWarning);
    const listener = toNodeListener(createReceiver({ listener: setup().listener }), async () => {});
    const server = createServer(async (req, res) => {
      for await (const _chunk of req);
      void listener(req, res);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (let n = 0; n < 3; n++) expect(await asked({ url }, LISTENER, "POST")).toBe(500);
    await settled();
    process.off("warning", onWarning);
    server.close();
    expect(unhandled).toEqual([]);
    expect(warnings.map(String)).toEqual([expect.stringContaining("has been read already")]);
  });
});

/** Callbacks of calls that only their caller waits for, or that hookproof's own tests hold to this. */
const ELSEWHERE = new Set([
  "ResetOptions.clock",
  "ServiceOptions.clock",
  "LocalListener.run",
  "LocalListener.signer",
  "WatchOptions.runOf",
]);

it("every option of the service that is a callback, or has some, is in the table", () => {
  const source = fileURLToPath(new URL("../../service/src/", import.meta.url));
  const exported = readFileSync(`${source}index.ts`, "utf8");
  const inTable = Object.keys(CALLBACKS);
  const found = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .flatMap((name) => callbacksIn(readFileSync(`${source}${name}`, "utf8")))
    .filter(
      ({ of }) =>
        new RegExp(`\\b${of}\\b`).test(exported) || of === "AutomationOptions" || of === "WatchOptions",
    )
    .map(({ of, name }) => `${of}.${name}`);
  expect(found.length).toBeGreaterThan(10);
  expect(found.filter((name) => !inTable.includes(name) && !ELSEWHERE.has(name))).toEqual([]);
});

const HAS_CALLBACKS = /=>|\b(?:Clock|Signer|Run|OtelTracer|ServiceLog|SeedProgress)\b/;

function callbacksIn(text: string): { of: string; name: string }[] {
  const found: { of: string; name: string }[] = [];
  ts.createSourceFile("x.ts", text, ts.ScriptTarget.Latest, true).forEachChild((node) => {
    if (!ts.isInterfaceDeclaration(node) || !/Options$|^LocalListener$/.test(node.name.text)) return;
    for (const member of node.members) {
      const isCallback =
        ts.isMethodSignature(member) ||
        (ts.isPropertySignature(member) && HAS_CALLBACKS.test(member.type?.getText() ?? ""));
      if (isCallback) found.push({ of: node.name.text, name: String(member.name?.getText()) });
    }
  });
  return found;
}
