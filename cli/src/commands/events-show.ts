import type { Command } from "../command.js";
import { describeCredential } from "../describe-credential.js";
import { EXIT } from "../failure.js";
import { recall } from "../history.js";
import { field } from "../output.js";

export const eventsShow: Command = {
  name: "events show",
  describe: "One event with its headers and body. A token is not shown; events export has it.",
  positionals: [{ name: "id", required: true, describe: "an event id, or last", completes: "event" }],
  flags: {},
  examples: [
    ["hookproof events show last", "the event that was sent last"],
    ["hookproof events show last --json | jq -r .body", "its body"],
  ],
  exits: [[3, "there is no such event"]],
  async run({ args, io, out }) {
    const record = await recall(io, out, args.text("id") ?? "last");
    const { at, eventId, url, method, status, outcome, credential, bodyBase64 } = record;
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
      headers,
      body,
    });
    out.line(`POST ${url}`);
    out.line(field("event id", eventId));
    out.line(field("sent", time));
    out.line(field("outcome", `${status ?? "no answer"}  ${outcome}`));
    out.line(field("proof", describeCredential(credential)));
    out.line();
    for (const [name, value] of Object.entries(headers)) out.line(`${name}: ${value}`);
    out.line();
    out.block(body);
    return EXIT.ok;
  },
};
