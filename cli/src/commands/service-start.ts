import { existsSync } from "node:fs";
import type { Clock } from "hookproof";
import {
  createService,
  DEFAULT_CLIENT,
  exampleListener,
  OPERATION_IDS,
  type OperationId,
  type Service,
  type ServiceLog,
  type ServiceOptions,
} from "hookproof-service";
import type { Args, Command, Context } from "../command.js";
import { EXIT, usageError } from "../failure.js";
import { inertJson } from "../inert.js";
import { INSPECTOR_FLAGS, presentInspector, startInspecting } from "../inspecting.js";
import { pointInTime } from "../point-in-time.js";
import { fillDatabase } from "../seed-database.js";
import {
  bucketOf,
  clientSecret,
  clientSecretFile,
  DATABASE_FLAG,
  databaseFile,
  onDatabase,
  SEED_FLAGS,
  sourceOf,
} from "../service-database.js";
import { SERVING_FLAGS, servingOptions, started, stopped } from "../serving.js";
import { writeSession } from "../sessions.js";

export const serviceStart: Command = {
  name: "service start",
  describe:
    "The whole Access Governance Service on this machine, with a database that survives a restart. Bound to loopback.",
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
    latency: { type: "duration", value: "<dur>", describe: "how long every operation takes at least" },
    fault: {
      type: "string",
      value: "<operation>=<status>",
      repeatable: true,
      describe: "an operation that fails, such as getAuthConfig=503",
    },
    clock: { type: "string", value: "<time>", describe: "the time it believes it is at the start" },
    "allow-insecure-jwks": {
      type: "boolean",
      describe: "key sets at private addresses too, for development",
    },
    ...INSPECTOR_FLAGS,
    ...SERVING_FLAGS,
  },
  examples: [
    ["hookproof service start", "on port 4420; then in another terminal: hookproof service routes"],
    ["hookproof service start --db team.db --seed team.yaml", "with users and secrets of your own"],
    ["hookproof service start --fault getAuthConfig=503 --latency 300ms", "how does a client take it?"],
  ],
  exits: [[3, "the database or the client secret cannot be used"]],
  async run(context) {
    const { args, io, out } = context;
    const options = await servingOptions(args);
    const faults = faultsOf(args);
    const clock = clockOf(args);
    const source = await sourceOf(args);
    const s3 = bucketOf(io);
    const db = databaseFile(io, args);
    if (!existsSync(db)) await fillDatabase(context, { ...source, db });
    else if (args.isGiven("seed") || args.isGiven("users"))
      out.warn(`${db} has a state and keeps it; hookproof service seed --replace fills it anew.`);
    const counts = new Map<number, number>();
    const { inspector, ...page } = await startInspecting(context);
    const service = await started(
      () =>
        onDatabase(async () =>
          createService({
            ...options,
            inspector,
            ...source,
            db,
            s3,
            client: { id: DEFAULT_CLIENT, secret: await clientSecret(db) },
            clock,
            faults,
            latencyMs: args.durationMs("latency"),
            allowInsecure: args.flag("allow-insecure-jwks"),
            log: logOf(context, counts),
          }),
        ),
      options.port,
    ).catch(async (error) => {
      await page.stop();
      throw error;
    });
    try {
      await serve(context, service, { db, inspectorUrl: page.url });
    } finally {
      await service.stop();
      await page.stop();
    }
    const n = [...counts.values()].reduce((sum, count) => sum + count, 0);
    out.note(`${n} requests${[...counts].map(([status, count]) => `, ${count} x ${status}`).join("")}`);
    return EXIT.ok;
  },
};

/** Says where the service is, and waits until it is stopped. */
async function serve(
  context: Context,
  service: Service,
  { db, inspectorUrl }: { db: string; inspectorUrl: string | undefined },
): Promise<void> {
  const { args, io, out } = context;
  const { url, clientId } = service;
  const listener = await exampleListener({ db, baseUrl: url });
  const endSession = listener
    ? await writeSession(io, out, service.port, { ...listener, method: "hmac" })
    : () => {};
  const secretFile = clientSecretFile(db);
  out.document({
    type: "listening",
    url,
    clientId,
    clientSecretFile: secretFile,
    ...(inspectorUrl === undefined ? {} : { inspectorUrl }),
  });
  out.line(url);
  out.note(`client ${clientId}, secret in ${secretFile}; reference at ${url}/reference`);
  await presentInspector(context, inspectorUrl);
  out.note(`next: hookproof service routes${args.isGiven("db") ? ` --db ${db}` : ""}`);
  await stopped(io.stopSignal);
  endSession();
}

/** Counts answers, and with -v writes what the service logs to stderr, a JSON object a line. */
function logOf({ io, global }: Context, counts: Map<number, number>): ServiceLog {
  const write = (level: string) => (fields: object, message: string) => {
    const { status } = fields as { status?: unknown };
    if (typeof status === "number") counts.set(status, (counts.get(status) ?? 0) + 1);
    if (global.verbose > 0 || level === "error")
      io.stderr.write(`${inertJson({ level, message, ...fields })}\n`);
  };
  return { info: write("info"), warn: write("warn"), error: write("error") };
}

function faultsOf(args: Args): NonNullable<ServiceOptions["faults"]> {
  return Object.fromEntries(
    args.texts("fault").map((text): [OperationId, { status: number }] => {
      const [, name, status] = /^([A-Za-z]+)=([45][0-9]{2})$/.exec(text) ?? [];
      const operation = OPERATION_IDS.find((one) => one === name);
      if (operation) return [operation, { status: Number(status) }];
      throw usageError(
        `--fault must be an operation and a status from 400 to 599, not ${JSON.stringify(text)}.`,
        `Operations: ${OPERATION_IDS.join(", ")}`,
      );
    }),
  );
}

/** A clock that goes on from the given time. */
function clockOf(args: Args): Clock | undefined {
  const text = args.text("clock");
  if (text === undefined) return undefined;
  const shiftMs = pointInTime("clock", text) - Date.now();
  return { now: () => Date.now() + shiftMs };
}
