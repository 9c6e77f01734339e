// The command that sends an earlier event again, under its own id or a new one.
import { existsSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { createEvent, createSender } from "hookproof";
import type { Command, Context } from "../command.js";
import { RETRIES } from "../config/settings.js";
import { CONNECTION_FLAGS, REACH_FLAGS, SIGNING_FLAGS } from "../credentials/flags.js";
import { originOf } from "../credentials/origin-rule.js";
import { resolveTarget, type Target } from "../credentials/target.js";
import { CliError, EXIT, refuseIdle, usageError } from "../failure.js";
import { findEvents, readHistory, recall, remember, SEARCH_FLAGS } from "../history/history.js";
import {
  type CredentialReference,
  type HistoryRecord,
  hasArrived,
  type RecordedRequest,
  readExport,
} from "../history/history-record.js";
import { countOf } from "../output.js";
import { configuredScheme, keptOf, SCHEME_FLAGS, schemeOf } from "../schemes/chosen-scheme.js";
import type { CliScheme, SchemeSettings } from "../schemes/schemes.js";
import { explainFailure } from "../send/explain-failure.js";
import { postExactly } from "../send/post-exactly.js";
import { plainHttpHosts, reachOf, requireOwnHeaders, unsignedBy } from "../send/reach.js";
import { describeRequest, senderOptions, sendOne } from "../send/send-one.js";
import { confirm } from "../terminal/ask.js";

type Kind = "same-id" | "exact" | "new-id";

export const replay: Command = {
  name: "replay",
  details: "The listener answers 409 when it has processed the event before: that proves idempotency.",
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
      describe: "signed again with the same id and bytes (default); 409 is the success",
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
      describe: "how many times, one after another",
    },
    failed: { type: "boolean", describe: "every recorded event that was not accepted so far" },
    since: SEARCH_FLAGS.since,
    yes: {
      type: "boolean",
      describe: "do not ask before --new-id, or before an event of a file that you have not sent",
    },
    retries: {
      type: "number",
      value: "<n>",
      default: 2,
      range: RETRIES,
      describe: "attempts after the first",
    },
    target: {
      type: "string",
      value: "<url|:port|profile>",
      describe: "the target; by default the recorded URL, for a file the profile's target",
      completes: "target",
    },
    "to-recorded-url": { type: "boolean", describe: "send an event of a file to the URL in that file" },
    ...SCHEME_FLAGS,
    ...SIGNING_FLAGS,
    ...CONNECTION_FLAGS,
    ...REACH_FLAGS,
  },
  examples: [
    ["hookproof replay last", "the last event that was sent; expects 409"],
    ["hookproof replay last --exact", "the same request unchanged, as an eavesdropper would send it"],
    ["hookproof replay --failed --since 1h", "what did not arrive within the last hour"],
    ["hookproof replay exported.json --target staging --yes", "an event of a file, to a target of your own"],
  ],
  exits: [
    [3, "event, secret or key missing"],
    [4, "refused permanently"],
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
      throw usageError("--exact sends to the recorded URL, with the recorded signature or token.");
    if (args.isGiven("target") && args.flag("to-recorded-url"))
      throw usageError("--target and --to-recorded-url exclude each other.");
    if (kind === "exact")
      refuseIdle(
        args,
        [...Object.keys(SIGNING_FLAGS), "retries"],
        "is about signing and sending again; --exact sends what was recorded, once.",
      );
    const records = await chosen(context);
    if (!args.isGiven("target") && new Set(records.map(({ url }) => originOf(url))).size > 1)
      refuseIdle(
        args,
        Object.keys(REACH_FLAGS),
        "is for one target, and these events went to several.",
        "Replay them one by one; or give each profile its own headerFiles, cert and keyFile.",
      );
    // What is asked for and what is sent to have to be the same host.
    if (kind === "exact") await requireOneHost(records, context);
    await agreed(context, kind, records);
    const runs = records.flatMap((record) => Array<Replayed>(args.number("times") ?? 1).fill(record));
    const [only] = runs;
    return runs.length === 1 && only ? replayOne(context, kind, only) : replayAll(context, kind, runs);
  },
};

