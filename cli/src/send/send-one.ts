import { createHash } from "node:crypto";
import {
  type Activity,
  createSender,
  type Receipt,
  type SenderOptions,
  signRequest,
  type WebhookEvent,
} from "hookproof";
import type { Context } from "../command.js";
import type { Target } from "../credentials/target.js";
import { CliError, EXIT } from "../failure.js";
import { remember } from "../history/history.js";
import type { HistoryRecord } from "../history/history-record.js";
import { countOf, field, type Output } from "../output.js";
import { signingClock } from "../times.js";
import { agentFor } from "./agent.js";
import { explainFailure } from "./explain-failure.js";
import { explainRefusal } from "./explain-refusal.js";

/** The sender's options as the flags have them. */
export async function senderOptions({ args, global, out }: Context, target: Target): Promise<SenderOptions> {
  const agent = await agentFor(target.url, { ca: args.text("ca"), insecure: args.flag("insecure") });
  return {
    url: target.url,
    signer: target.signer,
    agent,
    retry: { maxAttempts: 1 + (args.number("retries") ?? 0) },
    attemptTimeoutMs: global.timeoutMs,
    deadlineMs: Math.max(30_000, 3 * global.timeoutMs),
    clock: signingClock(args.text("timestamp")),
    observe: (event) => narrate(out, event),
  };
}

/** Sends one event, prints how it went, and remembers it for a replay. */
export async function sendOne(context: Context, target: Target, event: WebhookEvent): Promise<number> {
  const { args, io, out } = context;
  const sender = createSender(await senderOptions(context, target));
  const timestamp = Math.floor(signingClock(args.text("timestamp")).now() / 1000);
  const first = await signRequest({ url: target.url, signer: target.signer, event, timestamp });
  describeRequest(out, { ...target, eventId: event.id, timestamp, body: event.body });
  out.detail(
    1,
    Object.entries(first.headers)
      .map(([name, value]) => `> ${name}: ${name === "Authorization" ? "Bearer […]" : value}`)
      .join("\n"),
  );
  if (target.method === "hmac")
    out.detail(2, `canonical  ${timestamp}.${event.id}.${Buffer.from(event.body).toString("utf8")}`);

  const started = performance.now();
  const answer = {
    type: "send",
    eventId: event.id,
    timestamp,
    method: target.method,
    url: target.url,
    bodyBytes: event.body.length,
  };
  const record: Omit<HistoryRecord, "outcome"> = {
    v: 1,
    at: Date.now(),
    eventId: event.id,
    url: target.url,
    method: target.method,
    headers: first.headers,
    bodyBase64: Buffer.from(event.body).toString("base64"),
    credential: target.credential,
  };
  try {
    const receipt = await sender.send(event, {
      signal: io.stopSignal,
    });
    const durationMs = Math.round(performance.now() - started);
    await remember(io, out, [{ ...record, status: receipt.status, outcome: receipt.outcome }]);
    const exit = exitFor(context, receipt);
    const { outcome, status, attempts } = receipt;
    out.document({ ...answer, ok: exit === EXIT.ok, outcome, status, attempts: attempts.length, durationMs });
    out.line(`${out.paint("green", "✔")} ${inWords(receipt)}   ${durationMs} ms`);
    if (receipt.outcome === "accepted")
      out.note("next: hookproof replay last      send the same event id again and see 409");
    return exit;
  } catch (error) {
    const failure = explainFailure(error);
    await remember(io, out, [{ ...record, ...statusOf(failure.answer), outcome: failure.code }]);
    const expected = args.number("expect");
    const { status, attempts } = failure.answer;
    if (expected !== undefined && status === expected) {
      out.document({
        ...answer,
        ok: true,
        outcome: "refused",
        status,
        attempts,
        durationMs: Math.round(performance.now() - started),
      });
      out.line(`${out.paint("green", "✔")} ${status} as expected`);
      return EXIT.ok;
    }
    const {
      exit,
      code,
      message,
      hint,
      next,
      answer: known,
    } = await explainRefusal(context, target, first, failure);
    throw new CliError(expected === undefined ? exit : EXIT.checkFailed, code, message, {
      hint,
      next,
      answer: { ...answer, ...known },
    });
  }
}

function statusOf(answer: Readonly<Record<string, unknown>>): { status?: number } {
  return typeof answer.status === "number" ? { status: answer.status } : {};
}

function exitFor({ args, out }: Context, receipt: Receipt): number {
  const expected = args.number("expect");
  if (expected !== undefined && receipt.status !== expected) {
    out.warn(`Expected ${expected}, got ${receipt.status}.`);
    return EXIT.checkFailed;
  }
  return receipt.outcome === "duplicate" && args.flag("fail-on-duplicate") ? EXIT.duplicate : EXIT.ok;
}

function inWords({ status, outcome, attempts }: Receipt): string {
  if (outcome === "duplicate")
    return `${status} duplicate: this event id was used before; the automation did not run again`;
  if (status === 409)
    return `${status} delivered by an earlier attempt (${countOf(attempts.length, "attempt")})`;
  return `${status} accepted, automation triggered${attempts.length > 1 ? ` (${countOf(attempts.length, "attempt")})` : ""}`;
}

/** Writes what happens during a delivery to stderr. */
function narrate(out: Context["out"], event: Activity): void {
  if (event.type === "warning") out.warn(event.message);
  if (event.type === "clock-corrected") {
    const seconds = Math.abs(Math.round(event.offsetMs / 1000));
    const side = event.offsetMs > 0 ? "ahead of" : "behind";
    out.warn(
      `The listener's clock is ${seconds} s ${side} the signed time; the event was signed again with the listener's time.`,
    );
  }
  if (event.type === "secret-switched" && event.promoted) {
    out.warn(`The listener accepts secret ${event.secretIndex + 1} of the given secrets.`);
  }
  if (event.type === "retry-scheduled") {
    out.note(
      `attempt ${event.attempt - 1} failed (${event.code}); the next in ${(event.delayMs / 1000).toFixed(1)} s`,
    );
  }
  if (event.type === "attempt-ended") {
    out.detail(1, `< attempt ${event.attempt}: ${event.status ?? event.code} in ${event.durationMs} ms`);
  }
}

/** A request to a listener, as far as a summary shows it. */
interface RequestSummary {
  readonly url: string;
  readonly proof: string;
  readonly eventId: string;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly body: Uint8Array;
}

/** Prints what is sent; every command that sends prints it this way. */
export function describeRequest(out: Output, { url, proof, eventId, timestamp, body }: RequestSummary): void {
  const digest = createHash("sha256").update(body).digest("hex").slice(0, 8);
  out.line(`POST ${url}`);
  out.line(field("method", proof));
  out.line(field("event id", eventId));
  out.line(field("timestamp", `${timestamp}  ${isoSeconds(timestamp)}`));
  out.line(field("body", `${countOf(body.length, "byte")}    sha256:${digest}…`));
}

function isoSeconds(timestamp: number): string {
  return new Date(timestamp * 1000).toISOString().replace(".000Z", "Z");
}
