import { createHmac, randomUUID } from "node:crypto";
import { fixedClock } from "hookproof/testing";
import {
  type HandledRequest,
  type LocalListener,
  type ServerOptions,
  startListeners,
} from "hookproof-service";
import { expect } from "vitest";
import { type Answer, exchange, type Line, requestBytes } from "./raw-http.js";

/** The time at every server here: 2026-01-01T00:00:00Z. */
export const NOW = 1_767_225_600;
export const clock = fixedClock(NOW * 1000);

export const BASE_URL = "https://tenant.example.com";
export const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
export const OTHER_SECRET = "HR4fAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxw";

/** A server under attack, and what became of the requests to it. */
export interface Target {
  readonly port: number;
  /** How often an automation ran, in all or for one event id. */
  runs(eventId?: string): number;
  /** Every request that reached a listener, as the operator sees it. */
  readonly handled: readonly HandledRequest[];
  stop(): Promise<void>;
}

/** Starts the real server with these listeners and counts what runs. */
export async function startTarget(
  setups: readonly LocalListener[],
  options: ServerOptions = {},
): Promise<Target> {
  const ran: string[] = [];
  const handled: HandledRequest[] = [];
  const listeners = setups.map(
    (setup): LocalListener => ({
      clock,
      ...setup,
      run: async (event, reservation, request) => {
        ran.push(event.id);
        await setup.run?.(event, reservation, request);
      },
    }),
  );
  const server = await startListeners({
    listeners: () => listeners,
    onHandled: (request) => handled.push(request),
    ...options,
  });
  return {
    port: server.port,
    runs: (eventId) => (eventId === undefined ? ran : ran.filter((id) => id === eventId)).length,
    handled,
    stop: () => server.stop(),
  };
}

/** An HMAC listener of the tenant. */
export function hmacListener(
  id: string,
  setup: Omit<LocalListener, "listener"> & { secret?: string } = {},
): LocalListener {
  const { secret = SECRET, ...rest } = setup;
  return { listener: { id, baseUrl: BASE_URL, auth: { method: "hmac", secret } }, ...rest };
}

/** The path of a listener. */
export function pathOf(listenerId: string): string {
  return `/api/v1/webhooks/incoming/${listenerId}`;
}

/** What a request is made of; every part can be replaced before it is sent. */
export interface Parts {
  method: string;
  target: string;
  version: string;
  eventId: string;
  headers: Line[];
  body: Uint8Array;
}

/** The parts of a request with the headers every webhook has, and no credential. */
export function unsignedParts(
  listenerId: string,
  {
    timestamp = String(NOW),
    eventId = randomUUID() as string,
    body = '{"type":"user.offboarded"}' as string | Uint8Array,
  },
): Parts {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  return {
    method: "POST",
    target: pathOf(listenerId),
    version: "HTTP/1.1",
    eventId,
    headers: [
      ["Host", "127.0.0.1"],
      ["Webhook-Timestamp", timestamp],
      ["Webhook-Event-Id", eventId],
      ["Content-Type", "application/json"],
      ["Content-Length", String(bytes.length)],
      ["Connection", "close"],
    ],
    body: bytes,
  };
}

/** The parts of a correctly signed HMAC request, by `node:crypto` and not by our own signer. */
export function hmacParts(
  listenerId: string,
  options: {
    timestamp?: string;
    eventId?: string;
    body?: string | Uint8Array;
    secret?: string | Uint8Array;
  } = {},
): Parts {
  const { secret = SECRET, ...rest } = options;
  const parts = unsignedParts(listenerId, rest);
  const timestamp = rest.timestamp ?? String(NOW);
  const signature = hmac(secret, `${timestamp}.${parts.eventId}.`, parts.body);
  parts.headers.push(["Webhook-Signature", signature]);
  return parts;
}

/** HMAC-SHA256 in base64url without padding; texts count as the bytes they have on the wire. */
export function hmac(secret: string | Uint8Array, head: string, body: Uint8Array): string {
  return createHmac("sha256", secret).update(Buffer.from(head, "latin1")).update(body).digest("base64url");
}

/** The headers without some of them, looked up without case. */
export function without(headers: readonly Line[], ...names: string[]): Line[] {
  const gone = names.map((name) => name.toLowerCase());
  return headers.filter(([name]) => !gone.includes(name.toLowerCase()));
}

/** The headers with the value of one replaced, in its place. */
export function replaced(headers: readonly Line[], name: string, value: string): Line[] {
  return headers.map(
    (line): Line => (line[0].toLowerCase() === name.toLowerCase() ? [line[0], value] : line),
  );
}

/** Sends parts over a socket of their own and reads the one answer. */
export function send(target: Target, parts: Parts, localAddress?: string): Promise<Answer> {
  return exchange(target.port, requestBytes(parts), localAddress);
}

/** Sends parts that must be refused with this status and code, and must not run anything. */
export async function expectRefusal(
  target: Target,
  parts: Parts,
  status: number,
  code: string,
): Promise<void> {
  const before = target.runs();
  const answer = await send(target, parts);
  expect({ status: answer.status, code: answer.code }).toEqual({ status, code });
  expect(target.runs()).toBe(before);
}

/** Sends parts that must be accepted and run exactly once. */
export async function expectAccepted(target: Target, parts: Parts): Promise<void> {
  const before = target.runs();
  const answer = await send(target, parts);
  expect({ status: answer.status, body: answer.body }).toEqual({ status: 200, body: "{}" });
  expect(target.runs()).toBe(before + 1);
}
