import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { agentFor } from "./agent.js";
import { CliError, EXIT } from "./failure.js";

/** A request that is sent as it stands, whatever it says. */
export interface RawRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Uint8Array;
}

/** Posts a request without signing or checking anything, and gives the answer's status. */
export async function postExactly(
  { url, headers, body }: RawRequest,
  { timeoutMs, ca, insecure }: { timeoutMs: number; ca?: string | undefined; insecure?: boolean },
): Promise<number> {
  const agent = await agentFor(url, { ca, insecure: insecure ?? false });
  const send = url.startsWith("https:") ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = send(url, {
      method: "POST",
      headers: { ...(headers as Record<string, string | string[]>), "Content-Length": body.length },
      signal: AbortSignal.timeout(timeoutMs),
      ...(agent ? { agent: agent as never } : {}),
    });
    request.on("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on("error", (error: NodeJS.ErrnoException) => {
      reject(
        new CliError(
          EXIT.unreachable,
          "CONNECTION_FAILED",
          `${new URL(url).host} could not be reached (${error.code ?? error.name}).`,
        ),
      );
    });
    request.end(body);
  });
}
