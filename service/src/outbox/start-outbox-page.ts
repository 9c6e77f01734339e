// Serves the page of an outbox on a port of its own.
import { newPageToken } from "../page/guard.js";
import { type RunningServer, startOnUsualPort } from "../server/http-server.js";
import type { OutboxAction } from "./contract.js";
import type { ShownOutbox } from "./outbox-view.js";

const USUAL_PORT = 4402;

/** Options of `startOutboxPage`. */
export interface OutboxPageOptions {
  /** 0 takes a free port; without one it is 4402, or a free one where that is taken. */
  port?: number | undefined;
  /** The address to listen on, 127.0.0.1 by default; the page answers under loopback names all the same. */
  host?: string | undefined;
  /** What the page's address carries; a new one by default. */
  token?: string | undefined;
  /** What the outbox is called on the page. */
  name?: string | undefined;
  /** What the page may do besides showing; see `outboxRouter`. */
  allow?: readonly OutboxAction[] | undefined;
}

/** A page of an outbox that is being served. */
export interface RunningOutboxPage extends RunningServer {
  /** The page with its token, such as `http://127.0.0.1:4402/#t=…`: who has it sees the outbox, nobody else does. */
  readonly pageUrl: string;
}

/**
 * Serves the page of an outbox on a port of its own, on loopback unless `host` says otherwise. `outboxRouter` is the same for a server that you
 * have.
 *
 * @example
 * ```ts
 * import { createOutbox, memoryStore } from "hookproof/outbox";
 * import { startOutboxPage } from "hookproof-service";
 *
 * const outbox = createOutbox({ store: memoryStore(), listeners: () => undefined });
 * const page = await startOutboxPage(outbox, { allow: ["redrive", "pause"] });
 * console.log(page.pageUrl); // http://127.0.0.1:4402/#t=…
 * await page.stop();
 * ```
 */
export async function startOutboxPage(
  outbox: ShownOutbox,
  { port, host, token = newPageToken(), ...options }: OutboxPageOptions = {},
): Promise<RunningOutboxPage> {
  // Loaded by whoever asks for a page: a listener next to it does without.
  const [{ default: express }, { outboxRouter }] = await Promise.all([
    import("express"),
    import("./router.js"),
  ]);
  const app = express()
    .disable("x-powered-by")
    .use(outboxRouter(outbox, { ...options, token }));
  const server = await startOnUsualPort(app, { host, port }, USUAL_PORT);
  return { ...server, pageUrl: `${server.url}/#t=${token}` };
}
