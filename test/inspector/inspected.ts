import { request } from "node:http";
import { connect } from "node:net";
import { createEvent, hmacSigner, type Signer, signRequest } from "hookproof";
import {
  createInspector,
  type InspectorOptions,
  type LocalListener,
  type SchemeListener,
  startInspector,
  startListeners,
} from "hookproof-service";
import { onTestFinished } from "vitest";
import { type RequestDetail, type RequestPage, TOKEN_HEADER } from "../../service/src/inspector/contract.js";

export const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";

/** An answer of the inspector or the listener. */
export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
  json<Value>(): Value;
}

/** A listener with its inspector, both on ports of their own, and calls to them. */
export async function inspected({
  listeners,
  tls,
  ...options
}: InspectorOptions & {
  listeners?: (baseUrl: string) => readonly (LocalListener | SchemeListener)[];
  tls?: { cert: string; key: string };
} = {}) {
  const inspector = await createInspector(options);
  const server = await startListeners({
    inspector,
    ...(tls ? { tls } : {}),
    listeners:
      listeners ??
      ((baseUrl) => [{ listener: { id: "lst_1", baseUrl, auth: { method: "hmac", secret: SECRET } } }]),
  });
  const page = await startInspector(inspector, { port: 0 });
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    await Promise.all([page.stop(), server.stop()]);
  };
  onTestFinished(stop);
  const url = `${server.url}/api/v1/webhooks/incoming/lst_1`;
  const token = new URL(page.pageUrl).hash.slice("#t=".length);
  const call = (path: string, given: CallOptions = {}) =>
    send(`${page.url}/${path}`, { ...given, headers: { [TOKEN_HEADER]: token, ...given.headers } });
  return {
    inspector,
    server,
    page,
    url,
    call,
    token,
    stop,
    /** A call as the page makes it when it changes something. */
    change: (method: string, path: string, body?: unknown) =>
      call(path, {
        method,
        headers: {
          Origin: page.url,
          [TOKEN_HEADER]: token,
          ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    list: async (query = "") => (await call(`api/requests?${query}`)).json<RequestPage>(),
    detail: async (n: number) => (await call(`api/requests/${n}`)).json<RequestDetail>(),
    /** Sends a signed event to the listener, or something that is almost one. */
    post: (change: PostOptions = {}) => postTo(url, change),
  };
}

/** What to send; everything but the body has a default that is accepted. */
export interface PostOptions {
  readonly payload?: unknown;
  readonly eventId?: string;
  readonly signer?: Signer;
  readonly timestamp?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Signs an event and sends it, with single headers or the body replaced after the signing. */
export async function postTo(url: string, options: PostOptions = {}): Promise<Answer & { eventId: string }> {
  const { payload = { a: 1 }, eventId, signer = hmacSigner({ secret: SECRET }), timestamp } = options;
  const signed = await signRequest({
    url,
    signer,
    event: createEvent(payload, { eventId }),
    timestamp,
  });
  const answer = await send(url, {
    method: "POST",
    headers: { ...signed.headers, ...options.headers },
    body: options.body ?? signed.body,
  });
  return { ...answer, eventId: signed.eventId };
}

interface CallOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** A request with exactly these headers: fetch would not let Host and Origin be set. */
export function send(url: string, { method = "GET", headers = {}, body }: CallOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          json: <Value>() => JSON.parse(text) as Value,
        });
      });
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/** Sends bytes as they are; what came back. */
export function answerTo(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(Number(port), hostname, () => socket.write(text));
    socket.setEncoding("latin1");
    socket.on("data", (piece) => {
      answer += piece;
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(answer));
  });
}
