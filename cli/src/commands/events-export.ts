import type { Command } from "../command.js";
import { curlCommand } from "../curl.js";
import { EXIT } from "../failure.js";
import { recall } from "../history.js";
import type { HistoryRecord } from "../history-record.js";
import { inertJson } from "../inert.js";
import { writeOwnFile } from "../private-file.js";

export const eventsExport: Command = {
  name: "events export",
  describe:
    "Writes one event with everything a replay or verify needs: headers with signature or token, and the body. Not where the secret is.",
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
      "hookproof events export last --out event.json",
      "for hookproof replay event.json, on this machine or another",
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

function written({ credential: _credential, ...record }: HistoryRecord, form: string): string {
  if (form === "json") return JSON.stringify({ type: "event", ok: true, ...record });
  const body = Buffer.from(record.bodyBase64, "base64");
  if (form === "curl") return curlCommand({ ...record, body });
  const { host, pathname } = new URL(record.url);
  const headers = { Host: host, ...record.headers, "Content-Length": String(body.length) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`POST ${pathname} HTTP/1.1`, ...lines, "", body.toString("utf8")].join("\n");
}
