// The command that sends one event, or many from a file.
import type { WebhookEvent } from "hookproof";
import { curlCommand } from "../capture/curl.js";
import type { Args, Command, Context } from "../command.js";
import { RETRIES } from "../config/settings.js";
import { CONNECTION_FLAGS, REACH_FLAGS, SIGNING_FLAGS, TARGET_POSITIONAL } from "../credentials/flags.js";
import { resolveTarget, type Target } from "../credentials/target.js";
import { EXIT, refuseIdle, usageError } from "../failure.js";
import { SCHEME_EXAMPLES, SCHEME_FLAGS } from "../schemes/chosen-scheme.js";
import {
  EVENT_FLAGS,
  EXAMPLE_EVENTS,
  eventOf,
  payloadOf,
  readable,
  requiredData,
  setMembers,
} from "../send/payload.js";
import { signingClock } from "../times.js";

export const send: Command = {
  name: "send",
  details: "Every attempt of an event has the same id and bytes.",
  positionals: [TARGET_POSITIONAL],
  flags: {
    ...EVENT_FLAGS,
    event: {
      type: "string",
      value: "<type>",
      choices: Object.keys(EXAMPLE_EVENTS),
      describe: "instead of --data: an example of this type; --list-events shows them",
    },
    "list-events": { type: "boolean", describe: "print the examples and send nothing" },
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
      range: RETRIES,
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
    ...SCHEME_FLAGS,
    ...SIGNING_FLAGS,
    ...CONNECTION_FLAGS,
    ...REACH_FLAGS,
  },
  examples: [
    [`hookproof send :4400 --data '{"type":"user.offboarded"}'`, "to the local listener on port 4400"],
    ["hookproof send :4400 --event user.offboarded", "an example, without a body of your own"],
    [
      "hookproof send https://tenant.example.com/api/v1/webhooks/incoming/lst_1 --secret-file secret.txt -d @event.json",
      "to a listener elsewhere",
    ],
    [
      "hookproof send https://tenant.example.com/api/v1/webhooks/incoming/lst_1 --key private_key.pem --kid billing-1 -d @event.json",
      "with a token by a key of your own, under its id in your key set",
    ],
    SCHEME_EXAMPLES.send,
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
    if (args.flag("list-events")) return listEvents(context);
    refuseWhatIsIdle(args);
    const example = EXAMPLE_EVENTS[args.text("event") ?? ""];
    if (example && args.isGiven("data")) throw usageError("--event and --data exclude each other.");
    const assignments = args.texts("set");
    const data = requiredData(
      context,
      "hookproof send :4400 --data '{\"a\":1}'",
      example ? JSON.stringify(example) : assignments.length > 0 ? "{}" : undefined,
    );
    if (args.flag("batch")) return (await import("../send/send-batch.js")).sendBatch(context, data);
    const target = await resolveTarget(context);
    for (const assignment of assignments) await readable(assignment, "--set");
    const payload = await payloadOf(io, data);
    const event = eventOf(context, assignments.length > 0 ? setMembers(payload, assignments) : payload, data);
    if (args.flag("dry-run") || args.flag("curl")) return printRequest(context, target, event);
    return (await import("../send/send-one.js")).sendOne(context, target, event);
  },
};

/** Flags of a single event, which a batch does not look at, and the other way round. */
const OF_ONE_EVENT = [
  "curl",
  "dry-run",
  "event",
  "event-id",
  "expect",
  "fail-on-duplicate",
  "id-form",
  "set",
];
const OF_A_BATCH = ["by-listener", "concurrency"];

function refuseWhatIsIdle(args: Args): void {
  if (args.flag("batch")) refuseIdle(args, OF_ONE_EVENT, "is for a single event, and not for a --batch.");
  else refuseIdle(args, OF_A_BATCH, "is for a --batch.");
}

function listEvents({ out }: Context): number {
  out.document({ type: "example-events", ok: true, events: EXAMPLE_EVENTS });
  for (const [type, event] of Object.entries(EXAMPLE_EVENTS))
    out.line(`${type.padEnd(17)} ${JSON.stringify(event)}`);
  return EXIT.ok;
}

async function printRequest(
  { args, io, out }: Context,
  target: Target,
  event: WebhookEvent,
): Promise<number> {
  const timestamp = Math.floor(signingClock(args.text("timestamp")).now() / 1000);
  const { signRequest } = await import("hookproof");
  const { plainHttpHosts, reachOf, requireOwnHeaders } = await import("../send/reach.js");
  requireOwnHeaders(await reachOf({ args, io }, target), target.url, target.signer);
  const request = await signRequest({
    url: target.url,
    signer: target.signer,
    event,
    timestamp,
    plainHttpHosts: plainHttpHosts(target.config),
  });
  const { url, headers, body, eventId } = request;
  const curl = args.flag("curl") ? curlCommand(request) : undefined;
  for (const warning of target.signer.warnings ?? []) out.warn(warning);
  out.note(`signed with ${target.proof}`);
  out.document({
    type: "send",
    ok: true,
    dryRun: true,
    url,
    headers,
    eventId,
    timestamp,
    proof: target.proof,
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
