import { createEvent, signRequest, type WebhookEvent } from "hookproof";
import { curlCommand } from "../capture/curl.js";
import type { Command, Context } from "../command.js";
import { CONNECTION_FLAGS, SIGNING_FLAGS, TARGET_POSITIONAL } from "../credentials/flags.js";
import { resolveTarget, type Target } from "../credentials/target.js";
import { EXIT, usageError } from "../failure.js";
import { EVENT_FLAGS, payloadOf, requiredData, setMembers } from "../send/payload.js";
import { sendBatch } from "../send/send-batch.js";
import { sendOne } from "../send/send-one.js";
import { signingClock } from "../times.js";

export const send: Command = {
  name: "send",
  details: "Every attempt of an event has the same id and bytes.",
  positionals: [TARGET_POSITIONAL],
  flags: {
    ...EVENT_FLAGS,
    set: {
      type: "string",
      value: "<a.b=1>",
      repeatable: true,
      describe: "set a member of the body; without --data the body starts as {}",
    },
    batch: { type: "boolean", describe: "each line of the data is an event (JSON Lines)" },
    "by-listener": {
      type: "boolean",
      describe: 'each line of a batch is {"listener":…,"payload":…} and goes to the profile of that name',
    },
    concurrency: {
      type: "number",
      value: "<n>",
      default: 8,
      range: [1, 1000],
      describe: "events of a batch that are sent at the same time",
    },
    retries: {
      type: "number",
      value: "<n>",
      default: 2,
      range: [0, 100],
      describe: "attempts after the first; 0 is one attempt",
    },
    "dry-run": { type: "boolean", describe: "print the whole request and send nothing" },
    curl: { type: "boolean", describe: "print the request as a curl command and send nothing" },
    expect: {
      type: "number",
      value: "<status>",
      range: [100, 599],
      describe: "fail (exit 7) on any other status",
    },
    "fail-on-duplicate": { type: "boolean", describe: "exit 9 when the id was used before" },
    ...SIGNING_FLAGS,
    ...CONNECTION_FLAGS,
  },
  examples: [
    [`hookproof send :4400 --data '{"type":"user.offboarded"}'`, "to the local listener on port 4400"],
    [
      "hookproof send https://tenant.example.com/api/v1/webhooks/incoming/lst_1 --secret-file secret.txt -d @event.json",
      "to a listener elsewhere",
    ],
    ["hookproof send --batch --by-listener -d @events.jsonl", "to several profiles: each line names one"],
    ["hookproof send staging -d @event.json --set user.id=u_7", "to a profile's target, with one member set"],
  ],
  exits: [
    [3, "secret or key missing"],
    [4, "refused permanently"],
    [5, "answered 5xx"],
    [6, "no answer"],
    [7, "--expect not met"],
    [9, "duplicate, with --fail-on-duplicate"],
    [130, "interrupted"],
  ],
  async run(context) {
    const { args, io } = context;
    const assignments = args.texts("set");
    const data = requiredData(
      context,
      "hookproof send :4400 --data '{\"a\":1}'",
      assignments.length > 0 ? "{}" : undefined,
    );
    if (args.flag("batch") && assignments.length > 0)
      throw usageError("--set is for a single event; a batch is sent unchanged.");
    if (args.flag("by-listener") && !args.flag("batch")) throw usageError("--by-listener is for a --batch.");
    if (args.flag("batch")) return sendBatch(context, data);
    const target = await resolveTarget(context);
    const payload = await payloadOf(io, data);
    const event = createEvent(assignments.length > 0 ? setMembers(payload, assignments) : payload, {
      eventId: args.text("event-id"),
    });
    if (args.flag("dry-run") || args.flag("curl")) return printRequest(context, target, event);
    return sendOne(context, target, event);
  },
};

async function printRequest({ args, out }: Context, target: Target, event: WebhookEvent): Promise<number> {
  const timestamp = Math.floor(signingClock(args.text("timestamp")).now() / 1000);
  const request = await signRequest({ url: target.url, signer: target.signer, event, timestamp });
  const { url, headers, body, eventId } = request;
  const curl = args.flag("curl") ? curlCommand(request) : undefined;
  out.document({
    type: "send",
    ok: true,
    dryRun: true,
    url,
    headers,
    eventId,
    timestamp,
    bodyBase64: Buffer.from(body).toString("base64"),
    ...(curl ? { curl } : {}),
  });
  if (curl) {
    out.raw(curl);
    return EXIT.ok;
  }
  out.line(`POST ${url}`);
  for (const [name, value] of Object.entries(headers)) out.line(`${name}: ${value}`);
  out.line(`Content-Length: ${body.length}`);
  out.line();
  // Not out.block, which indents: this prints the request exactly, and its body is the user's own JSON.
  if (!out.json) out.write(`${Buffer.from(body).toString("utf8")}\n`);
  return EXIT.ok;
}
