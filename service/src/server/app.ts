import { randomBytes } from "node:crypto";
import express, { type RequestHandler } from "express";
import type { Clock } from "hookproof";
import type { OtelTracer } from "hookproof/node";
import { answerUnknownPath, errorAnswers } from "./api/error-answers.js";
import { operationsRouter } from "./api/mount.js";
import type { OperationId } from "./api/operations.js";
import { pageTokens } from "./api/paging.js";
import { accessTokens, TOKEN_LIFETIME_SECONDS } from "./auth/access-tokens.js";
import { hashClientSecret, newClientSecret } from "./auth/client-secret.js";
import type { AttemptLimits } from "./auth/failed-attempts.js";
import type { Role } from "./auth/principal.js";
import { type AutomationOptions, createAutomationEngine } from "./automations/engine.js";
import { createFaults, type Fault } from "./faults.js";
import { answerNotReady, type RunningServer, type ServerOptions, startServer } from "./http-server.js";
import type { Inspector } from "./inspector/inspector.js";
import { type LogLevel, type ServiceLog, serviceLog, silentLog } from "./log.js";
import { observeRequests } from "./observe-requests.js";
import { referencePage } from "./reference-page.js";
import { DOWNLOADS_PATH, downloadRouter } from "./routes/downloads.js";
import { handlersOf } from "./routes/handlers.js";
import { healthRouter } from "./routes/health.js";
import { tokenRouter } from "./routes/token.js";
import { webhookRoute } from "./routes/webhooks.js";
import type { ServiceContext } from "./service-context.js";
import { type OpenState, openState, type StateOptions } from "./state/open-state.js";
import { DEFAULT_CLIENT } from "./state/state.js";
import { newId } from "./storage/ids.js";

/** Options of `createService`. */
export interface ServiceOptions extends ServerOptions, AutomationOptions, StateOptions {
  /** The address clients use, if it is not the server's own. */
  baseUrl?: string | undefined;
  /** The Super Admin client there always is; a random secret by default, and then a new one at each start. */
  client?: { id: string; secret: string } | undefined;
  clock?: Clock | undefined;
  /** How long every operation takes at least, in milliseconds. */
  latencyMs?: number | undefined;
  /** What goes wrong from the start, by operation. */
  faults?: Partial<Record<OperationId, Fault>> | undefined;
  /** Holds every answer against the OpenAPI document, and fails with 500 where it does not fit. */
  validateAnswers?: boolean | undefined;
  /** How often a client may fail to get a token. */
  attemptLimits?: AttemptLimits | undefined;
  /** Where requests are logged, or how much on standard error; nothing by default. */
  log?: ServiceLog | LogLevel | undefined;
  /** A tracer of OpenTelemetry, for a span of each request. */
  tracer?: OtelTracer | undefined;
  /** Records what the webhook listeners receive; `startInspector` shows it. */
  inspector?: Inspector | undefined;
}

/** A local Access Governance Service that is running. */
export interface Service extends RunningServer, AsyncDisposable {
  /** The client that is Super Admin, for a standard OAuth client. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** An access token without the round trip. */
  token(options?: TokenOptions): Promise<string>;
  /** Signs tokens with a new key from now on; those of the old one stay good until they expire. */
  rotateSigningKey(): Promise<void>;
  /** Makes an operation go wrong; `undefined` takes that back. */
  setFault(operation: OperationId, fault: Fault | undefined): void;
  /** Goes back to the fixture or the seed; the keys, and clients that act as no user, stay. */
  reset(): Promise<void>;
}

/** Whom a token is for. */
export interface TokenOptions {
  /** `super-admin` by default. */
  role?: Role | undefined;
  /** The user the caller acts as. */
  userId?: string | undefined;
  /** 600 by default and at most; less than 0 for a token that has expired. */
  expiresInSeconds?: number | undefined;
}

const systemClock: Clock = { now: () => Date.now() };

