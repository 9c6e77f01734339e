// Writes entries to a file, piece by piece.
import { STATUS_CODES } from "node:http";
import type { HeaderPair } from "hookproof";
import { packageVersion } from "../package-files.js";
import type { ExportQuery } from "./contract.js";
import { CREDENTIALS, withoutParameters, withoutSignatures } from "./credentials.js";
import type { Entry } from "./entry.js";
import { entryLine } from "./entry-line.js";

const REDACTED = "[redacted]";

/** An entry without what proves who sent it; the signing secret is in none anyway. */
function withoutCredentials(entry: Entry): Entry {
  const redacted = (headers: readonly HeaderPair[]): HeaderPair[] =>
    headers.map(([name, value]) => [
      name,
      CREDENTIALS.test(name) ? REDACTED : withoutSignatures(value, REDACTED),
    ]);
  return {
    ...entry,
    target: withoutSignatures(
      withoutParameters(entry.target, (name) => CREDENTIALS.test(name), REDACTED),
      REDACTED,
    ),
    headers: redacted(entry.headers),
    body: bodyWithoutProof(entry),
    answer: { ...entry.answer, headers: redacted(entry.answer.headers) },
  };
}

/** What was not read at all has header lines in its bytes. */
function bodyWithoutProof({ row, body }: Entry): Uint8Array {
  if (row.isUnread) return Buffer.from(REDACTED);
  // Every byte is a character of latin1, and comes back as it was.
  const text = Buffer.from(body).toString("latin1");
  const shown = withoutSignatures(text, REDACTED).replace(WHOLE_TOKEN, `$1${REDACTED}$2`);
  return shown === text ? body : Buffer.from(shown, "latin1");
}

/** Three segments, and nothing else: whatever they are, a receiver takes them for a token. */
const WHOLE_TOKEN = /^(\s*[\w-]+\.[\w-]+\.)[\w-]+(\s*)$/;

/** A file of entries, piece by piece, oldest first; `urlOf` says where each was sent. */
export function* exportedFile(
  entries: readonly Entry[],
  { format, credentials }: Pick<ExportQuery, "format" | "credentials">,
  urlOf: (entry: Entry) => string,
): Iterable<string> {
  const shared = function* () {
    for (const { demanded: _ownKnowledge, ...entry } of entries)
      yield credentials === "1" ? entry : withoutCredentials(entry);
  };
  if (format === "jsonl") {
    for (const entry of shared()) yield `${JSON.stringify(entryLine(entry, urlOf(entry)))}\n`;
    return;
  }
  const creator = { name: "hookproof", version: packageVersion() };
  yield `{"log":{"version":"1.2","creator":${JSON.stringify(creator)},"entries":[`;
  let separator = "\n";
  for (const entry of shared()) {
    yield `${separator}${JSON.stringify(harEntry(entry, urlOf(entry)))}`;
    separator = ",\n";
  }
  yield "\n]}}\n";
}

/** An entry as HAR 1.2 has it; what HAR has no place for stands in `_hookproof`. */
function harEntry(entry: Entry, url: string) {
  const { row, headers, body, answer } = entry;
  const { v: _v, bodyBase64: _body, headers: _headers, url: _url, ...rest } = entryLine(entry, url);
  const nothing = { httpVersion: "HTTP/1.1", cookies: [], headersSize: -1 };
  return {
    startedDateTime: new Date(row.at).toISOString(),
    time: row.durationMs,
    request: {
      ...nothing,
      method: row.method,
      url,
      headers: harHeaders(headers),
      queryString: [...new URL(url).searchParams].map(([name, value]) => ({ name, value })),
      ...(body.length === 0 ? {} : { postData: { mimeType: contentType(headers), ...bodyText(body) } }),
      bodySize: body.length,
    },
    response: {
      ...nothing,
      status: row.status,
      statusText: STATUS_CODES[row.status] ?? "",
      headers: harHeaders(answer.headers),
      content: {
        size: Buffer.byteLength(answer.body),
        mimeType: contentType(answer.headers),
        text: answer.body,
      },
      redirectURL: "",
      bodySize: Buffer.byteLength(answer.body),
    },
    cache: {},
    timings: { send: 0, wait: row.durationMs, receive: 0 },
    _hookproof: rest,
  };
}

function harHeaders(headers: readonly HeaderPair[]): { name: string; value: string }[] {
  return headers.map(([name, value]) => ({ name, value }));
}

function contentType(headers: readonly HeaderPair[]): string {
  return headers.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
}

/** HAR has no place for bytes that are no text: they are base64, and say so in a field of our own. */
function bodyText(body: Uint8Array): { text: string; _encoding?: "base64" } {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body) };
  } catch {
    return { text: Buffer.from(body).toString("base64"), _encoding: "base64" };
  }
}
