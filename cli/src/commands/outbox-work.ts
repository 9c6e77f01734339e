// The command that delivers the events of an outbox.
import type { Activity } from "hookproof";
import { createOutbox } from "hookproof/outbox";
import type { OutboxStore } from "hookproof/outbox/store";
import type { Command } from "../command.js";
import { CONNECTION_FLAGS, ORIGIN_FLAGS, REACH_FLAGS } from "../credentials/flags.js";
import { EXIT, usageError } from "../failure.js";
import { stopped } from "../io.js";
import { OUTBOX_EXITS, OUTBOX_FLAGS, openOutbox } from "../outbox/open-outbox.js";
import { profileListeners } from "../outbox/profile-listeners.js";
import type { WorkerHttp } from "../outbox/worker-http.js";
import { countOf, type Output } from "../output.js";
import { type Progress, startProgress } from "../terminal/progress.js";
import { shownAge } from "../times.js";

export const outboxWork: Command = {
  name: "outbox work",
  details:
    "Runs until it is interrupted. Every profile with a target is a listener under the profile's name. Any number of workers may run.",
  flags: {
    ...OUTBOX_FLAGS,
    listener: {
      type: "string",
      value: "<profile>",
      repeatable: true,
      describe: "deliver to this listener and to no other",
      completes: "profile",
    },
    concurrency: {
      type: "number",
      value: "<n>",
      range: [1, 1_000],
      default: 10,
      describe: "attempts at the same time for one listener",
    },
    worker: {
      type: "string",
      value: "<name>",
      describe: "what outbox status calls this worker; host and process by default",
    },
    ...ORIGIN_FLAGS,
    http: {
      type: "string",
      value: "<[host:]port>",
      describe: "serve /healthz, /readyz and /metrics; on 127.0.0.1 unless a host is given",
    },
    drain: { type: "boolean", describe: "deliver what is due now, then end" },
    ...CONNECTION_FLAGS,
    ...REACH_FLAGS,
  },
  examples: [
    ["hookproof outbox work --outbox app.db", "every profile's events"],
    [
      "hookproof outbox work --listener offboarding --json",
      "one listener, with a line of JSON for each delivery that ends",
    ],
    ["hookproof outbox work --http :9464 --json", "as a service: its health, its metrics, a log of JSON"],
    ["hookproof outbox work --drain", "once, from cron or after a repair"],
  ],
  exits: [
    ...OUTBOX_EXITS,
    [3, "a profile's target, secret or key is missing"],
    [130, "--drain was interrupted before its end"],
  ],
  async run(context) {
    const { args, io, out } = context;
    const worker = args.text("worker");
    if (worker?.trim() === "" || (worker?.length ?? 0) > 200)
      throw usageError("--worker must be a name of 1 to 200 characters.");
    const listeners = await profileListeners(context);
    const isChosen = args.isGiven("listener");
    const { store, name, close } = await openOutbox(context);
    const counts = { delivered: 0, duplicate: 0, dead: 0 };
    let http: WorkerHttp | undefined;
    let progress: Progress | undefined;
    let incomplete: string | undefined;
    try {
      http = await served(args.text("http"));
      const observe = (event: Activity) => {
        report(event);
        http?.observe(event);
      };
      const outbox = createOutbox({ store, listeners, observe, worker });
      const names = Object.keys(listeners);
      out.document({ type: "working", outbox: name, listeners: names, ...(http ? { http: http.url } : {}) });
      out.line(`${name}: delivering to ${names.join(", ")}`);
      if (http) out.line(`${http.url}/healthz, /readyz and /metrics`);
      if (http?.isOpen)
        out.warn(
          "Everybody who can reach this address can read the metrics: listeners' names and addresses.",
        );
      if (args.flag("drain")) {
        progress = startProgress(context, await waitingCount(store, names));
        await Promise.race([outbox.drain(), stopped(io.stopSignal)]);
      } else {
        outbox.start();
        await stopped(io.stopSignal);
      }
      http?.stopping();
      await outbox.stop();
      if (args.flag("drain") && io.stopSignal.aborted) incomplete = await undone(store, names);
    } finally {
      progress?.finish();
      await http?.close();
      await close();
    }
    return ended(out, counts, incomplete);

    function report(event: Activity): void {
      if (event.type === "delivery-ended") {
        counts[event.outcome] += 1;
        progress?.advance();
        reportEnd(out, event);
      } else if (event.type === "warning") {
        // With --listener it was told to leave the others to other workers.
        if (!(isChosen && event.listener !== undefined)) out.warn(event.message);
      } else if (event.type === "store-changed")
        out.warn(
          event.available
            ? "The outbox can be reached again."
            : `The outbox cannot be used: ${event.code}. Cause: ${event.reason ?? "unknown"}`,
        );
      else if (event.type === "breaker-changed")
        out.warn(`${event.listener}: the circuit breaker is ${event.state}.`);
      else if (event.type === "retry-scheduled")
        out.detail(
          1,
          `${event.eventId}  ${event.code}; attempt ${event.attempt} in ${shownAge(event.delayMs)}`,
        );
    }
  },
};

/** What a drain that was interrupted left; nothing where all of it was done even so. */
async function undone(store: OutboxStore, names: readonly string[]): Promise<string | undefined> {
  const left = await waitingCount(store, names).catch(() => undefined);
  if (left === 0) return undefined;
  return left === undefined ? "Interrupted." : `Interrupted with ${countOf(left, "event")} in the outbox.`;
}

/** The sum, however the work ended; a drain that was interrupted has not done what it was asked for. */
function ended(out: Output, counts: Readonly<Record<Ended["outcome"], number>>, incomplete?: string) {
  out.document({
    type: "worked",
    ok: incomplete === undefined,
    ...counts,
    ...(incomplete === undefined ? {} : { incomplete }),
  });
  out.note(
    `${counts.delivered} delivered, ${countOf(counts.duplicate, "duplicate")}, ${countOf(counts.dead, "dead letter")}`,
  );
  if (incomplete === undefined) return EXIT.ok;
  out.note(incomplete);
  return EXIT.interrupted;
}

/** How many events these listeners have before them. */
async function waitingCount(store: OutboxStore, listeners: readonly string[]): Promise<number> {
  const all = (await store.stats()).filter(({ listener }) => listeners.includes(listener));
  return all.reduce((sum, { pending, inFlight }) => sum + pending + inFlight, 0);
}

/** Prometheus' client is loaded for workers that serve alone. */
async function served(at: string | undefined): Promise<WorkerHttp | undefined> {
  if (at === undefined) return undefined;
  const { serveWorker } = await import("../outbox/worker-http.js");
  return serveWorker(at);
}

type Ended = Extract<Activity, { type: "delivery-ended" }>;

function reportEnd(out: Output, { eventId, listener, outcome, attempts, ageMs, code }: Ended): void {
  const ok = outcome !== "dead";
  out.document({
    type: "delivery",
    ok,
    eventId,
    listener,
    outcome,
    attempts,
    ageMs,
    ...(code ? { code } : {}),
  });
  const mark = ok ? out.paint("green", "✔") : out.paint("red", "✖");
  const how = attempts === 1 ? "" : `, attempt ${attempts}`;
  out.line(
    `${mark} ${out.short(eventId)}  ${listener}  ${outcome}${how}${code ? ` ${code}` : ""}  ${shownAge(ageMs)}`,
  );
}
