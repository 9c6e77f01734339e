// Starts the local service and everything that belongs to it.
import { randomBytes } from "node:crypto";
import express, { type RequestHandler } from "express";
import type { Clock } from "hookproof";
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
import type { Role } from "../auth/principal.js";
import { createAutomationEngine } from "../automations/engine.js";
import { remoteControl } from "../inspector/remote-control.js";
import { watchCalls } from "../inspector/watch-calls.js";
import type { ExportOptions } from "../state/export-state.js";
import type { Fixture } from "../state/fixture.js";
import { type OpenState, openState } from "../state/open-state.js";
import { markDatabase } from "../state/shared-database.js";
import { snapshots } from "../state/snapshots.js";
import { DEFAULT_CLIENT } from "../state/state.js";
import { newId } from "../storage/ids.js";
import { corsRule } from "./cors.js";
import { createFaults, type Fault } from "./faults.js";
import { answerNotReady, notifyAll, type RunningServer, startServer } from "./http-server.js";
import { serviceLog, silentLog } from "./log.js";
import { dateAnswers, journalRequests, observeRequests } from "./observe-requests.js";
import { refuseUnknown } from "./options.js";
import { requestJournal } from "./request-journal.js";
import { type ClockChange, serviceClock } from "./service-clock.js";
import type { ServiceContext } from "./service-context.js";
import { checkServiceOptions, type ServiceOptions } from "./service-options.js";

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
  const parts = await partsOf(options);
  const { clock, client, log } = parts;
  const address = { baseUrl: "" };
  const downloadsAt = () => address.baseUrl + DOWNLOADS_PATH;
  const opened = await openState(options, { clock, clientId: client.id, downloadsAt }).catch(
    (error: unknown) => {
      throw ofDatabase(error);
    },
  );
  const mark = markDatabase(options.db);
  if (mark.isShared) log.warn({ db: options.db }, "another service runs over this database");
  try {
    return await startedService(options, { ...parts, address, opened, mark });
  } catch (error) {
    mark.remove();
    await opened.abandon();
    throw error;
  }
}

/** What the service is made of before anything is opened. */
async function partsOf(options: ServiceOptions) {
  const clock = serviceClock(options.clock ?? systemClock);
  const log = await serviceLog(options.log ?? silentLog);
  const faults = createFaults({ clock, latencyMs: options.latencyMs, start: options.faults });
  const [names, cors] = [wireNames(options.wireNames), corsRule(options.cors)];
  const controlToken = options.controlToken ?? newClientSecret();
  if (!/^[A-Za-z0-9_-]{16,256}$/.test(controlToken))
    throw new TypeError("controlToken must be 16 to 256 letters, digits, - or _");
  const client = options.client ?? { id: DEFAULT_CLIENT, secret: newClientSecret() };
  if (!client.id || !client.secret) throw new TypeError("client has no empty id and no empty secret");
  return { clock, log, faults, wireNames: names, cors, controlToken, client };
}

/** The parts, and the database that was opened with them. */
interface Opened extends Awaited<ReturnType<typeof partsOf>> {
  /** Where clients find the service; empty until it listens. */
  readonly address: { baseUrl: string };
  readonly opened: OpenState;
  readonly mark: ReturnType<typeof markDatabase>;
}

async function startedService(options: ServiceOptions, made: Opened): Promise<Service> {
  const { address, client, clock, controlToken, faults, log, mark, opened } = made;
  const { storage, state, secrets, expressions } = opened;
  const tenant = storage.meta.getOrSet("tenant", () => newId());
  const [secretHash, tokens, isStateNew] = await Promise.all([
    hashClientSecret(client.secret),
    accessTokens(storage.signingKeys, {
      tenant,
      issuer: () => address.baseUrl,
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
    onRefused: notifyAll(options.inspector?.recordRefused, options.onRefused),
  });
  address.baseUrl = options.baseUrl ?? server.url;
  const { baseUrl } = address;
  const inspecting = inspectingOf(options, server.url);
  const engine = { ...options, storage, clock, expressions, baseUrl, log, inspecting };
  const context: ServiceContext = {
    storage,
    clock,
    baseUrl,
    log,
    automations: createAutomationEngine(engine),
    tokens,
    pageTokens: pageTokens(pageKey),
    secrets,
    faults,
    wireNames: made.wireNames,
    unknownFields: options.unknownFields ?? "refuse",
    cors: made.cors,
    journal: requestJournal(),
    snapshots: snapshots(storage.db),
    state,
    controlToken,
    validateAnswers: options.validateAnswers ?? false,
  };
  routes = serviceRouter(context, options, opened);
  const stop = stopOf(server, context, made);
  return {
    ...server,
    ...remoteControlOf(context),
    clientId: client.id,
    clientSecret: client.secret,
    isStateNew,
    isDatabaseShared: mark.isShared,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** The inspector that runs of automations are shown in, if there is one. */
function inspectingOf({ inspector, tls }: ServiceOptions, serverUrl: string) {
  return inspector && { inspector, serverUrl, certificate: tls?.cert };
}

/** Ends everything, once. */
function stopOf(
  server: RunningServer,
  { faults, automations }: Pick<ServiceContext, "faults" | "automations">,
  { opened, mark }: Pick<Opened, "opened" | "mark">,
): () => Promise<void> {
  const end = async () => {
    faults.stop();
    await server.stop();
    await automations.stop();
    await opened.close();
    mark.remove();
  };
  let ended: Promise<void> | undefined;
  return () => {
    ended ??= end();
    return ended;
  };
}

/** What a program does with its service. */
function remoteControlOf(
  context: Pick<
    ServiceContext,
    "storage" | "tokens" | "faults" | "clock" | "journal" | "state" | "controlToken"
  >,
) {
  const { tokens, faults, clock, state, controlToken } = context;
  return {
    token: (whom: TokenOptions = {}) => mintToken(context, whom),
    rotateSigningKey: () => tokens.rotate(),
    controlToken,
    setFault: (operation: OperationId, fault: Fault | undefined) => faults.set(operation, fault),
    moveClock: clock.move,
    reset: () => resetAll(context),
    exportState(given: ExportOptions = {}) {
      refuseUnknown("exportState", given, { withSecrets: true });
      return state.export(given);
    },
  };
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
async function mintToken(
  { storage, tokens, clock }: Pick<ServiceContext, "storage" | "tokens" | "clock">,
  whom: TokenOptions,
): Promise<string> {
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
