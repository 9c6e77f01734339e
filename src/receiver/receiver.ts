// A receiver: verifies requests and accepts events once.
import { parseCidrs } from "../core/address.js";
import { type Clock, systemClock } from "../core/clock.js";
import { type HeaderPair, type HeadersInput, receivedHeaders } from "../core/headers.js";
import { checkOptions, harmless, type OptionNames } from "../core/options.js";
import { memoryReplayStore } from "../replay/memory-replay-store.js";
import type { ReplayStore } from "../replay/replay-store.js";
import { type ListenerOptions, listenerVerifier } from "../schemes/default-verifier.js";
import type { Refusal, Verifier } from "../schemes/scheme.js";
import { accept, type Run } from "./accept.js";
import type { Verdict } from "./verdict.js";
import {
  type BodyInput,
  bodyReader,
  streamChunks,
  type VerifyRules,
  verifyRequest,
} from "./verify-request.js";

/** Options of `createReceiver` for a listener of the service. */
export interface ReceiverOptions {
  /** The listener's id, address and authentication. */
  listener: ListenerOptions;
  /** Left out: the listener says how requests are verified. */
  verifier?: undefined;
  /**
   * Accepts the secret of this documentation and of the test vectors. It is refused otherwise, as everybody can sign
   * with it. For tests only; false by default.
   */
  allowDocumentedSecret?: boolean | undefined;
  /** Where processed ids are remembered; a `memoryReplayStore` by default. */
  replayStore?: ReplayStore | undefined;
  /** The machine's clock by default. */
  clock?: Clock | undefined;
  /** Address ranges of the proxies in front of the server. `X-Forwarded-For` is read behind these proxies only. */
  trustedProxies?: readonly string[] | undefined;
  /** Says whether the automation is published and its trigger enabled; always true by default. */
  isTriggerActive?: (() => boolean | Promise<boolean>) | undefined;
  /** How long a copy of an event that is being processed waits for the outcome; 5,000 ms by default. */
  inFlightWaitMs?: number | undefined;
  /**
   * Called with the verdict on every request that `receive` and `handle` have answered, for your log: the answer
   * itself has the code only. What it throws or rejects with is ignored.
   */
  onVerdict?: ((verdict: Verdict) => void) | undefined;
}

/** Options of `createReceiver` for requests of another scheme, at any path. */
export interface SchemeReceiverOptions
  extends Omit<ReceiverOptions, "listener" | "verifier" | "allowDocumentedSecret"> {
  /** Left out: the verifier takes its place. */
  listener?: undefined;
  /** Verifies requests by its scheme. */
  verifier: Verifier;
  /**
   * The name under which the replay store remembers event ids, 1 to 128 letters, digits, `-` or `_`; by default the
   * scheme's name. Receivers that share a store need different ones.
   */
  id?: string | undefined;
  /** Address ranges that requests may come from, such as `["203.0.113.0/24"]`; from anywhere by default. */
  allowedCidrs?: readonly string[] | undefined;
}

const NAMES: OptionNames<ReceiverOptions | SchemeReceiverOptions> = {
  listener: 1,
  verifier: "object",
  id: 1,
  allowedCidrs: "texts",
  allowDocumentedSecret: "boolean",
  replayStore: ".reserve",
  clock: ".now",
  trustedProxies: "texts",
  isTriggerActive: "function",
  inFlightWaitMs: "number",
  onVerdict: "function",
};

/** A request in the form that `verify` and `receive` take. */
export interface ReceivedRequest {
  /** The HTTP method, in capitals. */
  readonly method: string;
  /** The whole URL, or the path. */
  readonly url: string;
  /** The header lines as received. For Node's own requests give `rawHeaders` as pairs: `headers` drops duplicates. */
  readonly headers: HeadersInput;
  /** The body as received: bytes, a text that stands for its UTF-8 bytes, or the chunks as they arrive. */
  readonly body?: BodyInput;
  /** The address of the socket's peer. It is needed where address ranges are set. */
  readonly sourceAddress?: string | undefined;
  /**
   * True where the server may have dropped header lines. A header that was sent twice could be among them, so the
   * answer is 431 HEADERS_TOO_MANY. `receivedRequest` of `hookproof/node` sets it.
   */
  readonly headersDropped?: boolean | undefined;
}

/** The answer to a request, ready for any server, with the verdict behind it. */
export interface ReceiverAnswer {
  /** The HTTP status. */
  readonly status: number;
  /** The header lines of the answer. */
  readonly headers: readonly HeaderPair[];
  /** JSON: `{}`, or the code and its sentence; another scheme may have other answers. */
  readonly body: string;
  /** For your log: it says more than the answer may. */
  readonly verdict: Verdict;
}

