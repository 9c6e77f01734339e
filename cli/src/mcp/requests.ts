// Requests of a local listener, listed, shown and sent again for a tool.
import { usageError } from "../failure.js";
import type { Io } from "../io.js";
import type { Answer, Document } from "./call-command.js";
import { askInspector } from "./inspector-client.js";

/** The most of a body that is handed on, in characters. */
const BODY_CHARACTERS = 2_000;

interface Row extends Document {
  readonly n: number;
  readonly at: number;
}

/** The last requests that a local listener got, newest first, without their bodies. */
export async function listRequests(
  io: Io,
  port: number,
  { limit, status, before }: { limit: number; status?: string; before?: number },
): Promise<Answer> {
  const query = new URLSearchParams({ limit: String(limit) });
  if (status !== undefined) query.set("status", status);
  if (before !== undefined) query.set("before", String(before));
  const page = (await askInspector(io, port, `requests?${query}`)) as unknown as {
    rows: Row[];
    total: number;
    found: number;
  };
  const { total, found, rows } = page;
  return {
    documents: [{ v: 1, type: "requests", ok: true, port, total, found, requests: rows.map(shownRow) }],
  };
}

/** Everything about one request: the steps of its verdict, the mistakes behind a refusal, headers and body. */
export async function showRequest(io: Io, port: number, given: number | undefined): Promise<Answer> {
  const n = given ?? (await newest(io, port));
  const detail = (await askInspector(io, port, `requests/${n}`)) as Row;
  // The exported form has no signature, token or cookie, and none in the target.
  const exported = await askInspector(io, port, `export?format=jsonl&n=${n}`);
  const text = Buffer.from(String(exported.bodyBase64), "base64").toString("utf8");
  const target = String(exported.url).replace(/^https?:\/\/[^/]*/, "");
  const { method, sourceAddress, steps, mistakes, run } = detail;
  const claims = (detail.token as { claims?: unknown } | undefined)?.claims;
  return {
    documents: [
      {
        v: 1,
        type: "request-detail",
        ok: true,
        port,
        ...shownRow(detail),
        steps,
        mistakes,
        ...(run === undefined ? {} : { run }),
        fromOutside: {
          method,
          target,
          ...(sourceAddress === undefined ? {} : { sourceAddress }),
          headers: exported.headers,
          ...(claims === undefined ? {} : { claims }),
          body: text.slice(0, BODY_CHARACTERS),
          ...(text.length > BODY_CHARACTERS ? { bodyIsCut: true } : {}),
        },
      },
    ],
  };
}

const SENT_BY_A_PERSON = "A person who has looked at it may send it, on the listener's page.";

/** Sends a request again to the listener that got it. */
export async function replayRequest(
  io: Io,
  port: number,
  order: { n: number; kind: string },
): Promise<Answer> {
  const { n: of, kind } = order;
  const { imported, restored } = await askInspector(io, port, `requests/${of}`);
  if (imported === true)
    throw usageError(`Request ${of} came with a file, and this listener never got it.`, SENT_BY_A_PERSON);
  if (restored === true)
    throw usageError(`Request ${of} was in the history's file when this listener started.`, SENT_BY_A_PERSON);
  const result = await askInspector(io, port, `requests/${of}/replay`, { kind });
  const { body: _ofTheListener, kind: _asGiven, ...rest } = result;
  return { documents: [{ v: 1, type: "request-replay", ok: true, port, of, kind, ...rest }] };
}

async function newest(io: Io, port: number): Promise<number> {
  const { rows } = (await askInspector(io, port, "requests?limit=1")) as unknown as { rows: Row[] };
  return rows[0]?.n ?? 1; // the inspector says that there is none
}

/** A row without what repeats the body, or is of the page alone. */
function shownRow(row: Row): Document {
  const names = [
    "n",
    "listenerId",
    "scheme",
    "status",
    "code",
    "eventId",
    "eventType",
    "bodyBytes",
    "durationMs",
  ];
  const more = ["reason", "duplicateOf", "replay", "isCut", "isUnread", "imported", "restored"];
  const kept = [...names, ...more].flatMap((name) => (row[name] === undefined ? [] : [[name, row[name]]]));
  return { at: new Date(row.at).toISOString(), ...Object.fromEntries(kept) };
}
