// Who may read and change what a page's server has.
import { randomBytes, timingSafeEqual } from "node:crypto";
import type { RequestHandler } from "express";
import { pageHeaders } from "../server/page-headers.js";
import { TOKEN_HEADER } from "./contract.js";
import { InspectorError } from "./inspector-error.js";

/** Everything the page loads comes from where it comes from itself, and nothing in it can be run as script. */
const HEADERS = pageHeaders(
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
);

const LOOPBACK = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])$/i;

/** What every answer of a page's server says to the browser. */
export const securityHeaders: RequestHandler = (_request, response, next) => {
  response.set(HEADERS);
  next();
};

/**
 * Answers only under names of this machine: a page of the outside can point a name of its own at 127.0.0.1 and
 * would read everything here otherwise (DNS rebinding).
 */
export function allowHosts(allowed: readonly string[]): RequestHandler {
  const names = new Set(allowed.map((name) => name.toLowerCase()));
  return (request, _response, next) => {
    const host = request.headers.host ?? "";
    const name = host.replace(/:[0-9]{1,5}$/, "").toLowerCase();
    if (LOOPBACK.test(name) || names.has(name) || names.has(host.toLowerCase())) next();
    else next(new InspectorError(403, "HOST_REFUSED", "The page is not served under this name."));
  };
}

/** Data is for pages of the same origin: others on this machine share its host, but not its port. */
export const sameSite: RequestHandler = (request, _response, next) => {
  const from = request.headers["sec-fetch-site"];
  if (from === undefined || from === "same-origin" || from === "none") next();
  else next(refused("Another page asked for this."));
};

/** What whoever reads or changes anything has to show: it stands in the address that was printed or opened. */
export interface PageToken {
  /** Refuses every call without the token: other users of this machine can connect, and do not have it. */
  readonly required: RequestHandler;
  /** Refuses what changes something from another origin than the page's own. */
  readonly ownOrigin: RequestHandler;
}

/** At least 128 bits of base64url or hex. */
const TOKEN = /^[A-Za-z0-9_-]{22,256}$/;

/** A token that nobody can guess. */
export function newPageToken(): string {
  return randomBytes(32).toString("base64url");
}

/** The checks of a token. */
export function pageToken(value: string): PageToken {
  if (typeof value !== "string" || !TOKEN.test(value))
    throw new TypeError(
      "token must be 22 to 256 letters, digits, - or _, such as generateSecret of hookproof makes",
    );
  const expected = Buffer.from(value);
  return {
    required(request, _response, next) {
      const given = Buffer.from(request.get(TOKEN_HEADER) ?? "");
      if (given.length === expected.length && timingSafeEqual(given, expected)) next();
      else
        next(
          new InspectorError(
            403,
            "TOKEN_REFUSED",
            "Open the page by the whole address that was printed: it ends in #t=….",
          ),
        );
    },
    ownOrigin(request, _response, next) {
      const { origin, host } = request.headers;
      if (origin !== undefined && origin.replace(/^https?:\/\//, "") === host) next();
      else next(refused("The Origin is not the page's own."));
    },
  };
}

function refused(message: string): InspectorError {
  return new InspectorError(403, "ORIGIN_REFUSED", message);
}
