// The command that starts the local service.
import { existsSync, rmSync } from "node:fs";
import type { Clock } from "hookproof";
import type { OperationId, Service, ServiceLog, ServiceOptions } from "hookproof-service";
import type { Args, Command, Context } from "../command.js";
import { nextStep } from "../config/next-step.js";
import { EXIT, usageError } from "../failure.js";
import { removalOf, writeOwnFile } from "../files/written-file.js";
import { stopped } from "../io.js";
import { inertJson } from "../output.js";
import { SERVICE_URL } from "../serve/control-client.js";
import { INSPECTOR_FLAGS, presentInspector, startInspecting } from "../serve/inspecting.js";
import {
  AUTOMATION_FLAGS,
  automationOptions,
  BUCKET_FLAG,
  bucketOf,
  clientSecret,
  clientSecretFile,
  controlToken,
  controlTokenFile,
  DATABASE_FLAG,
  DEFAULT_CLIENT,
  databaseFile,
  onDatabase,
  requirePlace,
  SEED_FLAGS,
  seedProgress,
  sourceOf,
} from "../serve/service-database.js";
import { reportServed, SERVING_FLAGS, servingOptions, started, warnIfOpen } from "../serve/serving.js";
import { writeSession } from "../serve/sessions.js";
import { wordOf } from "../shell-word.js";
import { pointInTime } from "../times.js";

export const serviceStart: Command = {
  name: "service start",
  details: "Its database survives a restart. On loopback unless --host says otherwise.",
  flags: {
    port: {
      type: "number",
      value: "<n>",
      default: 4420,
      range: [0, 65_535],
      describe: "0 takes a free port",
    },
    ...DATABASE_FLAG,
    ...SEED_FLAGS,
    latency: { type: "duration", value: "<dur>", describe: "the least time that every operation takes" },
    fault: {
      type: "string",
      value: "<operation>=<status>",
      repeatable: true,
      describe: "an operation that fails, such as getAuthConfig=503",
      completes: "fault",
    },
    clock: { type: "string", value: "<time>", describe: "the service's time at the start" },
    "token-lifetime": {
      type: "duration",
      value: "<dur>",
      describe: "how long an access token lives, up to 24h; 1h by default",
    },
    "lock-out-after": {
      type: "number",
      value: "<n>",
      range: [0, 999_999_999],
      describe: "wrong secrets in a minute that lock a client out; 10 by default, 0 is never",
    },
    cors: {
      type: "string",
      value: "<origin>",
      repeatable: true,
      describe: "a page that may call the service, such as http://localhost:5173; * is all",
    },
    "wire-name": {
      type: "string",
      value: "<name>=<wire>",
      repeatable: true,
      describe: "a name that your client has for svcLocal, matchXId, ...",
      completes: "wire-name",
    },
    "unknown-fields": {
      type: "string",
      choices: ["refuse", "ignore"],
      describe: "requests with fields or query names that the API does not have; refused by default",
    },
    "ready-file": {
      type: "string",
      value: "<file>",
      describe: "a file to write its addresses to, as JSON, once it is ready",
      completes: "file",
    },
    ...AUTOMATION_FLAGS,
    ...BUCKET_FLAG,
    ...INSPECTOR_FLAGS,
    ...SERVING_FLAGS,
  },
  examples: [
    ["hookproof service start", "on port 4420; then in another terminal: hookproof service routes"],
    ["hookproof service start --db team.db --fixture team.yaml", "with users and secrets of your own"],
    ["hookproof service start --fault getAuthConfig=503 --latency 300ms", "to see how a client behaves"],
  ],
  exits: [[3, "the database or the client secret cannot be used"]],
  async run(context) {
    const { args, io, out } = context;
    const { createService, FAULT_OPERATION_IDS } = await import("hookproof-service");
    const options = await servingOptions(context);
    const faults = faultsOf(args, FAULT_OPERATION_IDS);
    const clock = clockOf(args);
    const source = await sourceOf(args);
    const s3 = await bucketOf(context);
    const db = databaseFile(io, args);
    requirePlace(db);
    const limits = tokenLimits(args);
    const automations = automationOptions(args);
    const latencyMs = latencyOf(args);
    const access = { cors: corsOf(args), wireNames: wireNamesOf(args), unknownFields: unknownFieldsOf(args) };
    const newFiles = [clientSecretFile(db), controlTokenFile(db)].filter((file) => !existsSync(file));
    const counts = new Map<number, number>();
    const { inspector, ...page } = await startInspecting(context);
    const { onProgress, finish } = seedProgress(context, source);
    const service = await started(
      () =>
        onDatabase(async () =>
          createService({
            ...options,
            inspector,
            ...source,
            ...limits,
            ...access,
            onProgress,
            db,
            s3,
            client: { id: DEFAULT_CLIENT, secret: await clientSecret(db) },
            controlToken: await controlToken(db),
            clock,
            faults,
            latencyMs,
            ...automations,
            log: logOf(context, counts),
          }),
        ),
      options.port,
    )
      .finally(finish)
      .catch(async (error) => {
        await page.stop();
        // What a start made that failed does not stay.
        for (const file of newFiles.filter((one) => existsSync(one))) rmSync(file, { force: true });
        if (error instanceof TypeError && error.message.startsWith("wireNames: "))
          throw usageError(`--wire-name: ${error.message.slice("wireNames: ".length)}.`);
        throw error;
      });
    if (!service.isStateNew && ["seed", "users", "fixture"].some((flag) => args.isGiven(flag)))
      out.warn(
        `${db} already has data and keeps it; ${nextStep(args, "hookproof service seed --replace", ["seed", "users", "fixture"])} fills it again.`,
      );
    if (service.isDatabaseShared)
      out.warn(
        `Another service runs over ${db} too: they share the data, and each has its own faults, clock and journal. --db names another one.`,
      );
    try {
      await serve(context, service, { db, inspectorUrl: page.url });
    } finally {
      await service.stop();
      await page.stop();
    }
    reportServed(context, counts);
    return EXIT.ok;
  },
};