/** The receiving side of one listener. */
export interface Receiver {
  /** Checks 1 to 23 of `CHECKS`: all that need no memory. It touches no store and runs nothing. */
  verify(request: ReceivedRequest): Promise<Verdict>;
  /** All checks, for servers without web requests. `run` accepts the event, and then its id is processed. */
  receive(request: ReceivedRequest, run: Run): Promise<ReceiverAnswer>;
  /** All checks, for a web `Request`. */
  handle(
    request: Request,
    run: Run,
    options?: {
      /** The address that the request came from, for a listener with `allowedCidrs`. */
      sourceAddress?: string | undefined;
    },
  ): Promise<Response>;
}

/**
 * Makes the receiving side of a listener: it checks requests in the service's own order (`CHECKS`; specification 4.10,
 * 5.2 and 7), remembers processed event ids, and answers.
 *
 * @throws {TypeError | HookproofError} for options that cannot work
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
export function createReceiver(options: ReceiverOptions | SchemeReceiverOptions): Receiver {
  checkOptions("createReceiver", options, NAMES);
  const {
    clock = systemClock,
    replayStore = memoryReplayStore({ clock }),
    isTriggerActive = () => true,
    inFlightWaitMs = 5_000,
  } = options;
  const verifying = verifyingOf(options);
  const { verifier } = verifying;
  const rules = { ...verifying, trustedProxies: parseCidrs(options.trustedProxies ?? []), clock };
  const acceptance = { verifier, replayStore, isTriggerActive, inFlightWaitMs };
  const onVerdict = harmless(options.onVerdict);

  const verify = ({ method, url, headers, body, sourceAddress, headersDropped }: ReceivedRequest) => {
    const head = { method, url, headers: receivedHeaders(headers), sourceAddress, headersDropped };
    return verifyRequest(rules, head, bodyReader(body));
  };

  const receive: Receiver["receive"] = async (request, run) => {
    const verified = await verify(request);
    const verdict = verified.ok ? await accept(acceptance, verified.event, verified.checks, run) : verified;
    onVerdict?.(verdict);
    return answerTo(verifier, verdict);
  };

  return {
    verify: async (request) => verify(request),
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

/** The name under which a replay store remembers ids. */
const MEMORY_NAME = /^[A-Za-z0-9_-]{1,128}$/;

/** What requests are verified by, from either form of the options. */
function verifyingOf(
  options: ReceiverOptions | SchemeReceiverOptions,
): Omit<VerifyRules, "trustedProxies" | "clock"> {
  if (options.verifier === undefined) {
    const verifier = listenerVerifier(options.listener, options);
    const { id, allowedCidrs = [] } = options.listener;
    return { verifier, listenerId: id, allowedCidrs: parseCidrs(allowedCidrs) };
  }
  const { verifier, id = verifier.scheme?.name, allowedCidrs = [] } = options;
  if (typeof verifier.verify !== "function" || !Array.isArray(verifier.checks))
    throw new TypeError("verifier must be a scheme's verifier");
  if (typeof id !== "string" || !MEMORY_NAME.test(id))
    throw new TypeError("id must be 1 to 128 letters, digits, - or _");
  return { verifier, listenerId: id, allowedCidrs: parseCidrs(allowedCidrs) };
}

function answerTo({ answers }: Verifier, verdict: Verdict): ReceiverAnswer {
  const bodyOf = answers?.body ?? plainBody;
  const answer = (status: number, body: string, more: readonly HeaderPair[]): ReceiverAnswer => {
    const about: readonly HeaderPair[] =
      body === "" ? [] : [["Content-Type", "application/json"], ...(answers?.headers ?? [])];
    return { status, headers: [...about, ...more], body, verdict };
  };
  if (verdict.ok) return answer(answers?.accepted ?? 200, bodyOf(undefined), []);
  const more: HeaderPair[] = [];
  if (verdict.code === "METHOD_NOT_ALLOWED") more.push(["Allow", "POST"]);
  if (verdict.code === "EVENT_IN_FLIGHT" || verdict.code === "REPLAY_STORE_UNAVAILABLE")
    more.push(["Retry-After", "1"]);
  const { code, checks, status } = verdict;
  const { rule = "", fact = rule } = checks.at(-1) ?? {};
  return answer(status, bodyOf({ code, rule, fact }), more);
}

/** What was wrong with the request, in words that are true of every scheme. */
function plainBody(refusal: Refusal | undefined): string {
  return refusal ? JSON.stringify({ code: refusal.code, message: refusal.fact }) : "{}";
}
