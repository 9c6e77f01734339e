// Recognises requests that a browser sends for a foreign page.
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";

/**
 * Whether a browser sends a request for a page that is not the service's own. A browser says so by itself, whatever
 * the page wants, and programs send neither header. Any page can post a form here without being asked for anything.
 */
export function isOfForeignPage({ headers }: IncomingMessage, baseUrl: string): boolean {
  const { origin, host, "sec-fetch-site": site = "none" } = headers;
  if (site !== "none" && site !== "same-origin") return true;
  const base = new URL(baseUrl);
  if (origin === undefined || origin === base.origin) return false;
  // By another of its addresses. A name could have been made to lead here by whoever the page is of.
  if (!URL.canParse(origin)) return true;
  const from = new URL(origin);
  return from.protocol !== base.protocol || from.host !== host || !isAddress(from.hostname);
}

function isAddress(hostname: string): boolean {
  return hostname === "localhost" || isIP(hostname.replace(/^\[|\]$/g, "")) !== 0;
}