/** Prints the service's URL, and waits until it is stopped. */
async function serve(
  context: Context,
  service: Service,
  { db, inspectorUrl }: { db: string; inspectorUrl: string | undefined },
): Promise<void> {
  const { args, io, out } = context;
  const { url, clientId } = service;
  const { exampleListener } = await import("hookproof-service");
  const listener = await exampleListener({ db, baseUrl: url });
  const secretFile = clientSecretFile(db);
  const ready = { url, clientId, clientSecretFile: secretFile, controlTokenFile: controlTokenFile(db) };
  const readyFile = args.text("ready-file");
  const removals: (() => void)[] = [];
  try {
    if (listener) removals.push(await writeSession(io, out, service.port, { ...listener, method: "hmac" }));
    if (readyFile !== undefined) removals.push(await writeReadyFile(readyFile, ready));
    out.document({
      type: "listening",
      ...ready,
      ...(inspectorUrl === undefined ? {} : { inspectorUrl }),
    });
    out.line(url);
    warnIfOpen(
      context,
      "they can send to its listeners, and call it with its client's secret; it is for development and tests.",
    );
    out.note(`client ${clientId}, secret in ${secretFile}; reference at ${url}/reference`);
    await presentInspector(context, inspectorUrl);
    const base = url === SERVICE_URL ? "" : ` --base-url ${wordOf(url)}`;
    out.note(`next: ${nextStep(args, `hookproof service routes${base}`)}`);
    await stopped(io.stopSignal);
  } finally {
    for (const remove of removals) remove();
  }
}

/**
 * Writes where the service is. In a folder that others may write to, such as /tmp, a name that can be guessed could be
 * theirs already. Returns the function that removes it.
 */
