import { randomUUID } from "node:crypto";
import type { Request, RequestHandler } from "express";
import type { OtelTracer } from "hookproof/node";
import type { Operation } from "./api/operations.js";
import { dropped, harmless } from "./harmless.js";
import type { ServiceLog } from "./log.js";

type OtelSpan = ReturnType<OtelTracer["startSpan"]>;

/** Of OpenTelemetry's SpanKind and SpanStatusCode. */
const KIND_SERVER = 1;
const STATUS_ERROR = 2;

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
    const span = spanOf(req, tracer);
    res.once("close", () => {
      const operation = res.locals.operation as Operation | undefined;
      const status = res.writableFinished ? res.statusCode : 0;
      log?.info(
        {
          requestId,
          method: req.method,
          path: req.path,
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