/**
 * Starts a local Access Governance Service, on loopback and a free port unless told otherwise.
 *
 * @throws {Error} if the database cannot be opened or the port is taken
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
  const { clock = systemClock } = options;
  const log = await serviceLog(options.log ?? silentLog);
  const faults = createFaults(options.latencyMs);
  for (const [operation, fault] of Object.entries(options.faults ?? {})) {
    faults.set(operation as OperationId, fault);
  }
  const { id: clientId, secret: clientSecret } = options.client ?? {
    id: DEFAULT_CLIENT,
    secret: newClientSecret(),
  };
  if (clientId === "" || clientSecret === "")
    throw new TypeError("client has no empty id and no empty secret");
  let baseUrl = "";
  const downloadsAt = () => baseUrl + DOWNLOADS_PATH;
  const opened = await openState(options, { clock, clientId, downloadsAt });
  const { storage, state, secrets, expressions } = opened;
  try {
    const tenant = storage.meta.getOrSet("tenant", () => newId());
    const [secretHash, tokens] = await Promise.all([
      hashClientSecret(clientSecret),
      accessTokens(storage.signingKeys, { tenant, clock }),
      state.ensure(),
    ]);
    state.putAdmin(secretHash);
    const pageKey = storage.meta.getOrSet("page-key", () => randomBytes(32).toString("base64url"));

    // The server's address is part of what the routes are made of.
    let routes: RequestHandler = answerNotReady;
    const app = express();
    app.disable("x-powered-by");
    app.disable("etag");
    app.use((req, res, next) => routes(req, res, next));
    const server = await startServer(app, options);
    baseUrl = options.baseUrl ?? server.url;
    const inspecting = options.inspector && {
      inspector: options.inspector,
      serverUrl: server.url,
      certificate: options.tls?.cert,
    };
    const engine = { ...options, storage, expressions, clock, baseUrl, log, inspecting };
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
      validateAnswers: options.validateAnswers ?? false,
    };
    routes = serviceRouter(context, options, opened);

    const end = async () => {
      faults.stop();
      await server.stop();
      await automations.stop();
      await opened.close();
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
      token: (whom = {}) => mintToken(context, whom),
      rotateSigningKey: () => tokens.rotate(),
      setFault: faults.set,
      reset: () => state.reset(),
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** Everything the service answers, in the order it is looked for. */
function serviceRouter(
  context: ServiceContext,
  { tracer, attemptLimits }: ServiceOptions,
  { downloads }: Pick<OpenState, "downloads">,
): RequestHandler {
  const router = express.Router({ caseSensitive: true, strict: true });
  router.use(observeRequests(context.log === silentLog ? undefined : context.log, tracer));
  router.use(healthRouter(context.storage));
  router.use(referencePage());
  router.use(tokenRouter(context, attemptLimits));
  if (downloads) router.use(downloadRouter(downloads, context));
  router.use(webhookRoute(context));
  router.use(operationsRouter(handlersOf(context), context));
  router.use(answerUnknownPath);
  router.use(errorAnswers(context));
  return router;
}

/** A token for a client made for it, which cannot get one by itself. */
async function mintToken(
  { storage, tokens, clock }: ServiceContext,
  { role = "super-admin", userId = "", expiresInSeconds = TOKEN_LIFETIME_SECONDS }: TokenOptions,
): Promise<string> {
  if (!(Number.isInteger(expiresInSeconds) && expiresInSeconds <= TOKEN_LIFETIME_SECONDS)) {
    throw new RangeError(`expiresInSeconds must be a whole number of at most ${TOKEN_LIFETIME_SECONDS}`);
  }
  if (userId !== "" && !storage.users.get(userId)) throw new RangeError(`there is no user ${userId}`);
  const clientId = ["minted", role, userId].join(":");
  storage.clients.put({ clientId, role, userId, displayName: "", createdAt: clock.now() });
  return tokens.issue(clientId, expiresInSeconds);
}
