import type { IncomingMessage, ServerResponse } from "node:http";

/** The receiver that would have answered. */
type Receive = (request: IncomingMessage, response: ServerResponse) => unknown;
/** Answers in the receiver's place, or hinders its answer. */
export type Failure = (request: IncomingMessage, response: ServerResponse, receive: Receive) => unknown;

/** Takes the event for good, and then hinders the answer. */
const afterAccepting =
  (hinder: (response: ServerResponse) => unknown): Failure =>
  async (request, response, receive) => {
    const { end } = response;
    response.end = () => {
      response.end = end;
      hinder(response);
      return response;
    };
    await receive(request, response);
  };

const refusing =
  (status: number, headers: Record<string, string> = {}): Failure =>
  (request, response) => {
    request.resume();
    response.writeHead(status, headers).end();
  };

/** Refuses a good signature, but no event twice in a row. */
function alternating401(): Failure {
  const refused = new Set<unknown>();
  return async (request, response, receive) => {
    const id = request.headers["webhook-event-id"];
    if (refused.delete(id)) return receive(request, response);
    refused.add(id);
    return refusing(401)(request, response, receive);
  };
}

const endless = (response: ServerResponse): void => {
  const write = () => {
    while (!response.destroyed && response.write("x".repeat(8_192)));
  };
  response.on("drain", write);
  write();
};

/** Every way in which a receiver fails that an event can survive. */
export const FAILURES: Record<string, Failure> = {
  "500": refusing(500),
  "502 with a Date ten years off": refusing(502, { Date: "Thu, 01 Jan 2037 00:00:00 GMT" }),
  "503 with Retry-After: 1e12": refusing(503, { "Retry-After": "1e12" }),
  "503 with Retry-After of an hour": refusing(503, { "Retry-After": "3600" }),
  "429 with Retry-After of a day": refusing(429, { "Retry-After": "86400" }),
  "alternating 401": alternating401(),
  "reset before reading": (request) => request.socket.resetAndDestroy(),
  "closed before reading": (request) => request.socket.destroy(),
  "reset after reading": (request) => void request.resume().on("end", () => request.socket.resetAndDestroy()),
  "no answer": (request) => void request.resume(),
  "endless headers": (request) => {
    request.resume();
    const { socket } = request;
    socket.write("HTTP/1.1 200 OK\r\n");
    const write = () => {
      while (!socket.destroyed && socket.write(`X-Filler: ${"y".repeat(1_000)}\r\n`));
    };
    socket.on("drain", write);
    write();
  },
  "not HTTP": (request) => {
    request.resume();
    request.socket.end("what?\r\n\r\n");
  },
  "accepted, then reset": afterAccepting((response) => response.socket?.resetAndDestroy()),
  "accepted, then no answer": afterAccepting(() => {}),
  "accepted, then an answer cut off": afterAccepting((response) => {
    // A receiver may have written its header before it ended the answer.
    if (!response.headersSent) response.writeHead(200, { "Content-Length": "100" });
    response.write("{");
    setImmediate(() => response.destroy());
  }),
  "accepted, with an endless body": afterAccepting(endless),
  "accepted, answered too late": afterAccepting((response) => {
    setTimeout(() => response.destroyed || response.end(), 400);
  }),
};
