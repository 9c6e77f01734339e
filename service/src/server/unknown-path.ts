// The answer wherever there is no listener.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { HeaderPair } from "hookproof";
import { sendAnswer } from "hookproof/node";
import { CHECKS, type Check } from "hookproof/receiver";
import type { HandledRequest } from "./webhook-router.js";

/** A request for a path that no listener has. Its body was not read. */
export type UnknownRequest = Omit<HandledRequest, "listenerId">;

const CODE = "LISTENER_UNKNOWN";
const RULE = CHECKS.find(({ step }) => step === "listener")?.rule ?? "";
const FACT = "There is no listener at this path.";

/**
 * The answer wherever there is no listener, the same for every such path; what is left of the body is not waited
 * for. Gives the request and its answer.
 */
export function answerUnknown(request: IncomingMessage, response: ServerResponse): UnknownRequest {
  const body = JSON.stringify({ code: CODE, message: FACT });
  const headers: HeaderPair[] = [["Content-Type", "application/json; charset=utf-8"]];
  sendAnswer({ status: 404, headers, body }, request, response);
  // Express keeps the whole of it where it was mounted at a path of its own.
  const { originalUrl: url = request.url ?? "/" } = request as { originalUrl?: string };
  const check: Check = {
    step: "listener",
    ok: false,
    code: CODE,
    rule: RULE,
    fact: FACT,
    seen: JSON.stringify(url.slice(0, 200)),
  };
  return {
    status: 404,
    verdict: { ok: false, code: CODE, status: 404, detail: FACT, checks: [check] },
    receivedAt: Date.now(),
    durationMs: 0,
    answer: { headers, body },
    request: {
      method: request.method ?? "GET",
      url,
      headers: headerPairs(request.rawHeaders),
      sourceAddress: request.socket.remoteAddress,
      body: new Uint8Array(),
    },
  };
}

function headerPairs(rawHeaders: readonly string[]): HeaderPair[] {
  return rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? ""] as const] : []));
}
