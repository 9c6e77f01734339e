import { messageOf } from "../errors.js";
import { parseCidrs } from "../primitives/address.js";
import { type Clock, systemClock } from "../primitives/clock.js";
import { harmless } from "../primitives/harmless.js";
import { type HeaderPair, type HeadersInput, receivedHeaders } from "../protocol/headers.js";
import { accept, type Run } from "./accept.js";
import { type Listener, prepareListener } from "./listener.js";
import { memoryReplayStore } from "./memory-replay-store.js";
import { type BodyInput, bodyReader, streamChunks } from "./read-body.js";
import type { ReplayStore } from "./replay-store.js";
import type { Verdict } from "./verdict.js";
import { verifyRequest } from "./verify-request.js";

/** Options of `createReceiver`. */
export interface ReceiverOptions {
  listener: Listener;
  /** Where processed ids are remembered; memory by default. */
  replayStore?: ReplayStore | undefined;
  clock?: Clock | undefined;
  /** Ranges of the proxies in front of you: only behind them is `X-Forwarded-For` believed. */
  trustedProxies?: readonly string[] | undefined;
  /** Whether the automation is published and its trigger enabled; true by default. */
  isTriggerActive?: (() => boolean | Promise<boolean>) | undefined;
  /**
   * Takes the secret that stands in this documentation and in the test vectors, which is refused otherwise:
   * everybody can sign with it. For tests only; false by default.
   */
  allowDocumentedSecret?: boolean | undefined;
  /** How long a copy of an event that is just being processed waits for its outcome; 5,000 ms by default. */
  inFlightWaitMs?: number | undefined;
  /**
   * Told of the verdict on every request that `receive` and `handle` answered, for your log: the answer itself
   * says no more than its code. What it throws is dropped, and so is what an `async` one rejects with.
   */
  onVerdict?: ((verdict: Verdict) => void) | undefined;
}

/** A request as a server hands it over. Node adapters give `rawHeaders` as pairs: `headers` drops duplicates. */
export interface ReceivedRequest {
  readonly method: string;
  /** The whole URL, or the path. */
  readonly url: string;
  readonly headers: HeadersInput;
  /** The body as received: bytes, their text, or (for `receive`) the chunks as they arrive. */
  readonly body?: BodyInput;
  /** The peer of the socket; needed when address ranges are set. */
  readonly sourceAddress?: string | undefined;
  /**
   * True where the server may have dropped header lines: one that is not seen cannot be refused for standing twice,
   * so the answer is 431 HEADERS_TOO_MANY. `receivedRequest` of `hookproof/node` finds it out.
   */
  readonly headersDropped?: boolean | undefined;
}

/** The answer to a request, ready for any server, with the verdict behind it. */
export interface ReceiverAnswer {
  readonly status: number;
  readonly headers: readonly HeaderPair[];
  readonly body: string;
  readonly verdict: Verdict;
}

/** One listener's receiving side. */
export interface Receiver {
  /** Steps 0 to 6: every check that needs no memory. Touches no store, runs nothing. */
  verify(request: ReceivedRequest): Promise<Verdict>;
  /** All steps, for servers without web objects: `run` accepts the event durably, then its id is used up. */
  receive(request: ReceivedRequest, run: Run): Promise<ReceiverAnswer>;
  /** All steps for a web `Request`. */
  handle(request: Request, run: Run, options?: { sourceAddress?: string | undefined }): Promise<Response>;
}

/**
 * The receiving side of a listener: the service's own order of checks (specification 4.10, 5.2, 7; the order
 * and what the specification leaves open is in docs/decisions.md).
 *
 * @throws {TypeError | HookproofError} for a configuration that cannot work
 *
 * @example
 * ```ts
 * import { generateSecret } from "hookproof"; // stands for your listener's own secret
 * import { createReceiver } from "hookproof/receiver";
 *
 * const receiver = createReceiver({
 *   listener: {
 *     id: "lst_offboarding",
 *     baseUrl: "https://tenant.example.com",
 *     auth: { method: "hmac", secret: generateSecret() },
 *   },
 * });
 * const handler = (request: Request) =>
 *   receiver.handle(request, async (event) => {
 *     console.log(event.id, event.payload);
 *   });
 * ```
 */
export function createReceiver(options: ReceiverOptions): Receiver {
  const {
    clock = systemClock,
    replayStore = memoryReplayStore({ clock }),
    isTriggerActive = () => true,
    inFlightWaitMs = 5_000,
  } = options;
  const rules = {
    listener: prepareListener(options.listener, options),
    trustedProxies: parseCidrs(options.trustedProxies ?? []),
    clock,
  };
  const acceptance = { replayStore, isTriggerActive, inFlightWaitMs };
  const onVerdict = harmless(options.onVerdict);

  const verify: Receiver["verify"] = async ({
    method,
    url,
    headers,
    body,
    sourceAddress,
    headersDropped,
  }) => {
    const head = { method, url, headers: receivedHeaders(headers), sourceAddress, headersDropped };
    return verifyRequest(rules, head, bodyReader(body));
  };

  const receive: Receiver["receive"] = async (request, run) => {
    const verified = await verify(request);
    const verdict = verified.ok ? await accept(acceptance, verified.event, verified.checks, run) : verified;
    onVerdict?.(verdict);
    return answerTo(verdict);
  };

  return {
    verify,
    receive,
    async handle(request, run, { sourceAddress } = {}) {
      if (typeof request?.headers?.get !== "function") {
        throw new TypeError(
          "request must be a web Request. With Hono that is c.req.raw; for Node's own requests use toNodeListener of hookproof/node.",
        );
      }
      if (request.bodyUsed) {
        throw new TypeError(
          "The request's body has been read already. Hand over the request before anything calls json() or text() on it.",
        );
      }
      const { method, url, headers } = request;
      const body = request.body && streamChunks(request.body);
      const answer = await receive({ method, url, headers, body, sourceAddress }, run);
      return new Response(answer.body, {
        status: answer.status,
        headers: answer.headers.map(([name, value]) => [name, value] as [string, string]),
      });
    },
  };
}

function answerTo(verdict: Verdict): ReceiverAnswer {
  const headers: HeaderPair[] = [["Content-Type", "application/json"]];
  if (verdict.ok) return { status: 200, headers, body: "{}", verdict };
  if (verdict.code === "METHOD_NOT_ALLOWED") headers.push(["Allow", "POST"]);
  if (verdict.code === "EVENT_IN_FLIGHT" || verdict.code === "REPLAY_STORE_UNAVAILABLE")
    headers.push(["Retry-After", "1"]);
  return {
    status: verdict.status,
    headers,
    body: JSON.stringify({ code: verdict.code, message: messageOf(verdict.code) }),
    verdict,
  };
}
