// Hands over every call of the API once it is answered.
import type { Request, RequestHandler, Response } from "express";
import type { HeaderPair } from "hookproof";
import type { Operation } from "../api/operations.js";
import { HIDDEN, isSecretName, jsonWithoutSecrets } from "../server/hidden-secrets.js";
import { type CallDetail, LIMITS } from "./contract.js";
import { CREDENTIALS, withoutParameters } from "./credentials.js";

/** What the handlers of a call leave behind. */
interface Left {
  readonly operation?: Operation;
  readonly requestId?: string;
  readonly clientId?: string;
  readonly body?: unknown;
  readonly answer?: unknown;
  readonly isFault?: boolean;
}

const API = /^\/(?:api|auth|local)\//;

/** Hands over every call of the API once it is answered; those of the remote control are none. */
export function watchCalls(onCall: (call: Omit<CallDetail, "n">) => void): RequestHandler {
  return (req, res, next) => {
    const [at, start] = [Date.now(), performance.now()];
    const isOfApi = API.test(req.path);
    res.once("close", () => {
      if (isOfApi && isCall(res.locals)) onCall(callOf(req, res, at, performance.now() - start));
    });
    next();
  };
}

/** A webhook is shown by its listener, unless a fault kept it from it. */
function isCall({ operation, isFault }: Left): boolean {
  return !operation?.isControl && (operation?.id !== "receiveWebhook" || isFault === true);
}

function callOf(req: Request, res: Response, at: number, durationMs: number): Omit<CallDetail, "n"> {
  const { operation, requestId = "", clientId, body, answer, isFault } = res.locals as Left;
  const answered = Object.entries(res.getHeaders()).map(
    ([name, value]): HeaderPair => [name, [value].flat().join(", ")],
  );
  const lines = req.rawHeaders.flatMap((name, index): HeaderPair[] =>
    index % 2 === 0 ? [[name, req.rawHeaders[index + 1] ?? ""]] : [],
  );
  return {
    at,
    method: req.method,
    target: withoutParameters(req.originalUrl, isSecretName, HIDDEN),
    status: res.writableFinished ? res.statusCode : 0,
    durationMs: Math.round(durationMs),
    ...(operation ? { operation: operation.id } : {}),
    ...(clientId ? { client: clientId } : {}),
    ...(isFault ? { isFault } : {}),
    requestId,
    ...(req.socket.remoteAddress === undefined ? {} : { sourceAddress: req.socket.remoteAddress }),
    headers: lines.map(withoutCredentials),
    ...textIn("body", jsonWithoutSecrets(body)),
    answer: {
      headers: answered.map(withoutCredentials),
      ...textIn("body", typeof answer === "string" ? answer : jsonWithoutSecrets(answer)),
    },
  };
}

/** The scheme stays: that it is a wrong one is a usual mistake. */
function withoutCredentials([name, value]: HeaderPair): HeaderPair {
  if (!CREDENTIALS.test(name)) return [name, value];
  return [name, `${/^(?:basic|bearer) /i.exec(value)?.[0] ?? ""}${HIDDEN}`];
}

function textIn<Name extends string>(name: Name, text: string | undefined): { [Key in Name]?: string } {
  if (text === undefined || text === "") return {};
  const max = LIMITS.callBodyCharacters;
  return { [name]: text.length > max ? `${text.slice(0, max)}…` : text } as { [Key in Name]?: string };
}
