// Posts a request as it is, neither signed nor checked.
import type { HeaderPair, TransportResponse } from "hookproof";
import { agentFor } from "./agent.js";
import type { Reach } from "./reach.js";

/** A request that is sent unchanged. */
interface RawRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Uint8Array;
}

/** Headers of the connection, which the transport writes itself. */
const OF_THE_CONNECTION = /^(?:host|content-length|transfer-encoding|connection|trailer)$/i;

/** Posts a request without signing or checking it. */
export async function postExactly(
  { url, headers, body }: RawRequest,
  { timeoutMs, reach }: { timeoutMs: number; reach: Reach },
): Promise<TransportResponse> {
  const { nodeTransport } = await import("hookproof/node");
  const { withHeaders } = await import("./reach.js");
  const send = withHeaders(nodeTransport({ agent: await agentFor(url, reach) }), reach);
  const lines = Object.entries(headers)
    .filter(([name]) => !OF_THE_CONNECTION.test(name))
    .flatMap(([name, values]) => [values].flat().map((value): HeaderPair => [name, value]));
  try {
    return await send({
      method: "POST",
      url,
      headers: lines,
      body,
      timeoutMs,
      maxResponseBytes: 65_536,
    });
  } catch (error) {
    throw (await import("./explain-failure.js")).explainFailure(error);
  }
}
