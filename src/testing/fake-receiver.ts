// A receiver with scripted answers, for tests.

import { decodeUtf8 } from "../core/bytes.js";
import type { Clock } from "../core/clock.js";
import { HookproofError, messageOf } from "../core/errors.js";
import type { HeaderPair } from "../core/headers.js";
import { checkOptions } from "../core/options.js";
import type { Transport } from "../http/transport.js";
import { createReceiver, type Receiver } from "../receiver/receiver.js";
import type { Verdict } from "../receiver/verdict.js";
import { parseListenerUrl } from "../schemes/access-governance/listener-url.js";
import { EVENT_ID_HEADER } from "../schemes/access-governance/protocol.js";
import type { ListenerOptions } from "../schemes/default-verifier.js";

/** How the fake receiver answers one request: a status, or a status with more. */
export type ScriptedAnswer =
  | number
  | {
      /** 200 by default. */
      readonly status?: number | undefined;
      /** Sent as `Retry-After`, in seconds. */
      readonly retryAfterSeconds?: number | undefined;
      /** Header lines of the answer. */
      readonly headers?: Readonly<Record<string, string>> | undefined;
      /** The answer's body; `{}` by default. */
      readonly body?: string | undefined;
      /** How long it waits before it answers. */
      readonly delayMs?: number | undefined;
      /** Breaks the connection instead of answering, so that the sender cannot know whether the event was accepted. */
      readonly drop?: boolean | undefined;
      /** Accepts the event first, as a real listener does, and then answers or drops as the script says. */
      readonly accept?: boolean | undefined;
    };

/** Options of `createFakeReceiver`. */
export interface FakeReceiverOptions {
  /** The listener's secret. With it the receiver verifies every signature and remembers event ids. */
  secret?: string | readonly string[] | undefined;
  /** Instead of `secret`: the whole listener, such as one with tokens. */
  listener?: ListenerOptions | undefined;
  /** The machine's clock by default. */
  clock?: Clock | undefined;
}

/** A request that the fake receiver has got, and how it was answered. */
export interface FakeRequest {
  /** The HTTP method, in capitals. */
  readonly method: string;
  /** The whole URL. */
  readonly url: string;
  /** The headers as received. */
  readonly headers: Headers;
  /** The bytes as received. */
  readonly body: Uint8Array;
  /** The body as text; "" if it is not UTF-8. */
  readonly text: string;
  /** `Webhook-Event-Id`. */
  readonly eventId: string | undefined;
  /** The verdict on the request, where a secret or a listener was given. */
  readonly verdict: Verdict | undefined;
  /** The status of the answer; `undefined` when the connection was dropped. */
  readonly status: number | undefined;
}

/** A receiver with scripted answers. */
export interface FakeReceiver {
  /** All requests so far, in the order of their arrival. */
  readonly requests: readonly FakeRequest[];
  /** A web handler. Where the script drops the connection it rejects with CONNECTION_LOST; most servers answer 500. */
  handle(request: Request): Promise<Response>;
  /** A transport for `createSender`, so that nothing touches the network. */
  readonly transport: Transport;
}

/**
 * A receiver for tests of your own sender. It gives the script's answers, one for each request. With a secret or a
 * listener it refuses a request that fails the checks of the specification (4.10, 5.2), which uses up no answer, and
 * after the end of the script it answers as a real listener does: 200, and 409 for a copy. Without either it answers
 * 200 after the end.
 *
 * @example
 * ```ts
 * import { createSender, hmacSigner } from "hookproof";
 * import { createFakeReceiver } from "hookproof/testing";
 *
 * const secret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
 * const receiver = createFakeReceiver([503, { accept: true, drop: true }], { secret });
 * const sender = createSender({
 *   url: "https://tenant.example.com/api/v1/webhooks/incoming/lst_1",
 *   signer: hmacSigner({ secret }),
 *   transport: receiver.transport,
 * });
 * const { outcome } = await sender.send({ user: "u_1" }); // "accepted": 503, a broken connection, then 409
 * ```
 */
