// Reads captured requests that are JSON: what browsers, tunnels, gateways and this command itself export.
import type { HeaderPair } from "hookproof";
import { usageError } from "../failure.js";
import { countOf } from "../output.js";
import { bodyBytes, fromBase64 } from "./body-bytes.js";
import { type CapturedRequest, judged, parseHeaderLines, parseRawRequest } from "./raw-request.js";

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
  const names = Object.keys(value ?? {}).map((name) => name.toLowerCase());
  if (names.some((name) => /^(?:webhook-|svix-|content-type$|authorization$)/.test(name)))
    throw usageError(
      names.includes("body")
        ? "This JSON has the headers of a request among its members, and its body parsed: the bytes that were sent are lost."
        : "This JSON is headers alone.",
      "Give headers and body separately, with --headers @file and --body @file.",
    );
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
  charlesRequest,
  (value) => {
    const request = objectOf(value.request);
    return (
      request &&
      (ngrokRequest(request) ?? (typeof request.url === "string" ? harRequest(request) : undefined))
    );
  },
  edgeEvent,
  recordedRequest,
  wrappedRequest,
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
  // Charles has method and path next to the request, others in it.
  const inner = (one: JsonObject): JsonObject => ({ ...one, ...objectOf(one.request) });
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
  const isLost = !text && typeof bodySize === "number" && bodySize > 0;
  const isCut = !isLost && typeof bodySize === "number" && bodySize > body.length;
  return {
    method,
    target: url,
    // HTTP/2 has pseudo headers, which are not header lines.
    headers: pairsOf(request.headers).filter(([name]) => !name.startsWith(":")),
    body,
    ...(isLost ? { lacksBody: "the HAR file has no content of the body: it was exported without" } : {}),
    ...(isCut
      ? { doubt: `by bodySize it has ${countOf(bodySize, "byte")}, and the HAR file ${body.length}` }
      : {}),
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

/**
 * A list of requests: of webhook.site's API in `data`, of ngrok's in `requests`, of Insomnia in `resources`, of VCR's
 * cassettes in `interactions`, of Ruby's in `http_interactions`.
 */
function listOfRequests(value: JsonObject): CapturedRequest | undefined {
  const { data, requests, resources, interactions, http_interactions: ofRuby } = value;
  // Insomnia's export has more than requests.
  const list = [data, requests, resources, interactions, ofRuby].find(Array.isArray);
  if (!Array.isArray(list)) return undefined;
  const last = lastEvent(list.map(objectOf));
  const request = objectOf(last.request);
  return (request && (ngrokRequest(request) ?? recordedRequest(request))) ?? recordedRequest(last);
}

/** A request of Charles' JSON session, with the lines of its head and the body as a text or in base64. */
function charlesRequest(value: JsonObject): CapturedRequest | undefined {
  const request = objectOf(value.request);
  const header = objectOf(request?.header);
  if (typeof header?.firstLine !== "string") return undefined;
  const { text, encoded } = objectOf(request?.body) ?? {};
  const query = plain(value.query);
  return {
    method: plain(value.method),
    target: `${plain(value.path)}${query === "" ? "" : `?${query}`}`,
    headers: pairsOf(header.headers).filter(([name]) => !name.startsWith(":")),
    ...bodyBytes(encoded ?? text ?? "", encoded !== undefined),
  };
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

/** The members that hold a body, those with its very text first. */
const BODIES = ["content", "rawBody", "raw_body", "bodyRaw", "body_raw", "rawModeData", "body"] as const;

/** A request as webhook.site and many logs keep it: a method, headers, and a body that is a text or bytes. */
function recordedRequest(value: JsonObject): CapturedRequest | undefined {
  const headers = value.headers ?? value.rawHeaders;
  if ((typeof headers !== "object" || headers === null) && typeof headers !== "string") return undefined;
  const found = BODIES.map((name) => value[name]).find((one) => one !== undefined && one !== null);
  const { text, string, base64_string: inBase64 } = objectOf(found) ?? {};
  const body = text ?? string ?? inBase64 ?? found;
  const target = [value.url, value.originalUrl, value.uri, value.path].find((one) => typeof one === "string");
  const head = {
    method: plain(value.method ?? value.httpMethod ?? "POST").toUpperCase(),
    target: typeof target === "string" ? target : "/",
    headers: pairsOf(headers),
  };
  if (body === undefined)
    return { ...head, body: Buffer.alloc(0), lacksBody: "the JSON has no member with a body" };
  if (typeof body !== "string" && typeof body !== "object") return undefined;
  return { ...head, ...bodyBytes(body, value.isBase64Encoded === true || body === inBase64) };
}

/** A request inside of what a service keeps of it, such as Pipedream's and Hookdeck's events. */
function wrappedRequest(value: JsonObject): CapturedRequest | undefined {
  const inner = [value.event, value.data, value.request, value.payload]
    .map(objectOf)
    .find((one) => objectOf(one?.headers) !== undefined);
  return inner && recordedRequest(inner);
}

/** An event of Lambda at CloudFront. */
function edgeEvent({ Records: records }: JsonObject): CapturedRequest | undefined {
  const [first] = Array.isArray(records) ? records : [];
  const request = objectOf(objectOf(objectOf(first)?.cf)?.request);
  if (request === undefined) return undefined;
  const body = objectOf(request.body);
  const query = plain(request.querystring);
  const isCut = body?.inputTruncated === true;
  return {
    method: plain(request.method),
    target: `${plain(request.uri)}${query === "" ? "" : `?${query}`}`,
    headers: pairsOf(request.headers),
    ...bodyBytes(body?.data ?? "", body?.encoding === "base64"),
    ...(body === undefined ? { lacksBody: "the trigger does not include the body" } : {}),
    ...(isCut ? { doubt: "CloudFront has cut it" } : {}),
  };
}

/** A collection of Postman; the last POST to a listener in it counts. */
function postmanCollection({ collection, info, item }: JsonObject): CapturedRequest | undefined {
  const wrapped = objectOf(collection);
  if (wrapped !== undefined) return postmanCollection(wrapped);
  if (!Array.isArray(item) || !plain(objectOf(info)?.schema).includes("postman.com")) return undefined;
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

/**
 * Headers as lines, as pairs, as Node's flat list, as `{name, value}` or `{key, value}`, or as an object, whose values may be
 * lists. Names as CGI has them become those of the headers.
 */
function pairsOf(headers: unknown): HeaderPair[] {
  if (typeof headers === "string")
    return /^\s*[{[]/.test(headers) ? pairsOf(inJson(headers)) : parseHeaderLines(headers.split(/\r?\n/));
  const pairs = Array.isArray(headers) ? pairsOfList(headers) : pairsOfObject(headers);
  const isCgi = pairs.some(([name]) => /^HTTP_[A-Z0-9_]+$/.test(name));
  return isCgi ? pairs.map(([name, value]) => [ofCgi(name), value]) : pairs;
}

function inJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unknownHeaders();
  }
}

function pairsOfList(list: readonly unknown[]): HeaderPair[] {
  const texts = list.filter((one) => typeof one === "string");
  if (texts.length === list.length) {
    if (texts.every((text) => /^[^\s:]+:/.test(text))) return parseHeaderLines(texts);
    if (texts.length % 2 === 1) throw unknownHeaders();
    return texts.flatMap((name, at): HeaderPair[] => (at % 2 === 0 ? [[name, texts[at + 1] ?? ""]] : []));
  }
  return list.map((one): HeaderPair => {
    const found = Array.isArray(one) ? { name: one[0], value: one[1] } : (objectOf(one) ?? {});
    const members = Object.fromEntries(
      Object.entries(found).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const name = members.name ?? members.key;
    if (typeof name !== "string") throw unknownHeaders();
    return [name, plainHeader(members.value)];
  });
}

function pairsOfObject(headers: unknown): HeaderPair[] {
  return Object.entries(objectOf(headers) ?? {}).flatMap(([name, value]) =>
    [value].flat().flatMap((one): HeaderPair[] => {
      // CloudFront has a list of { key, value } for each name.
      const text = objectOf(one)?.value ?? one;
      return text === null || text === undefined ? [] : [[name, plainHeader(text)]];
    }),
  );
}

function plainHeader(value: unknown): string {
  if (typeof value === "object" && value !== null) throw unknownHeaders();
  return plain(value);
}

function ofCgi(name: string): string {
  const bare =
    /^HTTP_([A-Z0-9_]+)$/.exec(name)?.[1] ?? (/^CONTENT_(?:TYPE|LENGTH)$/.test(name) ? name : undefined);
  return bare === undefined ? name : bare.replaceAll("_", "-");
}

function unknownHeaders(): Error {
  return usageError(
    "The headers in this capture are in a form that is not known.",
    'They may be an object, a list of pairs, of { name, value } or of "Name: value", or Node\'s rawHeaders.',
  );
}

/** Headers that are JSON. */
export function headersInText(text: string): HeaderPair[] {
  return pairsOf(inJson(text));
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
