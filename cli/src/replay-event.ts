import { createEvent, createSender } from "hookproof";
import type { Context } from "./command.js";
import { describeRequest } from "./describe-request.js";
import { CliError, EXIT, usageError } from "./failure.js";
import { remember } from "./history.js";
import { type CredentialReference, hasArrived, type RecordedRequest } from "./history-record.js";
import { postExactly } from "./post-exactly.js";
import { senderOptions } from "./send-one.js";
import { resolveTarget, type Target } from "./target.js";

/** A recorded request, from the history or from a file. */
export type Replayed = RecordedRequest & {
  readonly credential?: CredentialReference;
  /** A file gives id and bytes; where it says they went is believed only when it is asked for. */
  readonly source: "history" | "export";
};

/** Where an event goes again, and what proves it. */
export function replayTarget(context: Context, record: Replayed): Promise<Target> {
  const believesUrl = record.source === "history" || context.args.flag("to-recorded-url");
  if (
    !believesUrl &&
    context.args.text("target") === undefined &&
    context.config.text("target") === undefined
  )
    throw usageError(
      "The target is missing: an event of a file gives its id and bytes only.",
      `Give --target <url|:port|profile>. The file says ${record.url}: --to-recorded-url sends it there.`,
    );
  return resolveTarget(context, believesUrl ? record : undefined);
}

/** Sends an event again, signed anew with the same id and bytes; gives the exit code. */
export async function replaySameId(context: Context, record: Replayed): Promise<number> {
  const { out, io } = context;
  const body = Buffer.from(record.bodyBase64, "base64");
  const target = await replayTarget(context, record);
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
  if (!hasArrived(record)) {
    const { credential } = target;
    const { source: _source, ...kept } = record;
    await remember(io, out, [
      { ...kept, v: 1, at: Date.now(), url: target.url, status, outcome, credential },
    ]);
  }
  return verdict(context, record, status, answer);
}

/** Sends the recorded headers and bytes to the letter; gives the exit code. */
export async function replayExactly(context: Context, record: Replayed): Promise<number> {
  const { out, global, args } = context;
  out.line(`POST ${record.url}  (the recorded request to the letter)`);
  const body = Buffer.from(record.bodyBase64, "base64");
  const status = await postExactly(
    { url: record.url, headers: record.headers, body },
    { timeoutMs: global.timeoutMs, ca: args.text("ca"), insecure: args.flag("insecure") },
  );
  const answer = { type: "replay", kind: "exact", status, eventId: record.eventId, url: record.url };
  if (status === 409 || (status >= 200 && status < 300)) return verdict(context, record, status, answer);
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

/** 409 is what a replay wants to see; a second acceptance means that the listener ran the event twice. */
function verdict(
  { out }: Context,
  record: Replayed,
  status: number,
  answer: Record<string, unknown>,
): number {
  const deduplicated = status === 409;
  const delivered = !deduplicated && !hasArrived(record);
  out.document({ ...answer, ok: deduplicated || delivered });
  if (deduplicated) {
    out.line(
      `${out.paint("green", "✔")} 409 duplicate   the listener had processed this event id; the automation did not run again`,
    );
    out.line("  This is idempotency protection, not a failure. Ids are remembered for 7 days.");
    return EXIT.ok;
  }
  if (delivered) {
    out.line(`${out.paint("green", "✔")} ${status} accepted   the event had not arrived before`);
    return EXIT.ok;
  }
  out.line(`${out.paint("red", "✖")} ${status} accepted again   the listener did not recognise the event id`);
  return EXIT.checkFailed;
}
