// Starts the local service and everything that belongs to it.
import { randomBytes } from "node:crypto";
import express, { type RequestHandler } from "express";
import type { Clock } from "hookproof";
import type { OtelTracer } from "hookproof/otel";
import type { BehaviourProfile } from "hookproof/probes";
import { answerUnknownPath, errorAnswers } from "../api/error-answers.js";
import { operationsRouter } from "../api/mount.js";
import { FAULT_OPERATION_IDS, type OperationId } from "../api/operations.js";
import { pageTokens } from "../api/paging.js";
import { referencePage } from "../api/reference-page.js";
import { resetAll } from "../api/routes/control.js";
import { discoveryRouter } from "../api/routes/discovery.js";
import { DOWNLOADS_PATH, downloadRouter } from "../api/routes/downloads.js";
import { handlersOf } from "../api/routes/handlers.js";
import { healthRouter } from "../api/routes/health.js";
import { tokenRouter } from "../api/routes/token.js";
import { uploadRouter } from "../api/routes/upload.js";
import { webhookRoute } from "../api/routes/webhooks.js";
import { wireNames } from "../api/wire-names.js";
import { accessTokens } from "../auth/access-tokens.js";
import { hashClientSecret, newClientSecret } from "../auth/client-secret.js";
import type { AttemptLimits } from "../auth/failed-attempts.js";
import type { Role } from "../auth/principal.js";
import { checkCelOptions } from "../automations/cel-functions.js";
import {
  type AutomationOptions,
  checkAutomationOptions,
  createAutomationEngine,
} from "../automations/engine.js";
import type { Inspector } from "../inspector/inspector.js";
import { remoteControl } from "../inspector/remote-control.js";
import { watchCalls } from "../inspector/watch-calls.js";
import type { ExportOptions } from "../state/export-state.js";
import type { Fixture } from "../state/fixture.js";
import { type OpenState, openState, type StateOptions } from "../state/open-state.js";
import { markDatabase } from "../state/shared-database.js";
import { snapshots } from "../state/snapshots.js";
import { DEFAULT_CLIENT } from "../state/state.js";
import { newId } from "../storage/ids.js";
import { type Cors, corsRule } from "./cors.js";
import { createFaults, type Fault } from "./faults.js";
import {
  answerNotReady,
  type RunningServer,
  type ServerOptions,
  startServer,
  toldTo,
} from "./http-server.js";
import { type LogLevel, type ServiceLog, serviceLog, silentLog } from "./log.js";
import { dateAnswers, journalRequests, observeRequests } from "./observe-requests.js";
import { checkOptions, KINDS, type OptionKind, refuseUnknown } from "./options.js";
import { requestJournal } from "./request-journal.js";
import { type ClockChange, serviceClock } from "./service-clock.js";
import type { ServiceContext } from "./service-context.js";

/** Options of `createService`. */
export interface ServiceOptions extends ServerOptions, AutomationOptions, StateOptions {
  /** The address clients use, if it is not the server's own. */
  baseUrl?: string | undefined;
  /** The Super Admin client there always is; a random secret by default, and then a new one at each start. */
  client?: { id: string; secret: string } | undefined;
  clock?: Clock | undefined;
  /** The token of the remote control under `/local/v1`; a random one by default, and then a new one at each start. */
  controlToken?: string | undefined;
  /** How long every operation takes at least, in milliseconds. */
  latencyMs?: number | undefined;
  /** What goes wrong from the start, by operation. */
  faults?: Partial<Record<OperationId, Fault>> | undefined;
  /** How the webhook listeners answer where they have a choice: a profile that `hookproof test --record` keeps. */
  behaviour?: BehaviourProfile | undefined;
  /** Holds every answer against the OpenAPI document, and fails with 500 where it does not fit. */
  validateAnswers?: boolean | undefined;
  /** Seconds an access token lives, from 1 to 86,400; 3,600 by default. */
  tokenLifetimeSeconds?: number | undefined;
  /** How often a client may show a wrong secret; `{ failures: Infinity }` for as often as it likes. */
  attemptLimits?: AttemptLimits | undefined;
  /** Where requests are logged, or how much on standard error; nothing by default. */
  log?: ServiceLog | LogLevel | undefined;
  /** A tracer of OpenTelemetry, for a span of each request. */
  tracer?: OtelTracer | undefined;
  /**
   * Names that a client has where the document has neutral ones, by those: `{ svcLocal: "acmeLocal" }`. They are in
   * answers, and taken in requests.
   */
  wireNames?: Readonly<Record<string, string>> | undefined;
  /**
   * What becomes of a request with a field or a query name that the document does not have: `refuse`, the default, is
   * 400 with the nearest name; `ignore` is for a client that sends more.
   */
  unknownFields?: "refuse" | "ignore" | undefined;
  /** Lets pages of other origins call the service: `true` for every page, or the origins. None by default. */
  cors?: Cors | undefined;
  /** Records what the webhook listeners receive, and the calls of the API; `startInspector` shows them. */
  inspector?: Inspector | undefined;
}

