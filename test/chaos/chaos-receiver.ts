import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { heldPort, listenOnHeld } from "../kit/held-port.mjs";
import { FAILURES } from "../kit/receiver-failures.js";
import { seededRandom } from "../kit/seed.mjs";
import { lapses } from "./lapses.js";
import type { Hindrance } from "./outbox-judge.js";

const FAILING_SHARE = 0.3;
/** Failures that hinder the answer to what was taken; some of them begin with a 200. */
const ACCEPTS = /^accepted,/;
const TOLERANCE_S = 300;
/** An answer that took longer may have met a sender that had given up. */
export const IN_TIME_MS = 300;
/** An answer that was written so shortly before the receiver went down may have been lost on its way. */
const LOST_ON_THE_WAY_MS = 200;

export type ListenerName = "taking" | "refusing";

/** A request as the receiver saw it; times are `performance.now()` of the test's process. */
export interface SeenRequest {
  readonly id: string;
  readonly listener: ListenerName;
  /** The number of the dispatcher that sent it: each has a port of its own. */
  readonly dispatcher: number;
  readonly at: number;
  /** SHA-256 of the body, base64url. */
  readonly digest: string;
  /** Whether it was the one that ran the automation. */
  readonly ran: boolean;
  /** How many requests of its dispatcher were open with it, those that hung left out. */
  readonly open: number;
  /** The status that was written, if one was. */
  readonly status?: number;
  /** When the whole answer was written. */
  readonly answeredAt?: number;
  /** Whether it was answered with a `Retry-After`. */
  readonly asksToWait: boolean;
  /** Whether its sender knows that answer, if it lives. */
  readonly isKnown: boolean;
}

/**
 * The listeners `taking`, which runs each event once, and `refusing`, which refuses each for good; both fail in every
 * way there is. It forgets no event id when it is restarted. How it verifies and remembers is written here anew, and
 * not taken from the library, so that a fault of the library's receiver cannot hide one of the outbox.
 */
export interface ChaosReceiver {
  /** The listeners' URLs for each dispatcher. */
  readonly urls: readonly Readonly<Record<ListenerName, string>>[];
  readonly requests: readonly SeenRequest[];
  /** What was run, in order. */
  readonly runs: readonly { readonly id: string; readonly body: string }[];
  /** What cannot come from a sound sender: a wrong signature, or a time that is off. */
  readonly unsound: readonly string[];
  /** How often it failed in each way. */
  readonly failures: ReadonlyMap<string, number>;
  /** When this process was let do nothing, for a shorter or longer time. */
  readonly standstills: readonly Hindrance[];
  /** How late one timer in twenty is at least: what the machine leaves to its processes. */
  lagMs(): number;
  /** Breaks every connection, and is not there for a while. */
  goDown(ms: number): Promise<void>;
  stop(): Promise<void>;
}

type Open = { -readonly [Field in keyof SeenRequest]: SeenRequest[Field] };

