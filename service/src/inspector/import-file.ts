// Reads a file of requests that somebody else may have written.
import type { HeaderPair } from "hookproof";
import { InspectorError } from "../page/inspector-error.js";
import { LIMITS } from "./contract.js";
import type { Entry } from "./entry.js";
import { parsedJson, pathOf, readEntryLine, recordOf } from "./entry-line.js";

/** The most bytes of one request: a body of 64 KiB with its header lines, and some more. */
const MAX_ENTRY_BYTES = 256 * 1024;

/**
 * Reads a file of requests: JSON Lines as exported, or a HAR file of any tool. Entries that cannot be used are
 * counted and passed over.
 *
 * @throws {InspectorError} IMPORT_INVALID for a file that is neither, or has too many entries
 */
export function readImport(text: string): { entries: Entry[]; skipped: number } {
  const whole = parsedJson(text);
  const log = recordOf(recordOf(whole)?.log);
  const isHar = Array.isArray(log?.entries);
  const lines = isHar
    ? (log?.entries as unknown[])
    : text.split(/\r?\n/).filter((line) => line.trim() !== "");
  if (lines.length > LIMITS.requests)
    throw invalid(`The file has ${lines.length} requests; ${LIMITS.requests} are the most.`);
  if (lines.length === 0) throw invalid("The file is empty.");
  const read = lines.map((line) => (isHar ? harEntry(line) : readEntryLine(parsedJson(String(line)))));
  const entries = read.filter((entry) => entry !== undefined && isSmall(entry)) as Entry[];
  if (entries.length === 0 && !isHar)
    throw invalid("The file is neither an export of the inspector nor a HAR file.");
  return { entries, skipped: lines.length - entries.length };
}

function isSmall({ body, headers, target }: Entry): boolean {
  return body.length + target.length + JSON.stringify(headers).length <= MAX_ENTRY_BYTES;
}

const LISTENER_PATH = /\/api\/v1\/webhooks\/incoming\/([A-Za-z0-9_-]{1,128})(?:[?#]|$)/;

/** An entry of a HAR file: a request to a listener's path, in whatever way it ended. */
function harEntry(value: unknown): Entry | undefined {
  const entry = recordOf(value);
  const [request, response] = [recordOf(entry?.request), recordOf(entry?.response)];
  const started = entry?.startedDateTime;
  const at = typeof started === "string" ? Date.parse(started) : Number.NaN;
  const { method, url } = request ?? {};
  if (typeof method !== "string" || typeof url !== "string" || Number.isNaN(at)) return undefined;
  const listenerId = LISTENER_PATH.exec(url)?.[1];
  if (listenerId === undefined) return undefined;
  const posted = recordOf(request?.postData);
  const isBase64 = posted?._encoding === "base64" || posted?.encoding === "base64";
  const body = Buffer.from(typeof posted?.text === "string" ? posted.text : "", isBase64 ? "base64" : "utf8");
  const own = recordOf(entry?._hookproof);
  return readEntryLine({
    listenerId,
    ...own,
    v: 1,
    type: "request",
    at,
    method,
    url: pathOf(url),
    status: response?.status,
    durationMs: entry?.time,
    headers: harPairs(request?.headers),
    bodyBase64: body.toString("base64"),
    answer: own?.answer ?? {
      headers: harPairs(response?.headers),
      body: recordOf(response?.content)?.text,
    },
  });
}

/** HTTP/2 has pseudo headers, which are no header lines. */
function harPairs(headers: unknown): HeaderPair[] {
  if (!Array.isArray(headers)) return [];
  return headers.flatMap((header: unknown) => {
    const { name, value } = recordOf(header) ?? {};
    return typeof name === "string" && typeof value === "string" && !name.startsWith(":")
      ? [[name, value] as const]
      : [];
  });
}

function invalid(message: string): InspectorError {
  return new InspectorError(400, "IMPORT_INVALID", message);
}
