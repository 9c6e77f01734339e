// Observes requests: an id for each, their log lines, spans and journal.
import { randomUUID } from "node:crypto";
import type { Request, RequestHandler } from "express";
import type { Clock } from "hookproof";
import type { OtelTracer } from "hookproof/otel";
import type { Operation } from "../api/operations.js";
import { dropped, harmless } from "./harmless.js";
import type { ServiceLog } from "./log.js";
import type { RequestJournal } from "./request-journal.js";

type OtelSpan = ReturnType<OtelTracer["startSpan"]>;

/** Of OpenTelemetry's SpanKind and SpanStatusCode. */
const KIND_SERVER = 1;
const STATUS_ERROR = 2;

/** Keeps every request for an operation, but those of the remote control. */
export function journalRequests(journal: RequestJournal, clock: Clock): RequestHandler {
  return (req, res, next) => {
    const { method, path, query } = req;
    const time = clock.now();
    let isKept = false;
    const keep = () => {
      const { operation, requestId, body, isFault = false } = res.locals as Partial<Answered>;
      if (isKept || operation === undefined || requestId === undefined || operation.isControl) return;
      isKept = true;
      const status = res.writableEnded ? res.statusCode : 0;
      journal.add({ requestId, time, operation: operation.id, method, path, query, body, status, isFault });
    };
    res.once("finish", keep);
    res.once("close", keep);
    next();
  };
}

/** What a request's handlers leave behind. */
interface Answered {
  readonly operation: Operation;
  readonly requestId: string;
  readonly body: unknown;
  readonly isFault: boolean;
}

/** The answer's `Date` by the service's clock: a sender corrects its own by it (RFC 9110 section 6.6.1). */
export function dateAnswers(clock: Clock): RequestHandler {
  return (_req, res, next) => {
    res.setHeader("Date", new Date(clock.now()).toUTCString());
    next();
  };
}

/**
 * Gives every request an id, the caller's own `X-Request-Id` if it is one of at most 64 plain characters; logs how
 * it was answered, and makes a span of it. Neither shows headers, query or body: a token could be in each.
 */
export function observeRequests(log: ServiceLog | undefined, tracer: OtelTracer | undefined): RequestHandler {
  return (req, res, next) => {
    const given = req.headers["x-request-id"];
    const isFit = typeof given === "string" && /^[A-Za-z0-9._-]{1,64}$/.test(given);
    const requestId: string = isFit ? given : randomUUID();
    res.locals.requestId = requestId;
    res.setHeader("X-Request-Id", requestId);
    if (!log && !tracer) return next();

    const start = performance.now();
    const { method, path } = req; // whole: a router that the request is in changes them
    const span = spanOf(req, tracer);
    res.once("close", () => {
      const operation = res.locals.operation as Operation | undefined;
      const status = res.writableFinished ? res.statusCode : 0;
      log?.info(
        {
          requestId,
          method,
          path,
          operation: operation?.id,
          status,
          durationMs: Math.round(performance.now() - start),
        },
        status === 0 ? "the connection was cut" : "answered",
      );
      if (span) endSpan(span, status, operation);
    });
    next();
  };
}

/** A span, unless the tracer fails: watching must not change what is watched. */
function spanOf({ method, path }: Request, tracer: OtelTracer | undefined): OtelSpan | undefined {
  try {
    const span = tracer?.startSpan(method, {
      kind: KIND_SERVER,
      attributes: { "http.request.method": method, "url.path": path },
    });
    dropped(span);
    return span;
  } catch {
    return undefined;
  }
}

function endSpan(span: OtelSpan, status: number, operation: Operation | undefined): void {
  const set = harmless((name: string, value: string | number) => span.setAttribute(name, value));
  if (operation) {
    set("http.route", operation.path);
    set("hookproof.operation", operation.id);
  }
  if (status > 0) set("http.response.status_code", status);
  if (status === 0 || status >= 500) harmless(() => span.setStatus({ code: STATUS_ERROR }))();
  harmless(() => span.end())();
}
