import { existsSync } from "node:fs";
import { createEvent } from "hookproof";
import { confirm } from "../ask.js";
import type { Command, Context } from "../command.js";
import { explainFailure } from "../explain-failure.js";
import { EXIT, usageError } from "../failure.js";
import { findEvents, SEARCH_FLAGS } from "../find-events.js";
import { readHistory, recall } from "../history.js";
import { readExport } from "../read-export.js";
import { type Replayed, replayExactly, replaySameId, replayTarget } from "../replay-event.js";
import { sendOne } from "../send-one.js";
import { CONNECTION_FLAGS, SIGNING_FLAGS } from "../target.js";

type Kind = "same-id" | "exact" | "new-id";

export const replay: Command = {
  name: "replay",
  describe:
    "Sends a recorded event again. The listener answers 409 when it had processed the event: that proves idempotency.",
  positionals: [
    {
      name: "id",
      required: false,
      describe: "an event id, last, or an exported event: a file, or - for standard input",
      completes: "event",
    },
  ],
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
    times: {
      type: "number",
      value: "<n>",
      range: [1, 1000],
      default: 1,
      describe: "how often, one after another",
    },
    failed: { type: "boolean", describe: "every recorded event that was not accepted so far" },
    since: SEARCH_FLAGS.since,
    yes: { type: "boolean", describe: "do not ask before --new-id" },
    retries: {
      type: "number",
      value: "<n>",
      default: 2,
      range: [0, 100],
      describe: "attempts after the first",
    },
    target: {
      type: "string",
      value: "<url|:port|profile>",
      describe: "where to; by default where the history says, and for a file the profile's target",
      completes: "profile",
    },
    "to-recorded-url": { type: "boolean", describe: "send an event of a file where that file says" },
    ...SIGNING_FLAGS,
    ...CONNECTION_FLAGS,
  },
  examples: [
    ["hookproof replay last", "the event that was sent last; expects 409"],
    ["hookproof replay last --exact", "the same request to the letter, as an eavesdropper would send it"],
    ["hookproof replay --failed --since 1h", "what did not arrive within the last hour"],
    ["hookproof replay event.json --target staging", "an event of a file, to a target of your own"],
  ],
  exits: [
    [3, "event, secret or key missing"],
    [4, "refused for good"],
    [5, "answered 5xx"],
    [6, "no answer"],
    [7, "accepted a second time"],
    [130, "interrupted"],
  ],
  async run(context) {
    const { args } = context;
    const kinds = (["same-id", "exact", "new-id"] as const).filter((kind) => args.flag(kind));
    if (kinds.length > 1) throw usageError(`--${kinds.join(" and --")} exclude each other.`);
    const [kind = "same-id"] = kinds;
    if (kind === "exact" && (args.isGiven("target") || args.flag("to-recorded-url")))
      throw usageError("--exact sends to the recorded URL, with the recorded proof.");
    if (args.isGiven("target") && args.flag("to-recorded-url"))
      throw usageError("--target and --to-recorded-url exclude each other.");
    const records = await chosen(context);
    if (kind === "new-id")
      await confirm(context, "Run the automation again?", "--new-id runs the automation again.");
    const runs = records.flatMap((record) => Array<Replayed>(args.number("times") ?? 1).fill(record));
    const [only] = runs;
    return runs.length === 1 && only ? replayOne(context, kind, only) : replayAll(context, kind, runs);
  },
};

/** The events that the argument, or --failed and --since, name. */
async function chosen({ args, io, out }: Context): Promise<Replayed[]> {
  const id = args.text("id");
  const searches = args.flag("failed") || args.isGiven("since");
  if ((id === undefined) !== searches)
    throw usageError(
      searches
        ? "An event id and --failed or --since exclude each other."
        : "<id> is missing: an event id, last, or an exported event.",
      "hookproof replay last, or: hookproof replay --failed --since 1h",
    );
  if (id === undefined)
    return findEvents(await readHistory(io, out), args).map((record) => ({ ...record, source: "history" }));
  const isFile = id === "-" || (id !== "last" && existsSync(id)) || /[/\\]|\.json$/.test(id);
  if (isFile) return [{ ...(await readExport(io, id)), source: "export" }];
  return [{ ...(await recall(io, out, id)), source: "history" }];
}

async function replayOne(context: Context, kind: Kind, record: Replayed): Promise<number> {
  if (kind === "exact") return replayExactly(context, record);
  if (kind === "same-id") return replaySameId(context, record);
  const body = Buffer.from(record.bodyBase64, "base64");
  return sendOne(context, await replayTarget(context, record), createEvent(body));
}

/** Several, one after another; with --json one line each, and one for all. The last failure decides the exit code. */
async function replayAll(context: Context, kind: Kind, runs: readonly Replayed[]): Promise<number> {
  const { io, out } = context;
  let exit: number = EXIT.ok;
  let failed = 0;
  const arrived = new Set<string>();
  for (const record of runs) {
    if (io.stopSignal.aborted) return EXIT.interrupted;
    const known = arrived.has(record.eventId) ? { ...record, outcome: "accepted" } : record;
    try {
      const code = await replayOne(context, kind, known);
      arrived.add(record.eventId);
      if (code !== EXIT.ok) {
        exit = code;
        failed++;
      }
    } catch (error) {
      const failure = explainFailure(error);
      exit = failure.exit;
      failed++;
      const { code, message, hint } = failure;
      out.document({
        type: "replay",
        kind,
        ok: false,
        eventId: record.eventId,
        url: record.url,
        ...failure.answer,
        error: { code, message, ...(hint ? { hint } : {}) },
      });
      out.line(`${out.paint("red", "✖")} ${record.eventId}  ${code}: ${message}`);
    }
  }
  out.document({ type: "replays", ok: failed === 0, replayed: runs.length, failed });
  out.note(`${runs.length} replays: ${runs.length - failed} as they should be, ${failed} not`);
  return exit;
}
