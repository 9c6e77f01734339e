// The connection agent that flags and proxy variables ask for.
import { X509Certificate } from "node:crypto";
import { BlockList, isIP } from "node:net";
import type { ConnectionAgent } from "hookproof";
import { getProxyForUrl } from "proxy-from-env";
import { CliError, EXIT, usageError } from "../failure.js";
import { readPemFile } from "../files/files.js";
import type { Io } from "../io.js";
import type { Reach } from "./reach.js";

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/** Whom a connection trusts, and by which certificate it is known itself. */
interface Trust {
  readonly ca: string | undefined;
  readonly insecure: boolean;
  readonly io?: Pick<Io, "env"> | undefined;
  readonly client?: Reach["client"];
}

/**
 * The connection agent that `--ca`, `--insecure`, `--cert` and the proxy environment ask for, and the local authority of `io`;
 * none where the default will do.
 */
export async function agentFor(
  url: string,
  { ca, insecure, io, client }: Trust,
): Promise<ConnectionAgent | undefined> {
  const overTls = new URL(url).protocol === "https:";
  const host = new URL(url).hostname.replace(/^\[|\]$|\.$/g, "");
  if (insecure && !isLoopback(host))
    throw usageError("--insecure is for loopback only: elsewhere name the certificate with --ca <file>.");
  const trust = ca
    ? checkedAuthority(await readPemFile(ca), ca)
    : isLoopback(host) && io && overTls
      ? (await import("../serve/local-authority.js")).localTrust(io)
      : undefined;
  const tls = {
    keepAlive: true,
    ...(trust ? { ca: trust } : {}),
    ...(insecure ? { rejectUnauthorized: false } : {}),
    ...client,
  };
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
  if (!overTls || !(trust || insecure || client)) return undefined;
  const { Agent } = await import("node:https");
  return new Agent(tls);
}

/** OpenSSL skips what is no certificate, so that a key in its place would trust nobody, without a word. */
function checkedAuthority(bytes: Buffer, file: string): Buffer {
  try {
    new X509Certificate(bytes);
    return bytes;
  } catch {
    throw new CliError(EXIT.setup, "CERTIFICATE_INVALID", `--ca: ${file} is no certificate in PEM.`);
  }
}

function isLoopback(host: string): boolean {
  const version = isIP(host);
  return version === 0 ? host === "localhost" : LOOPBACK.check(host, version === 6 ? "ipv6" : "ipv4");
}