/** A local Access Governance Service that is running. */
export interface Service extends RunningServer, AsyncDisposable {
  /** The client that is Super Admin, for a standard OAuth client. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** The bearer token of everything under `/local/v1`: faults, clock, reset, snapshots, journal. */
  readonly controlToken: string;
  /** Whether the seed or fixture was loaded at this start; false for a database that had a state, and keeps it. */
  readonly isStateNew: boolean;
  /** Whether another service was running over the same database file at this start. */
  readonly isDatabaseShared: boolean;
  /** An access token without the round trip. */
  token(options?: TokenOptions): Promise<string>;
  /** Signs tokens with a new key from now on; those of the old one stay good until they expire. */
  rotateSigningKey(): Promise<void>;
  /** Makes an operation go wrong; `undefined` takes that back. */
  setFault(operation: OperationId, fault: Fault | undefined): void;
  /** Moves the clock; every answer's `Date` follows, and access tokens end by it. */
  moveClock(change: ClockChange): void;
  /**
   * Goes back to the fixture or the seed, and to the faults and the clock of the start; the keys, the snapshots, and
   * clients that act as no user, stay.
   */
  reset(): Promise<void>;
  /** The state as a fixture, for `diffStates`, or a file by `formatFixture`. */
  exportState(options?: ExportOptions): Promise<Fixture>;
}

/** Whom a token is for. */
export interface TokenOptions {
  /** `super-admin` by default. */
  role?: Role | undefined;
  /** The user the caller acts as. */
  userId?: string | undefined;
  /** `tokenLifetimeSeconds` by default and at most; less than 0 for a token that has expired. */
  expiresInSeconds?: number | undefined;
}

const { text, flag, url, port, ms, number, callback, members, clock, texts, anything } = KINDS;

const OPTIONS = {
  allowInsecure: flag,
  attemptLimits: members,
  baseUrl: url,
  celFunctions: members,
  celNamespace: ["a text", (value) => typeof value === "string"],
  behaviour: [
    "what readBehaviour(...) gives",
    (value) => members[1](value) && members[1]((value as BehaviourProfile).answers),
  ],
  client: members,
  clock,
  controlToken: text,
  cors: ["true, or a list of origins", (value) => value === true || isTextList(value)],
  db: text,
  faults: members,
  fixture: members,
  host: text,
  inspector: [
    "createInspector(...)",
    (value) => members[1](value) && typeof (value as Inspector).watchCalls === "function",
  ],
  latencyMs: number,
  limits: members,
  log: [
    'a logger, or "silent", "error", "warn" or "info"',
    (value) => isLogger(value) || ["silent", "error", "warn", "info"].includes(String(value)),
  ],
  onProgress: callback,
  onRefused: callback,
  onRun: callback,
  port,
  s3: members,
  seed: number,
  tls: members,
  tokenLifetimeSeconds: number,
  tracer: [
    "a tracer of OpenTelemetry",
    (value) => members[1](value) && typeof (value as OtelTracer).startSpan === "function",
  ],
  trustedProxies: texts,
  unknownFields: ['"refuse" or "ignore"', (value) => value === "refuse" || value === "ignore"],
  users: number,
  wireNames: members,
  validateAnswers: flag,
} as const satisfies Record<keyof ServiceOptions, OptionKind>;

/** Which of them are origins is looked at later. */
function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function isLogger(value: unknown): boolean {
  return members[1](value) && typeof (value as ServiceLog).info === "function";
}

