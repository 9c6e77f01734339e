import { Agent } from "node:https";
import { BlockList, isIP } from "node:net";
import type { ConnectionAgent } from "hookproof";
import { getProxyForUrl } from "proxy-from-env";
import { usageError } from "./failure.js";
import { readBytes } from "./payload.js";

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
  // What is meant for this machine does not leave it, whatever NO_PROXY says.
  const stays = isLoopback(host) || host.endsWith(".localhost");
  const proxy = overTls && !stays ? getProxyForUrl(url) : "";
  if (proxy) {
    // Few need it, and it takes as long to load as everything else together.
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
