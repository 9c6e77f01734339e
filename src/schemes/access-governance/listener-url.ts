// The form of a listener's URL.
import { invalidUrl, parseUrl, plainUrl, requireTls } from "../../core/target-url.js";

export { checkPlainHttpHosts } from "../../core/target-url.js";

/** Where the service takes events: the path before a listener's id. */
export const INGESTION_PATH = "/api/v1/webhooks/incoming/";

const LISTENER_ID = /^[A-Za-z0-9_-]{1,128}$/;

/** A listener's URL, taken apart (specification 4.10). */
interface ListenerUrl {
  /** The whole URL: where requests go, and the claim `aud`. */
  readonly href: string;
  /** Everything before `/api/v1/webhooks/incoming/`: the claim `sub`. */
  readonly baseUrl: string;
  readonly listenerId: string;
}

/** Whether a text can stand as a listener id in a path. */
export function isListenerId(text: string): boolean {
  return LISTENER_ID.test(text);
}

/** The URL of a listener under a base URL. */
export function listenerUrl(baseUrl: string, listenerId: string): string {
  return `${baseUrl}${INGESTION_PATH}${listenerId}`;
}

/** The listener id at the end of a request's URL or path, or `undefined` when the path is not a listener's. */
export function listenerIdOf(url: string): string | undefined {
  const path = /^[^?#]*/.exec(url)?.[0] ?? "";
  const at = path.lastIndexOf(INGESTION_PATH);
  const id = at < 0 ? "" : path.slice(at + INGESTION_PATH.length);
  return isListenerId(id) ? id : undefined;
}

/** Takes a listener's URL apart, or refuses it by name before anything is signed or sent. */
export function parseListenerUrl(text: string, plainHttpHosts?: readonly string[]): ListenerUrl {
  const url = plainUrl(text);
  if (url.search !== "" || text.includes("?")) throw invalidUrl("must not have a query");
  requireTls(url, plainHttpHosts);
  const listenerId = listenerIdOf(url.pathname);
  if (listenerId === undefined) throw invalidUrl(`must end in ${INGESTION_PATH}{listener_id}`);
  const baseUrl = url.href.slice(0, url.href.length - INGESTION_PATH.length - listenerId.length);
  return { href: url.href, baseUrl, listenerId };
}

/** The tenant's base URL in its one form: no trailing slash, query, fragment or credentials. */
export function parseBaseUrl(text: string): string {
  const url = parseUrl(text);
  if (/[?#]/.test(text)) throw invalidUrl("(the base URL) must be scheme, host and path only");
  return url.href.replace(/\/$/, "");
}
