// Reads captured requests that are JSON: what browsers, tunnels, gateways and this command itself export.
import type { HeaderPair } from "hookproof";
import { usageError } from "../failure.js";
import { bodyBytes, fromBase64 } from "./body-bytes.js";
import { type CapturedRequest, judged, parseRawRequest } from "./raw-request.js";

/**
 * Reads a captured request that is JSON, in any of the forms of `READERS`. Of several requests the last POST to a
 * listener counts.
 */
export function parseCapturedJson(text: string): CapturedRequest {
  return requestFrom(valueIn(text));
}

/** The request in a value that was JSON, or the last of a list. */
export function requestFrom(given: unknown): CapturedRequest {
  const value = Array.isArray(given) ? lastEvent(given.map(objectOf)) : objectOf(given);
  for (const reader of READERS) {
    const found = value && reader(value);
    if (found) return judged(found);
  }
  throw usageError(
    "This JSON is none of the captures that can be read.",
    "hookproof help verify lists them. Or give the parts separately with --headers @file and --body @file.",
  );
}

type JsonObject = Readonly<Record<string, unknown>>;
type Reader = (value: JsonObject) => CapturedRequest | undefined;

/** Each tells its form by members that no other has. */
const READERS: readonly Reader[] = [
  harFile,
  postmanCollection,
  listOfRequests,
  exportedEvent,
  gatewayEvent,
  (value) => {
    const request = objectOf(value.request);
    return (
      request &&
      (ngrokRequest(request) ?? (typeof request.url === "string" ? harRequest(request) : undefined))
    );
  },
  recordedRequest,
];

function valueIn(text: string): unknown {
  const lines = text.split("\n");
  if (lines.length === 1 || !lines.every(isWhole)) return JSON.parse(text);
  return lines.map((line) => JSON.parse(line));
}

function isWhole(line: string): boolean {
  return line.startsWith("{") && line.endsWith("}");
}

function lastEvent(requests: readonly (JsonObject | undefined)[]): JsonObject {
  const known = requests.filter((request) => request !== undefined);
  const methodOf = ({ method, httpMethod }: JsonObject) => method ?? httpMethod;
  const urlOf = (one: JsonObject) => one.url ?? one.uri ?? one.path ?? one.rawPath;
  const inner = (one: JsonObject) => objectOf(one.request) ?? one;
  const found =
    known.findLast((one) => {
      const url = urlOf(inner(one));
      const text = typeof url === "string" ? url : plain(objectOf(url)?.raw);
      return /\/webhooks\/incoming\//.test(text) && methodOf(inner(one)) === "POST";
    }) ??
    known.findLast((one) => methodOf(inner(one)) === "POST") ??
    known.at(-1);
  if (found) return found;
  throw usageError("The file has no requests.");
}

function harFile({ log }: JsonObject): CapturedRequest | undefined {
  const entries = objectOf(log)?.entries;
  if (!Array.isArray(entries)) return undefined;
  return harRequest(lastEvent(entries.map((entry) => objectOf(objectOf(entry)?.request))));
}

function harRequest(request: JsonObject): CapturedRequest {
  const { method, url, bodySize } = request;
  if (typeof method !== "string" || typeof url !== "string")
    throw usageError("The HAR entry has no method or no URL.");
  const posted = objectOf(request.postData);
  const text = typeof posted?.text === "string" ? posted.text : undefined;
  // HAR has no field for it: the inspector's is _encoding, other tools write encoding.
  const isBase64 = posted?._encoding === "base64" || posted?.encoding === "base64";
  const body = isBase64 ? fromBase64(text ?? "") : Buffer.from(text ?? "");
  const isLost = text === undefined && typeof bodySize === "number" && bodySize > 0;
  return {
    method,
    target: url,
    // HTTP/2 has pseudo headers, which are not header lines.
    headers: pairsOf(request.headers).filter(([name]) => !name.startsWith(":")),
    body,
    ...(isLost ? { lacksBody: "the HAR file has no content of the body: it was exported without" } : {}),
  };
}

function exportedEvent(value: JsonObject): CapturedRequest | undefined {
  if (typeof value.bodyBase64 !== "string" || typeof value.url !== "string") return undefined;
  return {
    // An export's method is how the request was proved.
    method: value.type === "request" ? plain(value.method) : "POST",
    target: value.url,
    headers: pairsOf(value.headers),
    body: fromBase64(typeof value.sentBase64 === "string" ? value.sentBase64 : value.bodyBase64),
  };
}

/** An answer of a list of requests: of webhook.site's API in `data`, of ngrok's in `requests`. */
function listOfRequests({ data, requests }: JsonObject): CapturedRequest | undefined {
  const list = Array.isArray(data) ? data : requests;
  if (!Array.isArray(list)) return undefined;
  const last = lastEvent(list.map(objectOf));
  const request = objectOf(last.request);
  return (request && ngrokRequest(request)) ?? recordedRequest(last);
}

/** A request of ngrok's inspector, which keeps the whole of it as it came. */
function ngrokRequest({ raw, uri }: JsonObject): CapturedRequest | undefined {
  if (typeof raw !== "string" || typeof uri !== "string") return undefined;
  return parseRawRequest(Buffer.from(raw, "base64"));
}

