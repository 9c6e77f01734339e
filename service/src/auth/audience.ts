// The addresses that a client may name as the audience.
/** The addresses that stand for this service in the claim `aud` of a client's assertion. */
export interface Audience {
  /** What is wrong with a claim, to follow its name; undefined if it names this service. */
  refused(claim: unknown): string | undefined;
}

/**
 * What a client may write as the audience: the issuer, the token endpoint, or the host with or without its port. Each
 * kind of client writes another of them (RFC 7523 section 3 leaves the choice). Where the service is on loopback, all
 * names of loopback are one: clients are configured with `localhost` and reach `127.0.0.1`.
 *
 * @param issuer the address of the service, without a trailing slash
 * @param tokenPath the path of the token endpoint
 */
export function audienceOf(issuer: string, tokenPath: string): Audience {
  const own = new URL(issuer);
  const ownHost = sameHost(own.hostname);
  const ownPort = own.port || (own.protocol === "https:" ? "443" : "80");
  const ownPath = own.pathname.replace(/\/$/, "");
  const paths = new Set([ownPath, `${ownPath}/`, ownPath + tokenPath]);

  const isOwnUrl = (text: string): boolean => {
    if (!URL.canParse(text)) return false;
    const { protocol, hostname, port, pathname, search, hash, username } = new URL(text);
    const isAddress = protocol === own.protocol && sameHost(hostname) === ownHost && port === own.port;
    return isAddress && paths.has(pathname) && search + hash + username === "";
  };
  const isOwnHost = (text: string): boolean => {
    const [, host = "", port = ownPort] =
      /^(\[[0-9a-f:]+\]|[^:/?#@\s]+)(?::([0-9]{1,5}))?$/i.exec(text) ?? [];
    return port === ownPort && (sameHost(host) === ownHost || (text === "::1" && ownHost === LOOPBACK));
  };
  const isOwn = (value: unknown) => typeof value === "string" && (isOwnUrl(value) || isOwnHost(value));

  return {
    refused(claim) {
      const values: unknown[] = Array.isArray(claim) ? claim : [claim];
      const at = values.findIndex((value) => !isOwn(value));
      if (at < 0 && values.length > 0) return undefined;
      const wrong = values[at];
      const seen = typeof wrong === "string" ? JSON.stringify(wrong.slice(0, 200)) : "missing, or no text";
      return `is ${seen}, and must be ${issuer}, ${issuer}${tokenPath} or ${own.host}`;
    },
  };
}

const LOOPBACK = "localhost";

function sameHost(hostname: string): string {
  const name = hostname.toLowerCase();
  return name === "localhost" || name === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(name) ? LOOPBACK : name;
}
