// The token endpoint (specification 5.1).
import { parse } from "node:querystring";
import express, { type ErrorRequestHandler, type Request, type Response, type Router } from "express";
import { audienceOf } from "../../auth/audience.js";
import { ASSERTION_TYPE, authenticate, claimedClientId } from "../../auth/client-authentication.js";
import { type Attempt, type AttemptLimits, failedAttempts } from "../../auth/failed-attempts.js";
import { isOfForeignPage } from "../../auth/foreign-page.js";
import { hashLanes } from "../../auth/hash-lanes.js";
import { REALM, sendJson } from "../../server/send-json.js";
import type { ServiceContext } from "../../server/service-context.js";
import { ApiError } from "../errors.js";
import { lenientBody } from "../lenient-body.js";
import { operation } from "../operations.js";
import { parseJson, readText } from "../request-body.js";
import { type Schemas, violationsOf } from "../validation.js";

/** How many hashes may be under way or wait, for ids that are no client's and for one client from one address. */
const MAX_MADE_UP = 8;
const MAX_OF_CLIENT = 256;

type OAuthErrorCode = Schemas["OAuthError"]["error"];

/** A failure as RFC 6749 section 5.2 has it. */
class OAuthFailure extends Error {
  override readonly name = "OAuthFailure";
  readonly error: OAuthErrorCode;
  readonly status: number;

  constructor(error: OAuthErrorCode, description: string, status = 400) {
    super(description);
    this.error = error;
    this.status = status;
  }
}

/** What the token endpoint needs of the service. */
type TokenContext = Pick<
  ServiceContext,
  "storage" | "clock" | "baseUrl" | "log" | "tokens" | "faults" | "cors"
>;

export function tokenRouter(context: TokenContext, limits: AttemptLimits | undefined): Router {
  const { id, path, bodySchema = {} } = operation("createToken");
  const attempts = failedAttempts(limits, context.clock);
  const audience = audienceOf(context.baseUrl, path);
  const lanes = hashLanes();
  /** Ids that are no client's share one lane; a client has one for each address, which nobody else can fill. */
  const inLane = async <Result>(
    attempt: Attempt,
    work: () => Promise<Result>,
  ): Promise<Result | undefined> => {
    const { address, clientId, isKnown } = attempt;
    const lane = isKnown ? JSON.stringify([address, clientId]) : "made up";
    return (await lanes.run(lane, isKnown ? MAX_OF_CLIENT : MAX_MADE_UP, async () => work()))?.result;
  };
  const router = express.Router({ caseSensitive: true, strict: true });

  router.use(path, (req, res, next) => {
    res.set({ "Cache-Control": "no-store", Pragma: "no-cache" });
    if (req.method === "POST") return next();
    res.set("Allow", "POST");
    throw new ApiError("method-not-allowed", "This path takes POST.");
  });
  router.post(path, async (req, res) => {
    res.locals.operation = operation(id);
    // Before anything is counted: else any page could have the service's own client refused.
    if (isOfForeignPage(req, context.baseUrl) && !context.cors.allows(req)) {
      throw new OAuthFailure("invalid_request", "Pages of other sites get no tokens here.", 403);
    }
    if (await context.faults.answered(id, req, res)) return;
    const body = lenientBody(await parameters(req), bodySchema);
    res.locals.body = body;
    const request = tokenRequest(body, bodySchema);
    const clientId = claimedClientId(request);
    res.locals.clientId = clientId;
    const { clients } = context.storage;
    // A signature cannot be guessed, and anybody can send a wrong one: counting those would only keep the client out.
    const counted = request.client_secret !== undefined && {
      address: req.socket.remoteAddress,
      clientId,
      isKnown: clients.get(clientId) !== undefined,
    };
    if (counted) refuseThrottled(attempts.waitSeconds(counted), res);
    const prove = () => authenticate(request, clientId, { clients, clock: context.clock, audience });
    const proof = counted
      ? await inLane(counted, async () => {
          // Of many at once, those past the limit cost no hash, nor those whose client waits no more.
          refuseThrottled(attempts.waitSeconds(counted), res);
          return req.socket.destroyed ? "gone" : prove();
        })
      : await prove();
    if (proof === "gone") return;
    if (proof === undefined) throw busy(1, res);
    // Of many attempts at once, those past the limit are refused here, the right one too.
    if (counted) refuseThrottled(attempts.waitSeconds(counted), res);
    if ("refused" in proof) {
      if (counted) attempts.failed(counted);
      context.log.info({ wrong: proof.wrong, requestId: res.locals.requestId }, "a client was refused");
      throw new OAuthFailure("invalid_client", proof.refused, 401);
    }
    const answer = {
      access_token: await context.tokens.issue(proof.client.clientId),
      token_type: "Bearer",
      expires_in: context.tokens.lifetimeSeconds,
      // RFC 6749 section 5.1: whoever asks for scopes is told that none was given.
      ...(request.scope ? { scope: "" } : {}),
    };
    sendJson(200, answer, req, res);
  });
  router.use(path, oauthErrors);
  return router;
}

