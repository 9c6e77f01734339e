import { Agent } from "node:https";
import { BlockList, isIP } from "node:net";
import type { ConnectionAgent, HeaderPair } from "hookproof";
import { nodeTransport } from "hookproof/node";
import { getProxyForUrl } from "proxy-from-env";
import { usageError } from "../failure.js";
import { readBytes } from "../files.js";
import { explainFailure } from "./explain-failure.js";

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/** The connection agent that `--ca`, `--insecure` and the proxy environment ask for; none where the default will do. */
export async function agentFor(
  url: string,
  { ca, insecure }: { ca: string | undefined; insecure: boolean },
): Promise<ConnectionAgent | undefined> {
  const host = new URL(url).hostname.replace(/^\[|\]$|\.$/g, "");
  if (insecure && !isLoopback(host))
    throw usageError("--insecure is for loopback only: elsewhere name the certificate with --ca <file>.");
  const tls = {
    keepAlive: true,
    ...(ca ? { ca: await readBytes(ca) } : {}),
    ...(insecure ? { rejectUnauthorized: false } : {}),
  };
  const overTls = new URL(url).protocol === "https:";
  // A request to this machine never goes through a proxy, whatever NO_PROXY says.
  const stays = isLoopback(host) || host.endsWith(".localhost");
  const proxy = overTls && !stays ? getProxyForUrl(url) : "";
  if (proxy) {
    // Loaded only when it is needed: it takes as long to load as everything else together.
    const { tunnelAgent } = await import("./tunnel-agent.js");
    const agent = tunnelAgent(proxy);
    Object.assign(agent.options, tls); // the constructor's options are for the proxy, these for the listener behind it
    return agent;
  }
  return overTls && (ca || insecure) ? new Agent(tls) : undefined;
}

function isLoopback(host: string): boolean {
  const version = isIP(host);
  return version === 0 ? host === "localhost" : LOOPBACK.check(host, version === 6 ? "ipv6" : "ipv4");
}

/** A request that is sent unchanged. */
interface RawRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Uint8Array;
}

/** Headers of the connection, which the transport writes itself. */
const OF_THE_CONNECTION = /^(?:host|content-length|transfer-encoding|connection|trailer)$/i;

/** Posts a request without signing or checking it; returns the status of the answer. */
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
