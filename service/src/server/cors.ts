// Which pages of other origins may call the service.
import type { IncomingMessage } from "node:http";
import type { RequestHandler } from "express";

/** The pages that may call the service: `true` for every page, or origins such as `http://localhost:5173`. */
export type Cors = true | readonly string[];

/** Which pages may call the service, and the answers that tell their browsers so. */
export interface CorsRule {
  /** Whether a request is from a page that may call the service. */
  allows(request: IncomingMessage): boolean;
  readonly handler: RequestHandler;
}

const EXPOSED = "Date, Retry-After, WWW-Authenticate, X-Request-Id";

/**
 * The rule of an option; without it no page of another origin may call.
 *
 * @throws {TypeError} for an origin that is none
 */
export function corsRule(cors: Cors | undefined): CorsRule {
  const origins = cors === true ? [] : (cors ?? []);
  for (const origin of origins)
    if (!URL.canParse(origin) || new URL(origin).origin !== origin)
      throw new TypeError(`cors: ${JSON.stringify(origin)} is no origin, such as http://localhost:5173`);
  const isAllowed = (origin: string | undefined) =>
    origin !== undefined && (cors === true || origins.includes(origin));
  return {
    allows: ({ headers }) => isAllowed(headers.origin),
    handler(req, res, next) {
      const { origin } = req.headers;
      if (cors !== undefined) res.vary("Origin");
      if (!isAllowed(origin)) return next();
      res.set({ "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": EXPOSED });
      if (req.method !== "OPTIONS" || req.headers["access-control-request-method"] === undefined)
        return next();
      const asked = req.headers["access-control-request-headers"] ?? "";
      res.set({
        "Access-Control-Allow-Methods": "GET, POST, PUT, DELETE",
        "Access-Control-Allow-Headers": /^[\w\-, ]{0,1000}$/.test(asked) ? asked : "",
        "Access-Control-Max-Age": "600",
      });
      // A page of the network that calls a service of this machine: browsers ask for that as well.
      if (req.headers["access-control-request-private-network"] === "true")
        res.set("Access-Control-Allow-Private-Network", "true");
      res.status(204).end();
    },
  };
}
