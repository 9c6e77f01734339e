// The commands that list, show, export and delete the events that were sent.

import { curlCommand } from "../capture/curl.js";
import { type Command, ROWS_FLAG } from "../command.js";
import { EXIT } from "../failure.js";
import { writeOwnFile } from "../files/written-file.js";
import { findEvents, forget, readHistory, recall, SEARCH_FLAGS } from "../history/history.js";
import { describeCredential, type HistoryRecord, hasArrived } from "../history/history-record.js";
import { countOf, field, inertJson } from "../output.js";
import { eventTypeOf } from "../serve/security-event-types.js";
import { wordOf } from "../shell-word.js";
import { confirm } from "../terminal/ask.js";
import { briefTime } from "../terminal/brief-time.js";
import { shownTime } from "../times.js";

export const eventsList: Command = {
  name: "events list",
  details: "The newest first.",
  positionals: [{ name: "text", required: false, describe: "only events with this text in id, URL or body" }],
  flags: {
    ...SEARCH_FLAGS,
    ...ROWS_FLAG,
  },
  examples: [
    ["hookproof events list --failed --since 1h", "what did not arrive within the last hour"],
    [
      "hookproof events list user.offboarded --status 200 --json",
      "accepted events with this text, for a script",
    ],
  ],
  exits: [[3, "the history cannot be read"]],
  async run({ args, io, out, global }) {
    const found = findEvents(await readHistory(io, out), args, args.text("text")).reverse();
    const shown = found.slice(0, args.number("limit"));
    out.document({
      type: "events",
      ok: true,
      found: found.length,
      events: shown.map(({ at, eventId, url, method, status, outcome, bodyBase64 }) => ({
        eventId,
        eventType: eventTypeOf(Buffer.from(bodyBase64, "base64")) ?? null,
        at: new Date(at).toISOString(),
        url,
        method,
        status: status ?? null,
        outcome,
        bodyBytes: Buffer.byteLength(bodyBase64, "base64"),
      })),
    });
    const isBrief = out.isTerminal && global.verbose === 0;
    const rows = shown.map((record) => {
      const { at, eventId, url, status, outcome, bodyBase64 } = record;
      const mark = hasArrived(record) ? out.paint("green", "✔") : out.paint("red", "✖");
      const type = eventTypeOf(Buffer.from(bodyBase64, "base64")) ?? "-";
      if (isBrief)
        return [
          `${mark} ${briefTime(at)}`,
          String(status ?? outcome),
          type,
          out.short(eventId),
          briefUrl(url),
        ];
      return [`${mark} ${shownTime(at)}`, eventId, `${status ?? "---"} ${outcome}`, type, url];
    });
    out.table(isBrief ? ["  sent", "answer", "type", "event", "listener"] : [], rows);
    out.note(
      found.length === 0
        ? "No event matches."
        : `${shown.length} of ${found.length}      next: hookproof events show ${wordOf(shown[0]?.eventId ?? "")}`,
    );
    return EXIT.ok;
  },
};

/** The most of a listener's id that is shown whole: a name that somebody gave it. */
const MAX_ID = 18;

/** A host and the listener's id, or its beginning where it is long: they tell events apart. */
function briefUrl(url: string): string {
  if (!URL.canParse(url)) return url;
  const { host, pathname } = new URL(url);
  const id = pathname.split("/").at(-1) ?? "";
  if (pathname.length === id.length + 1) return `${host}${pathname}`;
  return `${host}/…/${id.length > MAX_ID ? `${id.slice(0, 8)}…` : id}`;
}

