import { Agent } from "node:https";
import type { ConnectionAgent } from "hookproof";
import { getProxyForUrl } from "proxy-from-env";
import { usageError } from "./failure.js";
import { readBytes } from "./payload.js";

const LOOPBACK = /^(?:localhost|127\.[0-9]+\.[0-9]+\.[0-9]+|\[::1\])$/;

/** The connection agent that `--ca`, `--insecure` and the proxy environment ask for; none where the default will do. */
export async function agentFor(
  url: string,
  { ca, insecure }: { ca: string | undefined; insecure: boolean },
): Promise<ConnectionAgent | undefined> {
  if (insecure && !LOOPBACK.test(new URL(url).hostname))
    throw usageError("--insecure is for loopback only: elsewhere name the certificate with --ca <file>.");
  const tls = {
    keepAlive: true,
    ...(ca ? { ca: await readBytes(ca) } : {}),
    ...(insecure ? { rejectUnauthorized: false } : {}),
  };
  const proxy = url.startsWith("https:") ? getProxyForUrl(url) : "";
  if (proxy) {
    // Few need it, and it takes as long to load as everything else together.
    const { HttpsProxyAgent } = await import("https-proxy-agent");
    const agent = new HttpsProxyAgent(proxy, { keepAlive: true });
    Object.assign(agent.options, tls); // the constructor's options are for the proxy, these for the listener behind it
    return agent;
  }
  return ca || insecure ? new Agent(tls) : undefined;
}