/** The parameters of a request, of a form or JSON; one that stands twice is a list, which its schema refuses. */
async function parameters(req: Request): Promise<unknown> {
  if (isBasic(req)) {
    throw new OAuthFailure("invalid_client", "Credentials are sent in the body, not in headers.", 401);
  }
  const text = await readText(req);
  if (req.is("json")) return parseJson(text);
  if (text !== "" && !req.is("application/x-www-form-urlencoded")) {
    const description = "The body must be application/x-www-form-urlencoded or application/json.";
    throw new OAuthFailure("invalid_request", description, 415);
  }
  return parse(text);
}

/**
 * Whether a client proves itself in a header (RFC 6749 section 2.3.1), which the specification does not have. Generated
 * clients put the bearer token they have, or a word in its place, on every request; that proves nothing here.
 */
function isBasic({ headers }: Request): boolean {
  return /^basic(?:\s|$)/i.test(headers.authorization ?? "");
}

/** What a request asks for, complete and without contradiction. */
function tokenRequest(body: unknown, schema: Parameters<typeof violationsOf>[1]): Schemas["TokenRequest"] {
  const [wrong] = violationsOf(body, schema, "body");
  if (wrong) throw new OAuthFailure("invalid_request", `${wrong.field} ${wrong.description}`);
  const request = body as Schemas["TokenRequest"];
  if (request.grant_type === undefined) throw new OAuthFailure("invalid_request", "grant_type is missing");
  if (request.grant_type !== "client_credentials") {
    throw new OAuthFailure("unsupported_grant_type", "grant_type must be client_credentials");
  }
  const { client_secret, client_assertion, client_assertion_type } = request;
  if ((client_secret === undefined) === (client_assertion === undefined)) {
    throw new OAuthFailure("invalid_request", "One of client_secret and client_assertion must be there.");
  }
  if (client_secret !== undefined && request.client_id === undefined) {
    throw new OAuthFailure("invalid_request", "client_id is missing");
  }
  if (client_assertion !== undefined && client_assertion_type !== ASSERTION_TYPE) {
    throw new OAuthFailure("invalid_request", `client_assertion_type must be ${ASSERTION_TYPE}`);
  }
  return request;
}

function refuseThrottled(waitSeconds: number, res: Response): void {
  if (waitSeconds > 0) throw busy(waitSeconds, res);
}

function busy(waitSeconds: number, res: Response): OAuthFailure {
  res.set("Retry-After", String(waitSeconds));
  const words = "Too many attempts failed; wait before the next one.";
  return new OAuthFailure("temporarily_unavailable", words, 429);
}

/** A body that cannot be read is told as RFC 6749 has it too; what nobody foresaw is left to the service. */
const oauthErrors: ErrorRequestHandler = (error: unknown, req, res, next) => {
  const isOfBody = error instanceof ApiError && req.method === "POST";
  if (!(error instanceof OAuthFailure || isOfBody) || res.headersSent) return next(error);
  // RFC 6749 asks for the scheme the client tried.
  if (isBasic(req)) res.set("WWW-Authenticate", `Basic realm="${REALM}"`);
  const code = error instanceof OAuthFailure ? error.error : "invalid_request";
  sendJson(error.status, { error: code, error_description: error.message }, req, res);
};
