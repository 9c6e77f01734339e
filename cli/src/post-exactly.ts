import type { HeaderPair } from "hookproof";
import { nodeTransport } from "hookproof/node";
import { agentFor } from "./agent.js";
import { explainFailure } from "./explain-failure.js";

/** A request that is sent as it stands, whatever it says. */
export interface RawRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Uint8Array;
}

/** What belongs to the connection: the transport writes these itself. */
const OF_THE_CONNECTION = /^(?:host|content-length|transfer-encoding|connection|trailer)$/i;

/** Posts a request without signing or checking anything, and gives the answer's status. */
export async function postExactly(
  { url, headers, body }: RawRequest,
  { timeoutMs, ca, insecure }: { timeoutMs: number; ca?: string | undefined; insecure?: boolean },
): Promise<number> {
  const send = nodeTransport({ agent: await agentFor(url, { ca, insecure: insecure ?? false }) });
  const lines = Object.entries(headers)
    .filter(([name]) => !OF_THE_CONNECTION.test(name))
    .flatMap(([name, values]) => [values].flat().map((value): HeaderPair => [name, value]));
  try {
    const { status } = await send({
      method: "POST",
      url,
      headers: lines,
      body,
      timeoutMs,
      maxResponseBytes: 65_536,
    });
    return status;
  } catch (error) {
    throw explainFailure(error);
  }
}