async function writeReadyFile(file: string, ready: object): Promise<() => void> {
  await writeOwnFile(file, `${JSON.stringify(ready)}\n`);
  return removalOf(file);
}

function corsOf(args: Args): ServiceOptions["cors"] {
  const origins = args.texts("cors");
  if (origins.includes("*")) return true;
  const wrong = origins.find((origin) => !URL.canParse(origin) || new URL(origin).origin !== origin);
  if (wrong !== undefined)
    throw usageError(
      `--cors must be an origin such as http://localhost:5173, or *, not ${JSON.stringify(wrong)}.`,
    );
  return origins.length === 0 ? undefined : origins;
}

function unknownFieldsOf(args: Args): ServiceOptions["unknownFields"] {
  return args.text("unknown-fields") === "ignore" ? "ignore" : undefined;
}

function wireNamesOf(args: Args): Record<string, string> {
  const names = args.texts("wire-name").map((text) => {
    const [, name, wire] = /^([A-Za-z0-9_]+)=([A-Za-z0-9_]+)$/.exec(text) ?? [];
    if (name === undefined || wire === undefined)
      throw usageError(
        `--wire-name must be two names, such as svcLocal=acmeLocal, not ${JSON.stringify(text)}.`,
      );
    return [name, wire] as const;
  });
  return Object.fromEntries(names);
}

/** Counts the answers; with -v also writes the service's log to stderr, a JSON object a line. */
function logOf({ io, global }: Context, counts: Map<number, number>): ServiceLog {
  const write = (level: string) => (fields: object, message: string) => {
    const { status } = fields as { status?: unknown };
    if (typeof status === "number") counts.set(status, (counts.get(status) ?? 0) + 1);
    if (global.verbose > 0 || level === "error")
      io.stderr.write(`${inertJson({ level, message, ...fields })}\n`);
  };
  return { info: write("info"), warn: write("warn"), error: write("error") };
}

function faultsOf(args: Args, operations: readonly OperationId[]): NonNullable<ServiceOptions["faults"]> {
  return Object.fromEntries(
    args.texts("fault").map((text): [OperationId, { status: number }] => {
      const [, name, status] = /^([A-Za-z]+)=([45][0-9]{2})$/.exec(text) ?? [];
      const operation = operations.find((one) => one === name);
      if (operation) return [operation, { status: Number(status) }];
      throw usageError(
        `--fault must be an operation and a status from 400 to 599, not ${JSON.stringify(text)}.`,
        `Operations: ${operations.join(", ")}`,
      );
    }),
  );
}

/** What the service takes: whole milliseconds, up to 10 minutes. */
function latencyOf(args: Args): number | undefined {
  const ms = args.durationMs("latency");
  if (ms !== undefined && ms > 600_000) throw usageError("--latency must be at most 10m.");
  return ms === undefined ? undefined : Math.ceil(ms);
}

/** How long tokens live, and when a client is locked out. */
function tokenLimits(args: Args): Pick<ServiceOptions, "tokenLifetimeSeconds" | "attemptLimits"> {
  const [lifetimeMs, failures] = [args.durationMs("token-lifetime"), args.number("lock-out-after")];
  const seconds = lifetimeMs === undefined ? undefined : lifetimeMs / 1000;
  if (seconds !== undefined && !(Number.isInteger(seconds) && seconds >= 1 && seconds <= 86_400))
    throw usageError("--token-lifetime must be whole seconds, from 1s to 24h.");
  return {
    tokenLifetimeSeconds: seconds,
    ...(failures === undefined ? {} : { attemptLimits: { failures: failures || Number.POSITIVE_INFINITY } }),
  };
}

/** A clock that starts at the given time. */
function clockOf(args: Args): Clock | undefined {
  const text = args.text("clock");
  if (text === undefined) return undefined;
  const shiftMs = pointInTime("--clock", text) - Date.now();
  return { now: () => Date.now() + shiftMs };
}
