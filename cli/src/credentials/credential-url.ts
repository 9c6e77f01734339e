// Refuses an address that no credential may go to, before one is read.
import type { Config } from "../config/config.js";

/** Refuses what is no URL, and plain HTTP to another machine. */
export async function requireCredentialUrl(config: Config, url: string, name: string): Promise<void> {
  const { checkedUrl, requireTls } = await import("./checked-url.js");
  const { plainHttpHosts } = await import("../send/reach.js");
  await checkedUrl(url, name);
  await requireTls(url, name, plainHttpHosts(config));
}
