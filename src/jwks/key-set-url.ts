import { HookproofError } from "../errors.js";
import { publicAddresses } from "../http/address-policy.js";
import { isLoopbackHost } from "../primitives/address.js";

/** Which URLs a key set may be fetched from. */
export interface KeySetUrlRules {
  /** Accept a plain `http://` URL on loopback, for development. */
  readonly allowInsecureLoopback?: boolean | undefined;
  /** Private, loopback and reserved addresses are refused unless this is true. */
  readonly allowPrivateNetwork?: boolean | undefined;
  /** Ranges that may be connected to all the same, such as `["10.1.0.0/16"]`. */
  readonly allowedCidrs?: readonly string[] | undefined;
  /**
   * The only hosts a key set may come from, such as `["keys.example.com"]`. Give it where strangers supply the
   * URL and the runtime is not Node: there a name cannot be held against the address it leads to.
   */
  readonly allowedHosts?: readonly string[] | undefined;
}

/** A key set's URL in canonical form; KEY_SET_URL_REFUSED if nothing should ever be fetched from it. */
export function checkKeySetUrl(text: string, rules: KeySetUrlRules): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw refused("is not an absolute URL");
  }
  if (url.username !== "" || url.password !== "") throw refused("must not carry credentials");
  const { allowedHosts } = rules;
  if (allowedHosts && !allowedHosts.some((host) => host.toLowerCase() === url.hostname))
    throw refused("has a host that is not in allowedHosts");
  checkScheme(url, rules.allowInsecureLoopback ?? false);
  checkAddress(url, rules);
  return url.href;
}

function checkScheme(url: URL, allowInsecureLoopback: boolean): void {
  if (url.protocol === "https:") return;
  if (url.protocol !== "http:") throw refused("must start with https://");
  if (!allowInsecureLoopback || !isLoopbackHost(url.hostname))
    throw refused("must start with https://; plain http is for loopback, and only where it is allowed");
}

/** Where the URL itself tells where it leads; a name is checked when it is connected to. */
function checkAddress({ hostname, protocol }: URL, rules: KeySetUrlRules): void {
  const policy = publicAddresses(rules.allowedCidrs);
  if (rules.allowPrivateNetwork ?? protocol === "http:") return;
  try {
    policy.checkHost(hostname);
  } catch {
    throw refused("leads to a private or reserved address, and those are not allowed here");
  }
}

function refused(reason: string): HookproofError {
  return new HookproofError("KEY_SET_URL_REFUSED", `The key set's URL ${reason}.`);
}
