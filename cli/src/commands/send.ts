import {
  createEvent,
  createSender,
  type Receipt,
  type SenderEvent,
  type SenderOptions,
  signRequest,
  type WebhookEvent,
} from "hookproof";
import { agentFor } from "../agent.js";
import type { Command, Context } from "../command.js";
import { curlCommand } from "../curl.js";
import { describeRequest } from "../describe-request.js";
import { explainFailure } from "../explain-failure.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { type HistoryRecord, remember } from "../history.js";
import { payloadOf } from "../payload.js";
import { sendBatch } from "../send-batch.js";
import { signingClock } from "../signing-clock.js";
import {
  CONNECTION_FLAGS,
  CREDENTIAL_FLAGS,
  resolveTarget,
  TARGET_POSITIONAL,
  type Target,
} from "../target.js";

export const send: Command = {
  name: "send",
  describe: "Signs one event and sends it; the same id and bytes at every attempt.",
  positionals: [TARGET_POSITIONAL],
  flags: {
    data: {
      type: "string",
      alias: "d",
      value: "<json|@file|->",
      describe: "the body: JSON text, a file, or standard input",
    },
    "event-id": { type: "string", value: "<uuid>", describe: "an id of your own (UUID v4)" },
    timestamp: { type: "string", value: "<unix|+10m|-6m>", describe: "sign as if it were that time" },
    batch: { type: "boolean", describe: "each line of the data is an event (JSON Lines)" },
    concurrency: {
      type: "number",
      value: "<n>",
      default: 8,
      describe: "events under way at once in a batch",
    },
    retries: {
      type: "number",
      value: "<n>",
      default: 2,
      describe: "attempts after the first; 0 is one attempt",
    },
    "dry-run": { type: "boolean", describe: "print the whole request and send nothing" },
    curl: { type: "boolean", describe: "print the request as a curl command and send nothing" },
    expect: { type: "number", value: "<status>", describe: "fail (exit 7) on any other status" },
    "fail-on-duplicate": { type: "boolean", describe: "exit 9 when the id was used before" },
    ...CREDENTIAL_FLAGS,
    ...CONNECTION_FLAGS,
  },
  examples: [
    [`hookproof send :4400 --data '{"type":"user.offboarded"}'`, "to the local listener on port 4400"],
    [
      "hookproof send https://tenant.example.com/api/v1/webhooks/incoming/lst_1 --secret-file secret.txt -d @event.json",
      "to a listener elsewhere",
    ],
  ],
  exits: [
    [3, "secret or key missing"],
    [4, "refused for good"],
    [5, "answered 5xx"],
    [6, "no answer"],
    [7, "--expect not met"],
    [9, "duplicate, with --fail-on-duplicate"],
    [130, "interrupted"],
  ],
  async run(context) {
    const { args, io } = context;
    const data = args.text("data");
    if (data === undefined) throw usageError("--data is missing.", "hookproof send :4400 --data '{\"a\":1}'");
    if (data === "-" && args.texts("secret-file").includes("-"))
      throw usageError("Only one of --data and --secret-file can be standard input.");
    const target = await resolveTarget(context);
    if (args.flag("batch")) return sendBatch(context, target, await senderOptions(context, target), data);
    const event = createEvent(await payloadOf(io, data), { eventId: args.text("event-id") });
    if (args.flag("dry-run") || args.flag("curl")) return printRequest(context, target, event);
    return sendOne(context, target, event);
  },
};

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
    throw new CliError(
      expected === undefined ? failure.exit : EXIT.checkFailed,
      failure.code,
      failure.message,
      {
        hint: failure.hint,
        answer: { ...answer, ...failure.answer },
      },
    );
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
  if (status === 409) return `${status} delivered by an earlier attempt (${attempts.length} attempts)`;
  return `${status} accepted, automation triggered${attempts.length > 1 ? ` (${attempts.length} attempts)` : ""}`;
}

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
    out.line(curl);
    return EXIT.ok;
  }
  out.line(`POST ${url}`);
  for (const [name, value] of Object.entries(headers)) out.line(`${name}: ${value}`);
  out.line(`Content-Length: ${body.length}`);
  out.line();
  out.line(Buffer.from(body).toString("utf8"));
  return EXIT.ok;
}

/** Tells on stderr what a person would want to know while it happens. */
function narrate(out: Context["out"], event: SenderEvent): void {
  if (event.type === "warning") out.warn(event.message);
  if (event.type === "clock-corrected") {
    const seconds = Math.abs(Math.round(event.offsetMs / 1000));
    const side = event.offsetMs > 0 ? "ahead of" : "behind";
    out.warn(
      `The receiver's clock is ${seconds} s ${side} the time that was signed; the event was signed again with its time.`,
    );
  }
  if (event.type === "secret-switched" && event.promoted) {
    out.warn(`Secret ${event.candidate + 1} of those given is the one the listener takes.`);
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