export async function chaosReceiver(
  secret: string,
  clock: { now(): number },
  dispatchers: number,
  hangsAfterMs: number,
): Promise<ChaosReceiver> {
  const ways = Object.entries(FAILURES);
  const random = seededRandom("receiver");
  const failures = new Map(ways.map(([way]) => [way, 0]));
  const requests: Open[] = [];
  const runs: { id: string; body: string }[] = [];
  const unsound: string[] = [];
  const lapse = lapses();
  const taken = new Set<string>();
  const open = Array.from({ length: dispatchers }, () => new Set<Open>());
  // Of those that no connection is given, so that they are free when it is restarted.
  let servers = await Promise.all(open.map(async (_, dispatcher) => listen(await heldPort(), dispatcher)));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);

  /** Verifies a request, and answers as the listener does when it does not fail. */
  async function receive(seen: Open, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    seen.digest = createHash("sha256").update(body).digest("base64url");
    const { "webhook-timestamp": time = "", "webhook-signature": signature = "" } = request.headers;
    const input = Buffer.concat([Buffer.from(`${time}.${seen.id}.`), body]);
    const answer = (status: number, text: string) => {
      response.statusCode = status;
      response.setHeader("Date", new Date(clock.now()).toUTCString());
      response.end(text); // which the failure may have replaced
    };
    if (!isEqual(createHmac("sha256", secret).update(input).digest("base64url"), String(signature))) {
      unsound.push(`${seen.id}: wrong signature`);
      return answer(401, '{"code":"WRONG_SIGNATURE"}');
    }
    if (Math.abs(clock.now() / 1000 - Number(time)) > TOLERANCE_S) {
      unsound.push(`${seen.id}: signed ${Math.round(clock.now() / 1000 - Number(time))} s ago`);
      return answer(400, '{"code":"WRONG_TIME"}');
    }
    if (seen.listener === "refusing") return answer(422, '{"code":"NOT_WANTED"}');
    if (taken.has(seen.id)) return answer(409, '{"code":"ALREADY_TAKEN"}');
    taken.add(seen.id);
    seen.ran = true;
    runs.push({ id: seen.id, body: body.toString() });
    answer(200, "{}");
  }

  async function handle(dispatcher: number, request: IncomingMessage, response: ServerResponse) {
    const at = performance.now();
    const others = open[dispatcher] ?? new Set<Open>();
    const seen: Open = {
      id: String(request.headers["webhook-event-id"]),
      listener: request.url?.endsWith("lst_refusing") ? "refusing" : "taking",
      dispatcher,
      at,
      digest: "",
      ran: false,
      open: 1 + [...others].filter((one) => at - one.at < hangsAfterMs).length,
      asksToWait: false,
      isKnown: false,
    };
    requests.push(seen);
    others.add(seen);
    const possible = seen.listener === "refusing" ? ways.filter(([way]) => !ACCEPTS.test(way)) : ways;
    const chosen = random() < FAILING_SHARE ? possible[Math.floor(random() * possible.length)] : undefined;
    const { end } = response;
    let endedAt = 0;
    response.end = (...given: unknown[]) => {
      endedAt = performance.now(); // before the sender can know
      return end.apply(response, given as never);
    };
    response.on("close", () => {
      others.delete(seen);
      if (response.headersSent) seen.status = response.statusCode;
    });
    response.on("finish", () => {
      seen.status = response.statusCode;
      seen.answeredAt = endedAt;
      seen.asksToWait = /Retry-After of/.test(chosen?.[0] ?? "");
      const isInTime = performance.now() - seen.at < IN_TIME_MS;
      seen.isKnown = !ACCEPTS.test(chosen?.[0] ?? "") && isInTime && lapse.isOver(seen.at);
    });
    const answering = (incoming: IncomingMessage, outgoing: ServerResponse) =>
      receive(seen, incoming, outgoing).catch(() => {}); // the sender has gone
    if (!chosen) return answering(request, response);
    failures.set(chosen[0], (failures.get(chosen[0]) ?? 0) + 1);
    await chosen[1](request, response, answering);
  }

  async function listen(port: number, dispatcher: number): Promise<Server> {
    const next = createServer((request, response) => handle(dispatcher, request, response));
    next.on("connection", (socket) => socket.on("error", () => {}));
    await listenOnHeld(next, port);
    return next;
  }

  async function close(): Promise<void> {
    const since = performance.now() - LOST_ON_THE_WAY_MS;
    for (const one of requests) if (one.at >= since || (one.answeredAt ?? 0) >= since) one.isKnown = false;
    await Promise.all(
      servers.map(async (server) => {
        const closed = once(server, "close");
        server.close();
        server.closeAllConnections();
        await closed;
      }),
    );
  }

  const url = (port: number, name: ListenerName) =>
    `http://127.0.0.1:${port}/api/v1/webhooks/incoming/lst_${name}`;
  return {
    urls: ports.map((port) => ({ taking: url(port, "taking"), refusing: url(port, "refusing") })),
    requests,
    runs,
    unsound,
    failures,
    standstills: lapse.standstills,
    lagMs: lapse.lagMs,
    async goDown(ms) {
      await close();
      await new Promise((resolve) => setTimeout(resolve, ms));
      servers = await Promise.all(ports.map(listen));
    },
    stop() {
      lapse.stop();
      return close();
    },
  };
}

function isEqual(wanted: string, given: string): boolean {
  return wanted.length === given.length && timingSafeEqual(Buffer.from(wanted), Buffer.from(given));
}
