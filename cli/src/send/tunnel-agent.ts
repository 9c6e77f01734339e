// Connects through a proxy.
import { HttpsProxyAgent } from "https-proxy-agent";
import { usageError } from "../failure.js";

/** How long a proxy may take to open a tunnel. */
const TUNNEL_MS = 5_000;

type Connect = HttpsProxyAgent<string>["connect"];

/** The agent of a proxy, with a time limit: the socket of a proxy that never answers would keep the command running. */
class TunnelAgent extends HttpsProxyAgent<string> {
  override async connect(...[request, options]: Parameters<Connect>): ReturnType<Connect> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), TUNNEL_MS);
    const given = this.connectOpts;
    const { signal: other } = given as { signal?: AbortSignal };
    const signal = other ? AbortSignal.any([other, late.signal]) : late.signal;
    this.connectOpts = { ...given, signal };
    // connect reads the options before it returns; later connections must not get this signal.
    const opening = super.connect(request, options);
    this.connectOpts = given;
    try {
      return await opening;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** An agent that reaches everything through a proxy. Its URL may hold a password, so a wrong one is not repeated. */
export function tunnelAgent(proxy: string): HttpsProxyAgent<string> {
  if (!URL.canParse(proxy) || !/^https?:$/.test(new URL(proxy).protocol))
    throw usageError(
      "The proxy that HTTPS_PROXY or ALL_PROXY names must be an http or https URL.",
      "Such as HTTPS_PROXY=http://host:port; NO_PROXY names hosts that are reached without it.",
    );
  return new TunnelAgent(proxy, { keepAlive: true });
}
