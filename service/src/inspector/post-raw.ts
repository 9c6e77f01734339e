// Sends a request to the letter.
import type { ClientRequest } from "node:http";
import type { RequestOptions } from "node:https";
import type { HeaderPair } from "hookproof";
import { InspectorError } from "../page/inspector-error.js";
import { LIMITS } from "./contract.js";

/** A request that is sent as it stands. */
export interface RawRequest {
  /** Scheme, host and port. */
  readonly serverUrl: string;
  readonly method: string;
  readonly target: string;
  readonly headers: readonly HeaderPair[];
  readonly body: Uint8Array;
  /** The only certificate that is trusted, in PEM. */
  readonly certificate?: string | undefined;
}

/** A forced delay and a run may both take their time. */
const TIMEOUT_MS = LIMITS.forcedDelayMs + 30_000;

/** Sends a request to the letter and gives status and body of the answer, whose body is cut short. */
export async function postRaw(request: RawRequest): Promise<{ status: number; body: string }> {
  const { serverUrl, method, target, headers, body, certificate } = request;
  const { protocol, hostname, port, host } = new URL(serverUrl);
  const { request: send } = await (protocol === "https:" ? import("node:https") : import("node:http"));
  const lines = [["Host", host], ...headers, ["Content-Length", String(body.length)]];
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException) =>
      reject(
        new InspectorError(
          503,
          "REPLAY_FAILED",
          `The listener did not answer (${error.code ?? error.name}).`,
          {
            cause: error,
          },
        ),
      );
    const options: RequestOptions = {
      protocol,
      hostname: hostname.replace(/^\[|\]$/g, ""),
      port,
      method,
      path: target,
      // Given as a flat list, headers are written as they are: in this order, with these capitals, twice if need be.
      headers: lines.flat(),
      agent: false,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      // The listener's own certificate is known, whatever name it is made out to.
      ...(certificate === undefined ? {} : { ca: certificate, checkServerIdentity: () => undefined }),
    };
    const outgoing = begun(() => send(options));
    outgoing.on("error", failed);
    outgoing.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text = (text + chunk).slice(0, LIMITS.answerCharacters);
      });
      response.on("error", failed);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text }));
    });
    outgoing.end(body);
  });
}

/** Node refuses header values and paths that no request can have; a file that was imported may bring some. */
function begun(send: () => ClientRequest): ClientRequest {
  try {
    return send();
  } catch (cause) {
    throw new InspectorError(400, "REPLAY_IMPOSSIBLE", "HTTP cannot carry this request.", { cause });
  }
}
