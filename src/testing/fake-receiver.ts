import { HookproofError, messageOf } from "../errors.js";
import type { Transport } from "../http/transport.js";
import { decodeUtf8 } from "../primitives/bytes.js";
import type { Clock } from "../primitives/clock.js";
import { EVENT_ID_HEADER, type HeaderPair } from "../protocol/headers.js";
import { parseListenerUrl } from "../protocol/listener-url.js";
import type { Listener } from "../receiver/listener.js";
import { createReceiver, type Receiver } from "../receiver/receiver.js";
import type { Verdict } from "../receiver/verdict.js";

/** What the fake receiver does with one request. */
export type ScriptedAnswer =
  | number
  | {
      /** 200 by default. */
      readonly status?: number | undefined;
      /** Sent as `Retry-After`. */
      readonly retryAfterSeconds?: number | undefined;
      readonly headers?: Readonly<Record<string, string>> | undefined;
      readonly body?: string | undefined;
      /** Waits before it answers. */
      readonly delayMs?: number | undefined;
      /** The connection breaks instead of an answer: the sender cannot know whether the event was accepted. */
      readonly drop?: boolean | undefined;
      /** Accept the event first, as a real listener would, and then answer or drop as the script says. */
      readonly accept?: boolean | undefined;
    };

/** Options of `createFakeReceiver`. */
export interface FakeReceiverOptions {
  /** The listener's secret: with it every signature is verified, and ids are remembered. */
  secret?: string | readonly string[] | undefined;
  /** Instead of `secret`: the whole listener, such as one with tokens. */
  listener?: Listener | undefined;
  clock?: Clock | undefined;
}

/** A request as the fake receiver got it, and what came of it. */
export interface FakeRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** The body as text; "" if it is not UTF-8. */
  readonly text: string;
  /** `Webhook-Event-Id`. */
  readonly eventId: string | undefined;
  /** The verdict on it, where a secret or listener is known. */
  readonly verdict: Verdict | undefined;
  /** The status it was answered with; `undefined` when the connection was dropped. */
  readonly status: number | undefined;
}

/** A receiver with scripted answers. */
export interface FakeReceiver {
  /** Every request, in the order of their arrival. */
  readonly requests: readonly FakeRequest[];
  /** A web handler. A dropped connection rejects with CONNECTION_LOST; most servers make a 500 of it. */
  handle(request: Request): Promise<Response>;
  /** Hand this to `createSender`, and nothing touches the network. */
  readonly transport: Transport;
}

/**
 * A receiver for tests of your own sender. Requests get the script's answers one after the other. With a
 * secret or listener, a request that fails the checks of the specification (4.10, 5.2) is refused as by the real
 * one and uses up no answer; past the end of the script it answers as the real one does, 200 and then 409 for a
 * copy. Without either, it answers 200 past the end.
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
  { secret, listener, clock }: FakeReceiverOptions = {},
): FakeReceiver {
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

/** The real receiver behind the fake one: of the given listener, or of whichever one the secret is used for. */
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
