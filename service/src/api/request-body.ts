// Reads a request's body as text and as JSON, within its limit.
import type { Request } from "express";
import { receivedRequest } from "hookproof/node";
import { ApiError, invalidField } from "./errors.js";
import { badRequest } from "./validation.js";
import { halfPairs, isDeeper } from "./well-formed.js";

const MAX_BYTES = 1024 * 1024;
/** What is kept is written as JSON again, by a function that calls itself. */
const MAX_LEVELS = 500;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The body of a request as text; what is more than 1 MiB is not waited for.
 *
 * @throws {ApiError} 413; 415 if it is encoded, or not in UTF-8; 400 if it broke off
 */
export async function readText(req: Request): Promise<string> {
  const { "content-encoding": encoding = "identity", "content-type": type = "" } = req.headers;
  const charset = /;\s*charset="?([^\s";]+)/i.exec(type)?.[1] ?? "utf-8";
  if (encoding !== "identity" || !/^utf-?8$/i.test(charset)) {
    throw new ApiError("media-type", "The body must be in UTF-8, and not encoded.");
  }
  if (Number(req.headers["content-length"]) > MAX_BYTES) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of receivedRequest(req).body) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) throw tooLarge();
      chunks.push(chunk);
    }
    return utf8.decode(Buffer.concat(chunks));
  } catch (error) {
    throw error instanceof ApiError ? error : invalidField("body", "ended early, or is not UTF-8");
  }
}

/**
 * The JSON body of a request; nothing counts as `{}`.
 *
 * @throws {ApiError} as `readText`; 415 for another media type; 400 if it is not JSON
 */
export async function readJson(req: Request): Promise<unknown> {
  const text = await readText(req);
  if (text === "") return {};
  if (!req.is("json")) throw new ApiError("media-type", "The body must be application/json.");
  return parseJson(text);
}

/**
 * @throws {ApiError} 400 for what is no JSON or nested too deep, and for half of a surrogate pair, which no UTF-8 can hold
 */
export function parseJson(text: string): unknown {
  const value = parsed(text);
  if (isDeeper(MAX_LEVELS, value)) throw invalidField("body", `is nested deeper than ${MAX_LEVELS} levels`);
  // Only an escape can write half of a pair: the bytes were read as UTF-8.
  const halves = /\\u[dD][89a-fA-F]/.test(text) ? halfPairs(value, "body") : [];
  if (halves.length > 0) throw badRequest(halves);
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidField("body", "is not valid JSON");
  }
}

function tooLarge(): ApiError {
  return new ApiError("too-large", "The body is larger than 1 MiB.");
}