/** @throws {TypeError} for an option, or an operation with a fault, that there is not, and for a value of another kind */
function checkServiceOptions(options: ServiceOptions): void {
  checkOptions("createService", options, OPTIONS);
  const { attemptLimits = {}, limits = {}, faults = {}, client = {}, tls = {}, s3 = {} } = options;
  const operations = FAULT_OPERATION_IDS.map((id) => [id, anything] as const);
  checkOptions("attemptLimits", attemptLimits, { failures: number, windowMs: ms }, "attemptLimits.");
  checkOptions("limits", limits, LIMITS, "limits.");
  checkOptions("client", client, { id: anyText, secret: anyText }, "client.");
  checkOptions("tls", tls, { cert: anything, key: anything }, "tls.");
  checkOptions("faults", faults, Object.fromEntries(operations), "faults.");
  checkOptions("s3", s3, S3, "s3.");
  checkCelOptions(options);
  checkAutomationOptions(options);
  const missing = Object.keys(S3).find((name) => name !== "region" && !Object.hasOwn(s3, name));
  if (options.s3 !== undefined && missing !== undefined) throw new TypeError(`s3.${missing} is missing`);
}

/** Whether it is empty is looked at later, in words of its own. */
const anyText: OptionKind = ["a text", (value) => typeof value === "string"];
const LIMITS = { headersMs: ms, requestMs: ms, keepAliveMs: ms, checkEveryMs: ms };
const S3 = { endpoint: url, bucket: text, region: text, accessKeyId: text, secretAccessKey: text };

/** An error of the system or of the driver, which names no option, with the words of ours and its own code. */
function ofDatabase(error: unknown): unknown {
  const { code } = Object(error) as { code?: unknown };
  const isSystems = error instanceof Error && typeof code === "string" && /^E[A-Z]+$/.test(code);
  return isSystems ? Object.assign(error, { message: `db cannot be opened (${code})` }) : error;
}

const systemClock: Clock = { now: () => Date.now() };

/**
 * Starts a local Access Governance Service, on loopback and a free port by default. A start that fails leaves no new
 * database.
 *
 * @throws {Error} if the database cannot be opened or the port is taken
 * @throws {TypeError} for an option that it does not have
 * @throws {FixtureError} for a fixture with a mistake
 * @throws {StateError} IDENTITY_MISSING, IDENTITY_WRONG
 *
 * @example
 * ```ts
 * import { createService } from "hookproof-service";
 *
 * await using service = await createService({
 *   fixture: { authConfigs: [{ id: "ac_1", displayName: "Staff" }] },
 * });
 * const answer = await fetch(`${service.url}/api/v1/auth-configs/ac_1`, {
 *   headers: { Authorization: `Bearer ${await service.token()}` },
 * });
 * const { authConfig } = await answer.json();
 * ```
 */
