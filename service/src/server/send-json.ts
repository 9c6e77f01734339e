// Sends JSON, and challenges for a bearer token.
import type { Request, Response } from "express";
import { sendAnswer } from "hookproof/node";
import type { ApiError } from "../api/errors.js";

/** Sends JSON, a text as it is; what is left of the request's body is not waited for. */
export function sendJson(status: number, body: object | string, req: Request, res: Response): void {
  const headers = [["Content-Type", "application/json; charset=utf-8"]] as const;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  res.locals.answer = body;
  // RFC 9110 sections 15.3.5 and 15.4.5: neither has content.
  sendAnswer({ status, headers, body: status === 204 || status === 304 ? "" : text }, req, res);
}

/** What a caller is asked to prove itself with (RFC 6750 section 3). */
export function bearerChallenge(error: ApiError["challenge"]): string {
  return `Bearer realm="${REALM}"${error === undefined ? "" : `, error="${error}"`}`;
}

/** The protection space of the service (RFC 9110 section 11.5): all of it. */
export const REALM = "access-governance";