export const eventsShow: Command = {
  name: "events show",
  details: "A token is not shown; hookproof events export includes it.",
  positionals: [{ name: "id", required: true, describe: "an event id, or last", completes: "event" }],
  flags: {},
  examples: [
    ["hookproof events show last", "the last event that was sent"],
    ["hookproof events show last --json | jq -r .body", "its body"],
  ],
  exits: [[3, "there is no such event"]],
  async run({ args, io, out }) {
    const record = await recall(io, out, args.text("id") ?? "last");
    const { at, eventId, url, method, status, outcome, answer, credential, bodyBase64 } = record;
    const body = Buffer.from(bodyBase64, "base64").toString("utf8");
    const headers = Object.fromEntries(
      Object.entries(record.headers).map(([name, value]) => [
        name,
        name.toLowerCase() === "authorization" ? "Bearer […]" : value,
      ]),
    );
    const time = new Date(at).toISOString();
    out.document({
      type: "event",
      ok: true,
      eventId,
      at: time,
      url,
      method,
      status: status ?? null,
      outcome,
      ...(typeof answer === "string" ? { answer } : {}),
      headers,
      body,
    });
    out.line(`POST ${url}`);
    out.line(field("event id", eventId));
    out.line(field("sent", time));
    out.line(field("outcome", `${status ?? "no answer"}  ${outcome}`));
    if (typeof answer === "string") out.line(field("answer", answer));
    out.line(field("proof", describeCredential(credential)));
    out.line();
    for (const [name, value] of Object.entries(headers)) out.line(`${name}: ${value}`);
    out.line();
    out.block(out.code(body));
    return EXIT.ok;
  },
};

export const eventsExport: Command = {
  name: "events export",
  details: "It has the headers, with signature or token, and the body; it does not say where the secret is.",
  positionals: [{ name: "id", required: true, describe: "an event id, or last", completes: "event" }],
  flags: {
    as: {
      type: "string",
      choices: ["json", "http", "curl"],
      default: "json",
      describe: "one line of JSON, a raw HTTP request, or a curl command",
    },
    out: {
      type: "string",
      value: "<file>",
      describe: "a file instead of stdout, for its owner only",
      completes: "file",
    },
  },
  examples: [
    [
      "hookproof events export last --out exported.json",
      "for hookproof replay exported.json, on this machine or another",
    ],
    [
      "hookproof events export last --as http | hookproof verify - --secret-file secret.txt",
      "the request as it was sent",
    ],
  ],
  exits: [[3, "there is no such event, or the file cannot be written"]],
  async run({ args, io, out }) {
    const record = await recall(io, out, args.text("id") ?? "last");
    const text = written(record, args.text("as") ?? "json");
    const file = args.text("out");
    if (file !== undefined) await writeOwnFile(file, `${text}\n`);
    if (file === undefined && args.text("as") === "json") {
      io.stdout.write(`${inertJson(JSON.parse(text))}\n`);
      return EXIT.ok;
    }
    out.document({ type: "export", ok: true, eventId: record.eventId, ...(file ? { file } : { text }) });
    if (file !== undefined) out.line(file);
    else out.raw(text);
    return EXIT.ok;
  },
};

function written(
  { credential: _credential, answer: _answer, ...record }: HistoryRecord,
  form: string,
): string {
  if (form === "json") return JSON.stringify({ type: "event", ok: true, ...record });
  const body = Buffer.from(record.sentBase64 ?? record.bodyBase64, "base64");
  if (form === "curl") return curlCommand({ ...record, body });
  const { host, pathname, search } = new URL(record.url);
  const headers = { Host: host, ...record.headers, "Content-Length": String(body.length) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`POST ${pathname}${search} HTTP/1.1`, ...lines, "", body.toString("utf8")].join("\n");
}

export const eventsClear: Command = {
  name: "events clear",
  details: "Deletes all of them, or those older than a time. Asks first.",
  flags: {
    "older-than": { type: "duration", value: "<dur>", describe: "only events sent longer ago, such as 1d" },
    yes: { type: "boolean", describe: "do not ask" },
  },
  examples: [
    ["hookproof events clear --older-than 1d", "keeps the last day"],
    ["hookproof events clear --yes", "everything, without asking"],
  ],
  exits: [[3, "the history cannot be read or written"]],
  async run(context) {
    const { args, io, out } = context;
    const before = Date.now() - (args.durationMs("older-than") ?? -1);
    const count = (await readHistory(io, out)).filter(({ at }) => at < before).length;
    await confirm(
      context,
      `Delete ${countOf(count, "event")}?`,
      `${countOf(count, "event")} would be deleted.`,
    );
    const removed = await forget(io, out, ({ at }) => at < before);
    out.document({ type: "events", ok: true, removed });
    out.line(`${countOf(removed, "event")} deleted`);
    return EXIT.ok;
  },
};