export async function createService(options: ServiceOptions = {}): Promise<Service> {
  checkServiceOptions(options);
  const clock = serviceClock(options.clock ?? systemClock);
  const log = await serviceLog(options.log ?? silentLog);
  const faults = createFaults({ clock, latencyMs: options.latencyMs, start: options.faults });
  const [names, cors] = [wireNames(options.wireNames), corsRule(options.cors)];
  const controlToken = options.controlToken ?? newClientSecret();
  if (!/^[A-Za-z0-9_-]{16,256}$/.test(controlToken))
    throw new TypeError("controlToken must be 16 to 256 letters, digits, - or _");
  const { id: clientId, secret: clientSecret } = options.client ?? {
    id: DEFAULT_CLIENT,
    secret: newClientSecret(),
  };
  if (!clientId || !clientSecret) throw new TypeError("client has no empty id and no empty secret");
  let baseUrl = "";
  const downloadsAt = () => baseUrl + DOWNLOADS_PATH;
  const opened = await openState(options, { clock, clientId, downloadsAt }).catch((error: unknown) => {
    throw ofDatabase(error);
  });
  const { storage, state, secrets, expressions } = opened;
  const mark = markDatabase(options.db);
  if (mark.isShared) log.warn({ db: options.db }, "another service runs over this database");
  try {
    const tenant = storage.meta.getOrSet("tenant", () => newId());
    const [secretHash, tokens, isStateNew] = await Promise.all([
      hashClientSecret(clientSecret),
      accessTokens(storage.signingKeys, {
        tenant,
        issuer: () => baseUrl,
        clock,
        lifetimeSeconds: options.tokenLifetimeSeconds,
      }),
      state.ensure(options.onProgress),
    ]);
    state.putAdmin(secretHash);
    const pageKey = storage.meta.getOrSet("page-key", () => randomBytes(32).toString("base64url"));

    // The server's address is part of what the routes are made of.
    let routes: RequestHandler = answerNotReady;
    const app = express();
    app.disable("x-powered-by");
    app.disable("etag");
    app.use((req, res, next) => routes(req, res, next));
    const server = await startServer(app, {
      ...options,
      onRefused: toldTo(options.inspector?.recordRefused, options.onRefused),
    });
    baseUrl = options.baseUrl ?? server.url;
    const inspecting = options.inspector && {
      inspector: options.inspector,
      serverUrl: server.url,
      certificate: options.tls?.cert,
    };
    const engine = { ...options, storage, clock, expressions, baseUrl, log, inspecting };
    const automations = createAutomationEngine(engine);
    const context: ServiceContext = {
      storage,
      clock,
      baseUrl,
      log,
      automations,
      tokens,
      pageTokens: pageTokens(pageKey),
      secrets,
      faults,
      wireNames: names,
      unknownFields: options.unknownFields ?? "refuse",
      cors,
      journal: requestJournal(),
      snapshots: snapshots(storage.db),
      state,
      controlToken,
      validateAnswers: options.validateAnswers ?? false,
    };
    routes = serviceRouter(context, options, opened);

    const end = async () => {
      faults.stop();
      await server.stop();
      await automations.stop();
      await opened.close();
      mark.remove();
    };
    let ended: Promise<void> | undefined;
    const stop = () => {
      ended ??= end();
      return ended;
    };
    return {
      ...server,
      clientId,
      clientSecret,
      isStateNew,
      isDatabaseShared: mark.isShared,
      token: (whom = {}) => mintToken(context, whom),
      rotateSigningKey: () => tokens.rotate(),
      controlToken,
      setFault: faults.set,
      moveClock: clock.move,
      reset: () => resetAll(context),
      exportState: (given = {}) => {
        refuseUnknown("exportState", given, { withSecrets: true });
        return state.export(given);
      },
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    mark.remove();
    await opened.abandon();
    throw error;
  }
}

/** Everything the service answers, in the order it is looked for. */
function serviceRouter(
  context: ServiceContext,
  { tracer, attemptLimits, inspector }: ServiceOptions,
  { downloads }: Pick<OpenState, "downloads">,
): RequestHandler {
  const router = express.Router({ caseSensitive: true, strict: true });
  router.use(dateAnswers(context.clock));
  router.use(observeRequests(context.log === silentLog ? undefined : context.log, tracer));
  router.use(journalRequests(context.journal, context.clock));
  if (inspector) {
    const control = remoteControl(router, context.controlToken, FAULT_OPERATION_IDS);
    router.use(watchCalls(inspector.watchCalls(control)));
  }
  router.use(context.cors.handler);
  router.use(healthRouter(context.storage));
  router.use(discoveryRouter(context));
  router.use(referencePage());
  router.use(tokenRouter(context, attemptLimits));
  if (downloads) router.use(downloadRouter(downloads, context));
  router.use(webhookRoute(context));
  router.use(uploadRouter(context));
  router.use(operationsRouter(handlersOf(context), context));
  router.use(answerUnknownPath);
  router.use(errorAnswers(context));
  return router;
}

/** A token for a client made for it, which cannot get one by itself. */
async function mintToken({ storage, tokens, clock }: ServiceContext, whom: TokenOptions): Promise<string> {
  refuseUnknown("token", whom, { role: true, userId: true, expiresInSeconds: true });
  const { role = "super-admin", userId = "", expiresInSeconds = tokens.lifetimeSeconds } = whom;
  if (!(Number.isInteger(expiresInSeconds) && expiresInSeconds <= tokens.lifetimeSeconds)) {
    throw new RangeError(`expiresInSeconds must be a whole number of at most ${tokens.lifetimeSeconds}`);
  }
  if (userId !== "" && !storage.users.get(userId)) throw new RangeError(`there is no user ${userId}`);
  const clientId = ["minted", role, userId].join(":");
  storage.clients.put({ clientId, role, userId, displayName: "", createdAt: clock.now() });
  return tokens.issue(clientId, expiresInSeconds);
}