export function createFakeReceiver(
  script: readonly ScriptedAnswer[] = [],
  options: FakeReceiverOptions = {},
): FakeReceiver {
  checkOptions("createFakeReceiver", options, { secret: 1, listener: 1, clock: ".now" });
  const { secret, listener, clock } = options;
  if (!Array.isArray(script)) throw new TypeError("script must be a list of answers");
  const requests: FakeRequest[] = [];
  const receiverAt = receivers({ secret, listener, clock });
  let next = 0;

  async function answer(request: Incoming, signal: AbortSignal): Promise<Answer> {
    const receiver = receiverAt(request.url);
    const record = (verdict: Verdict | undefined, status: number | undefined) => {
      requests.push({
        ...request,
        text: decodeUtf8(request.body) ?? "",
        eventId: request.headers.get(EVENT_ID_HEADER) ?? undefined,
        verdict,
        status,
      });
    };
    const verdict = await receiver?.verify(request);
    const scripted = verdict?.ok === false ? undefined : script[next++];
    const step = typeof scripted === "number" ? { status: scripted } : scripted;
    if (!step || step.accept) {
      const real = await receiver?.receive(request, async () => {});
      if (!step) {
        const { status, headers, body } = real ?? { status: 200, headers: [], body: "{}" };
        record(real?.verdict, status);
        return { status, headers, body };
      }
    }
    record(verdict, step.drop ? undefined : (step.status ?? 200));
    if (step.delayMs) await pause(step.delayMs, signal);
    if (step.drop) throw new HookproofError("CONNECTION_LOST", messageOf("CONNECTION_LOST"));
    const headers: HeaderPair[] = Object.entries(step.headers ?? {});
    if (step.retryAfterSeconds !== undefined) headers.push(["Retry-After", String(step.retryAfterSeconds)]);
    return { status: step.status ?? 200, headers, body: step.body ?? "{}" };
  }

  return {
    requests,
    async handle(request) {
      const body = new Uint8Array(await request.arrayBuffer());
      const { method, url, headers, signal } = request;
      const { status, headers: lines, body: text } = await answer({ method, url, headers, body }, signal);
      const hasNoBody = status === 204 || status === 205 || status === 304;
      return new Response(hasNoBody ? null : text, { status, headers: Object.fromEntries(lines) });
    },
    async transport({ method, url, headers: lines, body = new Uint8Array(), ...limits }) {
      const headers = new Headers(lines.map(([name, value]) => [name, value] as [string, string]));
      const signal = AbortSignal.any([
        AbortSignal.timeout(limits.timeoutMs),
        ...(limits.signal ? [limits.signal] : []),
      ]);
      const given = await answer({ method, url, headers, body: body.slice() }, signal).catch((error) => {
        if (error instanceof HookproofError || !signal.aborted) throw error;
        const code = limits.signal?.aborted ? "ABORTED" : "TIMED_OUT";
        throw new HookproofError(code, messageOf(code));
      });
      const bytes = new TextEncoder().encode(given.body);
      return {
        status: given.status,
        headers: given.headers,
        body: bytes.slice(0, limits.maxResponseBytes),
        truncated: bytes.length > limits.maxResponseBytes,
        authenticated: true,
      };
    },
  };
}

type Incoming = Pick<FakeRequest, "method" | "url" | "headers" | "body">;

interface Answer {
  readonly status: number;
  readonly headers: readonly HeaderPair[];
  readonly body: string;
}

/** The real receiver behind the fake one: that of the given listener, or one for each URL that the secret is used for. */
function receivers({ secret, listener, clock }: FakeReceiverOptions): (url: string) => Receiver | undefined {
  if (listener) {
    const receiver = createReceiver({ listener, clock, allowDocumentedSecret: true });
    return () => receiver;
  }
  const byUrl = new Map<string, Receiver>();
  return (url) => {
    if (secret === undefined) return undefined;
    const known = byUrl.get(url);
    if (known) return known;
    const { baseUrl, listenerId } = parseListenerUrl(url);
    const receiver = createReceiver({
      listener: { id: listenerId, baseUrl, auth: { method: "hmac", secret } },
      clock,
      allowDocumentedSecret: true,
    });
    byUrl.set(url, receiver);
    return receiver;
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
  });
}