/** Asks before what runs an automation that has not run, as far as this user's own history says. */
async function agreed(context: Context, kind: Kind, records: readonly Replayed[]): Promise<void> {
  if (kind === "new-id")
    return confirm(context, "Run the automation again?", "--new-id runs the automation again.");
  const isForeign = (one: Replayed) =>
    one.own === undefined || (kind === "exact" && !isSameRequest(one, one.own));
  const foreign = records.find((one) => one.source === "export" && isForeign(one));
  if (foreign === undefined) return;
  const { eventId, url } = foreign;
  const question =
    kind === "exact"
      ? `Send what the file says to ${url}?`
      : `Run what the file says, as the event ${eventId}?`;
  const told = kind === "exact" ? `it is sent to ${url} as it stands` : "its bytes run the automation";
  const what = foreign.own === undefined ? "event" : "request of the event";
  await confirm(context, question, `Your history has no such ${what} ${eventId}: ${told}.`);
}

/** Whether two records are of one request to the letter: its URL, its headers and its bytes on the wire. */
function isSameRequest(one: RecordedRequest, other: RecordedRequest): boolean {
  const parts = ({ url, headers, bodyBase64, sentBase64 = bodyBase64 }: RecordedRequest) => [
    url,
    headers,
    sentBase64,
  ];
  return isDeepStrictEqual(parts(one), parts(other));
}

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
  if (id === undefined) return findEvents(await readHistory(io, out), args).map(ofHistory);
  const isFile = id === "-" || (id !== "last" && existsSync(id)) || /[/\\]|\.json$/.test(id);
  if (!isFile) return [ofHistory(await recall(io, out, id))];
  const record = await readExport(io, id);
  const isSame = ({ eventId, bodyBase64 }: HistoryRecord) =>
    eventId === record.eventId && bodyBase64 === record.bodyBase64;
  const same = (await readHistory(io, out)).filter(isSame);
  const own = same.find((one) => isSameRequest(one, record)) ?? same[0];
  return [{ ...record, source: "export", ...(own === undefined ? {} : { own }) }];
}

function ofHistory(record: HistoryRecord): Replayed {
  return { ...record, source: "history", own: record };
}

async function replayOne(context: Context, kind: Kind, record: Replayed): Promise<number> {
  if (kind === "exact") return replayExactly(context, record);
  if (kind === "same-id") return replaySameId(context, record);
  const body = Buffer.from(record.bodyBase64, "base64");
  return sendOne(context, await replayTarget(context, record), createEvent(body));
}

