// Serves the inspector on a port of its own.

import { newPageToken, pageToken } from "../page/guard.js";
import { loadedWhenAsked, type RunningServer, startOnUsualPort } from "../server/http-server.js";
import type { Inspector } from "./inspector.js";

const USUAL_PORT = 4401;

/** A running inspector. */
export interface RunningInspector extends RunningServer {
  /**
   * The page with its token, such as `http://127.0.0.1:4401/#t=…`. Anyone who has it sees every request and its right
   * signature, and signs replays; nobody else does, other users of this machine included.
   */
  readonly pageUrl: string;
}

/**
 * Serves an inspector's page on a port of its own, on loopback unless `host` says otherwise. Next to a listener that a tunnel publishes it
 * stays unpublished, and the browser's own requests are not recorded.
 *
 * @param options.token what the page's address carries; a new one by default
 * @param options.host the address to listen on; the page answers under loopback names all the same, as a published
 * port of a container has them
 * @param options.port 0 takes a free port; without one it is 4401, or a free one where that is taken
 *
 * @example
 * ```ts
 * import { createInspector, startInspector, startListeners } from "hookproof-service";
 *
 * const inspector = await createInspector();
 * const listeners = await startListeners({
 *   inspector,
 *   listeners: (baseUrl) => [
 *     { listener: { id: "lst_1", baseUrl, auth: { method: "hmac", secret: process.env.LISTENER_SECRET ?? "" } } },
 *   ],
 * });
 * const page = await startInspector(inspector);
 * console.log(page.pageUrl); // http://127.0.0.1:4401/#t=…
 * await Promise.all([page.stop(), listeners.stop()]);
 * ```
 */
export async function startInspector(
  inspector: Inspector,
  {
    port,
    host,
    token = newPageToken(),
  }: {
    /** 4401 by default, or a free one where that is taken. */
    port?: number | undefined;
    /** The address it listens at; 127.0.0.1 by default. */
    host?: string | undefined;
    /** What the page's address proves itself with; a new one by default. */
    token?: string | undefined;
  } = {},
): Promise<RunningInspector> {
  // Refused now, not at the first request.
  pageToken(token);
  const app = loadedWhenAsked(async () => {
    const [{ default: express }, { inspectorRouter }] = await Promise.all([
      import("express"),
      import("./router.js"),
    ]);
    return express().disable("x-powered-by").use(inspectorRouter(inspector, { token }));
  });
  const server = await startOnUsualPort(app, { host, port }, USUAL_PORT);
  return {
    ...server,
    pageUrl: `${server.url}/#t=${token}`,
    async stop() {
      inspector.close();
      await server.stop();
    },
  };
}
