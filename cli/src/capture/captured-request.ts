// Reads a captured request in whatever form it is kept in.
import type { HeaderPair } from "hookproof";
import { usageError } from "../failure.js";
import { parseCurl } from "./curl.js";
import { type CapturedRequest, parseRawRequest } from "./raw-request.js";

/** Reads a captured request in whatever form it is: raw HTTP, HAR, an exported event, or a curl command. */
export function parseCaptured(bytes: Buffer): CapturedRequest {
  const start = bytes.subarray(0, 64).toString("utf8").trimStart();
  if (/^(?:\$\s+)?curl(?:\.exe)?\s/.test(start)) return parseCurl(bytes.toString("utf8"));
  if (!start.startsWith("{")) return parseRawRequest(bytes);
  const text = bytes.toString("utf8").trim();
  try {
    return parseCapturedJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw usageError(
      "This is neither a raw HTTP request nor complete JSON.",
      "Give the parts separately with --headers @file and --body @file.",
    );
  }
}

/**
 * Reads a captured request that is JSON: a HAR file or one of its entries, an event of `events export`, or what
 * the inspector exports, a line a request. Of several requests the last POST to a listener counts.
 */
export function parseCapturedJson(text: string): CapturedRequest {
  const value = requestIn(text);
  const log = objectOf(value?.log);
  const entries = Array.isArray(log?.entries) ? log.entries.map(objectOf) : undefined;
  if (entries) return harRequest(lastEvent(entries.map((entry) => objectOf(entry?.request))));
  const request = objectOf(value?.request);
  if (request) return harRequest(request);
  if (typeof value?.bodyBase64 === "string" && typeof value.url === "string")
    return {
      // An export's method is how the request was proved.
      method: value.type === "request" ? String(value.method) : "POST",
      target: value.url,
      headers: pairsOf(value.headers),
      body: Buffer.from(typeof value.sentBase64 === "string" ? value.sentBase64 : value.bodyBase64, "base64"),
    };
  throw usageError(
    "This JSON is neither a HAR file nor an exported event.",
    "Give the parts separately with --headers @file and --body @file.",
  );
}

type JsonObject = Readonly<Record<string, unknown>>;

function requestIn(text: string): JsonObject | undefined {
  const lines = text.split("\n");
  if (lines.length === 1 || !lines.every(isWhole)) return objectOf(JSON.parse(text));
  return lastEvent(lines.map((line) => objectOf(JSON.parse(line))));
}

function isWhole(line: string): boolean {
  return line.startsWith("{") && line.endsWith("}");
}

function lastEvent(requests: readonly (JsonObject | undefined)[]): JsonObject {
  const found =
    requests.findLast(
      (request) => /\/webhooks\/incoming\//.test(String(request?.url)) && request?.method === "POST",
    ) ?? requests.at(-1);
  if (found) return found;
  throw usageError("The HAR file has no requests.");
}

function harRequest(request: JsonObject): CapturedRequest {
  const { method, url } = request;
  if (typeof method !== "string" || typeof url !== "string")
    throw usageError("The HAR entry has no method or no URL.");
  const posted = objectOf(request.postData);
  const text = typeof posted?.text === "string" ? posted.text : "";
  // HAR has no field for it: the inspector's is _encoding, other tools write encoding.
  const isBase64 = posted?._encoding === "base64" || posted?.encoding === "base64";
  return {
    method,
    target: url,
    // HTTP/2 has pseudo headers, which are not header lines.
    headers: pairsOf(request.headers).filter(([name]) => !name.startsWith(":")),
    body: Buffer.from(text, isBase64 ? "base64" : "utf8"),
  };
}

/** Headers as pairs, as `{name, value}`, or as an object. */
function pairsOf(headers: unknown): HeaderPair[] {
  if (Array.isArray(headers))
    return headers.map((header) => {
      if (Array.isArray(header)) return [String(header[0]), String(header[1])] as const;
      const { name, value } = objectOf(header) ?? {};
      return [String(name), String(value)] as const;
    });
  return Object.entries(objectOf(headers) ?? {}).map(([name, value]) => [name, String(value)] as const);
}

function objectOf(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined;
}