/** Several replays, one after another: with --json a line each and one for all. The last failure gives the exit code. */
async function replayAll(context: Context, kind: Kind, runs: readonly Replayed[]): Promise<number> {
  const { io, out } = context;
  let exit: number = EXIT.ok;
  let failed = 0;
  const arrived = new Set<string>();
  for (const record of runs) {
    if (io.stopSignal.aborted) return EXIT.interrupted;
    try {
      const code = await replayOne(context, kind, { ...record, isSeen: arrived.has(record.eventId) });
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
  out.note(`${countOf(runs.length, "replay")}: ${runs.length - failed} as expected, ${failed} not`);
  return exit;
}

/** A recorded request, from the history or from a file. */
type Replayed = RecordedRequest & {
  readonly credential?: CredentialReference;
  /** The URL of an exported file is used only with --to-recorded-url, and its outcome and scheme not at all. */
  readonly source: "history" | "export";
  /** The event in this user's own history: only that says whether it arrived. */
  readonly own?: HistoryRecord;
  /** It has arrived since this command began. */
  readonly isSeen?: boolean;
};

/** Whether an event had arrived at a URL before; undefined where nothing of this user's says so. */
function hadArrived({ own, isSeen }: Replayed, url: string): boolean | undefined {
  if (isSeen === true) return true;
  return own === undefined || own.url !== url ? undefined : hasArrived(own);
}

/** The target of a replay, with its credential. */
function replayTarget(context: Context, record: Replayed): Promise<Target> {
  const believesUrl = record.source === "history" || context.args.flag("to-recorded-url");
  if (
    !believesUrl &&
    context.args.text("target") === undefined &&
    context.config.text("target") === undefined
  )
    throw usageError(
      "The target is missing: an event from a file has only its id and bytes.",
      `Give --target <url|:port|profile>. The file says ${record.url}: --to-recorded-url sends it there.`,
    );
  return resolveTarget(context, believesUrl ? { ...record, scheme: ownScheme(context, record) } : undefined);
}

/** The scheme of the user's own history or configuration: what a file says of it would choose the kind of credential. */
function ownScheme({ config }: Context, { own, url }: Replayed): SchemeSettings | undefined {
  return own?.url === url ? own.scheme : configuredScheme(config);
}

/** Sends an event again, signed again with the same id and bytes; returns the exit code. */
async function replaySameId(context: Context, record: Replayed): Promise<number> {
  const { out, io } = context;
  const body = Buffer.from(record.bodyBase64, "base64");
  const target = await replayTarget(context, record);
  const event = createEvent(body, { eventId: record.eventId, idForm: "own" });
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
  if (record.own === undefined || !hasArrived(record.own)) {
    const { method, credential, scheme } = target;
    // Of a file's own headers and bytes on the wire nothing may be sent later as if this user had sent it before.
    const { headers, sentBase64 } = record.own ?? { headers: { "Content-Type": "application/json" } };
    const { eventId, bodyBase64 } = record;
    await remember(io, out, [
      {
        v: 1,
        at: Date.now(),
        eventId,
        url: target.url,
        method,
        headers,
        bodyBase64,
        ...(sentBase64 === undefined ? {} : { sentBase64 }),
        ...(scheme === undefined ? {} : { scheme: keptOf(scheme) }),
        status,
        outcome,
        credential,
      },
    ]);
  }
  return verdict(context, { record, scheme: target.scheme }, status, answer);
}

/** Refuses URLs that have more than one reading, and plain HTTP beyond this machine. */
async function requireOneHost(records: readonly Replayed[], { config }: Context): Promise<void> {
  const { checkedUrl, requireTls } = await import("../credentials/checked-url.js");
  for (const url of new Set(records.map((record) => record.url))) {
    await checkedUrl(url, "The recorded URL");
    await requireTls(url, "The recorded URL", plainHttpHosts(config));
  }
}

/** Sends the recorded headers and bytes unchanged; returns the exit code. */
async function replayExactly(context: Context, record: Replayed): Promise<number> {
  const { out, global, args } = context;
  const scheme = schemeOf(args, record.own?.scheme);
  out.line(`POST ${record.url}  (the recorded request, unchanged)`);
  const body = Buffer.from(record.sentBase64 ?? record.bodyBase64, "base64");
  const { url, source } = record;
  const reach = await reachOf(context, { url, source, config: context.config });
  requireOwnHeaders(reach, url, unsignedBy(Object.keys(record.headers)));
  const { status } = await postExactly(
    { url: record.url, headers: record.headers, body },
    { timeoutMs: global.timeoutMs, reach },
  );
  const answer = { type: "replay", kind: "exact", status, eventId: record.eventId, url: record.url };
  if (status === 409 || (status >= 200 && status < 300))
    return verdict(context, { record, scheme }, status, answer);
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

/** 409 is the success of a replay; a second acceptance means that the listener ran the event twice. */
function verdict(
  { out }: Context,
  { record, scheme }: { record: Replayed; scheme: CliScheme | undefined },
  status: number,
  answer: Record<string, unknown>,
): number {
  const deduplicated = status === 409;
  const arrived = hadArrived(record, String(answer.url));
  const delivered = !deduplicated && arrived !== true;
  const alike = !deduplicated && !delivered && scheme?.answersCopiesAlike === true;
  out.document({ ...answer, ok: deduplicated || delivered || alike });
  if (deduplicated) {
    out.line(
      `${out.paint("green", "✔")} 409 duplicate   the listener had processed this event id; the automation did not run again`,
    );
    out.line("  409 is the success here: it is idempotency protection. Ids are remembered for 7 days.");
    return EXIT.ok;
  }
  if (delivered) {
    const before =
      arrived === undefined
        ? "whether it had arrived before, your history does not say"
        : "the event had not arrived before";
    out.line(`${out.paint("green", "✔")} ${status} accepted   ${before}`);
    return EXIT.ok;
  }
  if (alike) {
    out.line(
      `${out.paint("green", "✔")} ${status} again   a copy is answered as the event was; whether it ran again, only the listener's own log says`,
    );
    return EXIT.ok;
  }
  out.line(`${out.paint("red", "✖")} ${status} accepted again   the listener did not recognise the event id`);
  return EXIT.checkFailed;
}