/** An event of AWS Lambda: of API Gateway (REST and HTTP), a load balancer or a function's URL. */
function gatewayEvent(value: JsonObject): CapturedRequest | undefined {
  const context = objectOf(value.requestContext);
  const http = objectOf(context?.http);
  const method = value.httpMethod ?? http?.method;
  const path = value.rawPath ?? value.path;
  if (context === undefined || typeof method !== "string" || typeof path !== "string") return undefined;
  const many = objectOf(value.multiValueHeaders);
  const query = queryOf(value);
  return {
    method,
    target: `${path}${query === "" ? "" : `?${query}`}`,
    headers: pairsOf(many && Object.keys(many).length > 0 ? many : value.headers),
    ...bodyBytes(value.body ?? "", value.isBase64Encoded === true),
  };
}

function queryOf({
  rawQueryString,
  queryStringParameters,
  multiValueQueryStringParameters,
}: JsonObject): string {
  if (typeof rawQueryString === "string") return rawQueryString;
  const values = objectOf(multiValueQueryStringParameters) ?? objectOf(queryStringParameters) ?? {};
  const pairs = Object.entries(values).flatMap(([name, value]) =>
    [value].flat().map((one) => [name, plain(one)]),
  );
  return new URLSearchParams(pairs).toString();
}

/** A request as webhook.site and many logs keep it: a method, headers, and a body that is a text or bytes. */
function recordedRequest(value: JsonObject): CapturedRequest | undefined {
  const body = value.content ?? value.rawBody ?? value.body;
  const headers = value.headers;
  if (typeof headers !== "object" || headers === null) return undefined;
  if (typeof body !== "string" && (typeof body !== "object" || body === null)) return undefined;
  const target = [value.url, value.originalUrl, value.uri, value.path].find((one) => typeof one === "string");
  return {
    method: typeof value.method === "string" ? value.method : "POST",
    target: typeof target === "string" ? target : "/",
    headers: pairsOf(headers),
    ...bodyBytes(body, value.isBase64Encoded === true),
  };
}

/** A collection of Postman; the last POST to a listener in it counts. */
function postmanCollection({ info, item }: JsonObject): CapturedRequest | undefined {
  if (!Array.isArray(item) || !plain(objectOf(info)?.schema).includes("getpostman.com")) return undefined;
  const request = lastEvent(requestsIn(item));
  const [url, body] = [request.url, objectOf(request.body)];
  if (body !== undefined && body.mode !== undefined && body.mode !== "raw")
    throw usageError(
      `The body of this Postman request is of the kind ${JSON.stringify(plain(body.mode)).slice(0, 40)}, which Postman makes when it sends.`,
      "Send it to hookproof listen, and export the request from the inspector.",
    );
  const raw = typeof body?.raw === "string" ? body.raw : "";
  const list = Array.isArray(request.header) ? request.header.map(objectOf) : [];
  const headers = list.flatMap((one): HeaderPair[] =>
    one === undefined || one.disabled === true ? [] : [[plain(one.key), plain(one.value)]],
  );
  if (headers.some(([, value]) => VARIABLE.test(value)))
    throw usageError(
      "Headers of this Postman request have variables, which a script fills when it is sent.",
      "Send it to hookproof listen, and export the request from the inspector.",
    );
  const language = objectOf(objectOf(body?.options)?.raw)?.language;
  // Postman adds it by itself, and keeps it out of the collection.
  if (language === "json" && !headers.some(([name]) => name.toLowerCase() === "content-type"))
    headers.push(["Content-Type", "application/json"]);
  return {
    method: typeof request.method === "string" ? request.method : "GET",
    target: typeof url === "string" ? url : plain(objectOf(url)?.raw),
    headers,
    body: Buffer.from(raw),
    ...(VARIABLE.test(raw) ? { doubt: "it has variables of Postman, which are filled when it is sent" } : {}),
  };
}

const VARIABLE = /\{\{[$\w-]{1,100}\}\}/;

/** The requests of a collection and of the folders in it. */
function requestsIn(items: readonly unknown[]): JsonObject[] {
  const found: JsonObject[] = [];
  const waiting = [...items].reverse();
  while (waiting.length > 0) {
    const one = objectOf(waiting.pop());
    const request = objectOf(one?.request);
    if (request) found.push(request);
    if (Array.isArray(one?.item)) for (const inner of one.item.toReversed()) waiting.push(inner);
  }
  return found;
}

/** Headers as pairs, as `{name, value}`, or as an object, whose values may be lists. */
function pairsOf(headers: unknown): HeaderPair[] {
  if (Array.isArray(headers))
    return headers.map((header) => {
      if (Array.isArray(header)) return [plain(header[0]), plain(header[1])] as const;
      const { name, value } = objectOf(header) ?? {};
      return [plain(name), plain(value)] as const;
    });
  return Object.entries(objectOf(headers) ?? {}).flatMap(([name, value]) =>
    [value].flat().map((one) => [name, plain(one)] as const),
  );
}

function objectOf(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined;
}

/** A text or a number as a text; nothing for what could be nested without end, or has a toString of its own. */
function plain(value: unknown): string {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? `${value}`
    : "";
}
