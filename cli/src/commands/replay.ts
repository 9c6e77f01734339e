import { createEvent, createSender } from "hookproof";
import type { Command, Context } from "../command.js";
import { describeRequest } from "../describe-request.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { type HistoryRecord, recall } from "../history.js";
import { postExactly } from "../post-exactly.js";
import { CONNECTION_FLAGS, CREDENTIAL_FLAGS, resolveTarget } from "../target.js";
import { senderOptions, sendOne } from "./send.js";

export const replay: Command = {
  name: "replay",
  describe:
    "Sends a recorded event again. The listener answers 409 when it had processed the event: that proves idempotency.",
  positionals: [{ name: "id", required: true, describe: "an event id, or last" }],
  flags: {
    "same-id": {
      type: "boolean",
      describe: "signed anew with the same id and bytes (default); 409 is success",
    },
    exact: {
      type: "boolean",
      describe: "the recorded headers and bytes; 400 once they are older than 5 minutes",
    },
    "new-id": { type: "boolean", describe: "a new event with the same bytes; runs the automation again" },
    yes: { type: "boolean", describe: "do not ask before --new-id" },
    retries: { type: "number", value: "<n>", default: 2, describe: "attempts after the first" },
    ...CREDENTIAL_FLAGS,
    ...CONNECTION_FLAGS,
  },
  examples: [
    ["hookproof replay last", "the event that was sent last; expects 409"],
    ["hookproof replay last --exact", "the same request to the letter, as an eavesdropper would send it"],
  ],
  exits: [
    [3, "event, secret or key missing"],
    [4, "refused for good"],
    [5, "answered 5xx"],
    [6, "no answer"],
    [7, "accepted a second time"],
  ],
  async run(context) {
    const { args, io } = context;
    const kinds = ["same-id", "exact", "new-id"].filter((kind) => args.flag(kind));
    if (kinds.length > 1) throw usageError(`--${kinds.join(" and --")} exclude each other.`);
    const record = await recall(io, args.text("id") ?? "last");
    if (args.flag("exact")) return replayExactly(context, record);
    const body = Buffer.from(record.bodyBase64, "base64");
    if (!args.flag("new-id")) return replaySameId(context, record, body);
    if (!args.flag("yes"))
      throw usageError("--new-id runs the automation again.", "Add --yes if that is what you want.");
    return sendOne(context, await resolveTarget(context, record), createEvent(body));
  },
};

async function replaySameId(context: Context, record: HistoryRecord, body: Uint8Array): Promise<number> {
  const { out, io } = context;
  const target = await resolveTarget(context, record);
  const event = createEvent(body, { eventId: record.eventId });
  describeRequest(out, { ...target, eventId: event.id, timestamp: Math.floor(Date.now() / 1000), body });
  const started = performance.now();
  const { status, outcome, attempts } = await createSender(await senderOptions(context, target)).send(event, {
    signal: io.stopSignal,
  });
  const durationMs = Math.round(performance.now() - started);
  const answer = {
    type: "replay",
    kind: "same-id",
    outcome,
    status,
    eventId: event.id,
    url: target.url,
    attempts: attempts.length,
    durationMs,
  };
  return verdict(context, status, answer);
}

async function replayExactly(context: Context, record: HistoryRecord): Promise<number> {
  const { out, global, args } = context;
  out.line(`POST ${record.url}  (the recorded request to the letter)`);
  const body = Buffer.from(record.bodyBase64, "base64");
  const status = await postExactly(
    { url: record.url, headers: record.headers, body },
    { timeoutMs: global.timeoutMs, ca: args.text("ca"), insecure: args.flag("insecure") },
  );
  const answer = { type: "replay", kind: "exact", status, eventId: record.eventId, url: record.url };
  if (status === 409 || status < 300) return verdict(context, status, answer);
  throw new CliError(
    status >= 500 ? EXIT.unavailable : EXIT.refused,
    "REQUEST_REFUSED",
    `The listener answered ${status}.`,
    {
      hint:
        status === 400
          ? "A recorded request is stale after 5 minutes: the listener refuses its timestamp."
          : undefined,
      answer,
    },
  );
}

/** 409 is what a replay wants to see; an acceptance means that the listener ran the event twice. */
function verdict({ out }: Context, status: number, answer: Record<string, unknown>): number {
  const deduplicated = status === 409;
  out.document({ ...answer, ok: deduplicated });
  if (deduplicated) {
    out.line(
      `${out.paint("green", "✔")} 409 duplicate   the listener had processed this event id; the automation did not run again`,
    );
    out.line("  This is idempotency protection, not a failure. Ids are remembered for 7 days.");
    return EXIT.ok;
  }
  out.line(`${out.paint("red", "✖")} ${status} accepted again   the listener did not recognise the event id`);
  return EXIT.checkFailed;
}
