// The remote control of a service for the inspector's page.
import type { RequestHandler } from "express";

/** What a page may do to the service besides what the inspector does. */
export interface RemoteControl {
  /** The operations that a fault can be set for. */
  readonly operations: readonly string[];
  /** Answers `/faults`, `/clock`, `/reset`, `/snapshots` and runs to look at as the service does under `/local/v1`. */
  readonly handle: RequestHandler;
}

/** What the page asks for; the journal is what it shows itself. */
const PATHS =
  /^\/(?:faults(?:\/[^/]{1,200})?|clock|reset|snapshots(?:\/[^/]{1,600}(?:\/restore)?)?|automations\/[^/]{1,600}\/debug)$/;

/**
 * The remote control of a service, for the inspector's page: its requests go through the service's own routes, which
 * check them against the OpenAPI document. The page never sees the control token.
 */
export function remoteControl(
  service: RequestHandler,
  controlToken: string,
  operations: readonly string[],
): RemoteControl {
  return {
    operations,
    handle(request, response, next) {
      if (!PATHS.test(request.path)) return next();
      request.headers.authorization = `Bearer ${controlToken}`;
      request.url = `/local/v1${request.url}`;
      service(request, response, next);
    },
  };
}
