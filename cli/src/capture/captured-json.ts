// Reads captured requests that are JSON: what browsers, tunnels, gateways and this command itself export.
import type { HeaderPair } from "hookproof";
import { usageError } from "../failure.js";
import { countOf } from "../output.js";
import { bodyBytes, fromBase64 } from "./body-bytes.js";
import { type JsonObject, objectOf, pairsOf, plain } from "./header-pairs.js";
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
      (ngrokRequest(request) ?? (isOfHar(request) ? harRequest(request) : recordedRequest(request)))
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
  const urlOf = (one: JsonObject) => one.url ?? one.endpoint ?? one.uri ?? one.path ?? one.rawPath;
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

/** Whether a request has members that HAR alone has; error trackers and gateways keep a url and headers as well. */
function isOfHar({ url, headers, postData, bodySize }: JsonObject): boolean {
  return typeof url === "string" && Array.isArray(headers) && (postData ?? bodySize) !== undefined;
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
  // -1 and none at all say that it is not known; what was sent without a body has 0.
  const isLost = !text && bodySize !== 0 && method !== "GET";
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
 * cassettes in `interactions`, of Ruby's in `http_interactions`; of Bruno's export in `items` and the folders in them.
 */
function listOfRequests(value: JsonObject): CapturedRequest | undefined {
  const { data, requests, resources, interactions, http_interactions: ofRuby, items } = value;
  if (Array.isArray(items)) return recordedRequest(lastEvent(requestsIn(items)));
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

/** The member of a body that has its text, in the tools that keep its kind next to it. */
function textIn(body: JsonObject): unknown {
  const { text, string, base64_string: inBase64, rawBytes, mode, contentType, type } = body;
  const ofClient = typeof mode === "string" ? body[mode] : contentType === undefined ? undefined : body.body;
  const ofThunder = type === undefined ? undefined : body.raw;
  return [text, string, inBase64, rawBytes, ofClient, ofThunder].find((one) => typeof one === "string");
}

/** A request as webhook.site and many logs keep it: a method, headers, and a body that is a text or bytes. */
function recordedRequest(given: JsonObject): CapturedRequest | undefined {
  const value = inSmall(given);
  const headers = value.headers ?? value.rawHeaders ?? value.reqheaders;
  if ((typeof headers !== "object" || headers === null) && typeof headers !== "string") return undefined;
  const found = BODIES.map((name) => value[name]).find((one) => one !== undefined && one !== null);
  const { base64_string: inBase64, rawBytes } = objectOf(found) ?? {};
  const body = textIn(objectOf(found) ?? {}) ?? found;
  const targets = [value.url, value.originalUrl, value.endpoint, value.uri, value.path];
  const target = targets.find((one) => typeof one === "string");
  const head = {
    method: plain(value.method ?? value.httpMethod ?? "POST").toUpperCase(),
    target: typeof target === "string" ? target : "/",
    headers: pairsOf(headers),
  };
  if (body === undefined)
    return { ...head, body: Buffer.alloc(0), lacksBody: "the JSON has no member with a body" };
  if (typeof body !== "string" && typeof body !== "object") return undefined;
  const isBase64 = value.isBase64Encoded === true || body === inBase64 || body === rawBytes;
  return { ...head, ...bodyBytes(body, isBase64), ...(isBase64 ? {} : perhapsInBase64(body, head.headers)) };
}

/** Members as .NET and OpenWhisk name them: `Headers`, `__ow_headers`. */
function inSmall(value: JsonObject): JsonObject {
  if (value.Headers === undefined && value.__ow_headers === undefined) return value;
  const isRaw = value.__ow_headers !== undefined && typeof value.__ow_body === "string";
  const names = Object.entries(value).map(([name, one]) => {
    const bare = name.replace(/^__ow_/, "");
    return [bare.charAt(0).toLowerCase() + bare.slice(1), one] as const;
  });
  return { ...Object.fromEntries(names), ...(isRaw ? { isBase64Encoded: true } : {}) };
}

/** Base64 of JSON may be the sender's mistake, or the way in which the capture keeps bytes: its length can tell. */
function perhapsInBase64(body: unknown, headers: readonly HeaderPair[]): { doubt?: string } {
  if (typeof body !== "string" || !/^(?:ey|W[wyz]|IC)[\w+/-]{6,}={0,2}$/.test(body)) return {};
  if (headers.some(([name, length]) => /^content-length$/i.test(name) && Number(length) === body.length))
    return {};
  return {
    doubt:
      "it is base64, and nothing says whether the sender or the capture has encoded it; with isBase64Encoded: true it is decoded",
  };
}

/** A request inside of what a service keeps of it, such as Pipedream's and Hookdeck's events. */
function wrappedRequest(value: JsonObject): CapturedRequest | undefined {
  const data = objectOf(value.data) ?? objectOf(value.Data);
  const inner = [value.event, data, value.request, value.payload, value.req, data?.req]
    .map(objectOf)
    .find((one) => objectOf(one?.headers ?? one?.Headers) !== undefined);
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
    const inner = one?.item ?? one?.items;
    if (Array.isArray(inner)) for (const item of inner.toReversed()) waiting.push(item);
  }
  return found;
}
