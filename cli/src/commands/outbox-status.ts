// The commands that show how an outbox stands and what was attempted.
import type { ListenerStats, OutboxAttempt, OutboxEntry } from "hookproof/outbox";
import type { OutboxStore } from "hookproof/outbox/store";
import type { Command, Context } from "../command.js";
import { nextStep } from "../config/next-step.js";
import { EXIT, usageError } from "../failure.js";
import { notInOutbox, OUTBOX_EXITS, OUTBOX_FLAGS, openOutbox } from "../outbox/open-outbox.js";
import { waitsBehindFields, waitsBehindWords } from "../outbox/waits-behind.js";
import { requireEventId } from "../outbox/whole-event-id.js";
import { seenWorkers, workerFields, workerRow } from "../outbox/worker-rows.js";
import { field, tableLines } from "../output.js";
import { exactTime, shownAge, shownTime, WAITED } from "../times.js";

export const outboxStatus: Command = {
  name: "outbox status",
  details: "Changes nothing. Workers and producers may run at the same time.",
  flags: {
    ...OUTBOX_FLAGS,
    watch: { type: "boolean", describe: "repeat it until it is interrupted" },
    every: {
      type: "duration",
      value: "<dur>",
      range: WAITED,
      default: "2s",
      describe: "how often, with --watch",
    },
  },
  examples: [
    ["hookproof outbox status --outbox app.db", "a SQLite file that another program fills"],
    [
      "hookproof outbox status --outbox postgres://db.internal/app --watch",
      "a database, shown again every 2 seconds",
    ],
    ["hookproof outbox status --json | jq '.listeners[] | select(.dead > 0)'", "for a script or an alarm"],
  ],
  exits: OUTBOX_EXITS,
  async run(context) {
    const { args, io } = context;
    const everyMs = args.durationMs("every") ?? 0;
    if (everyMs < 100) throw usageError("--every must be 100ms or more.");
    const { store, name, close } = await openOutbox(context);
    try {
      let drawn = 0;
      do {
        drawn = await show(context, store, name, drawn);
      } while (args.flag("watch") && (await waited(everyMs, io.stopSignal)));
    } finally {
      await close();
    }
    return EXIT.ok;
  },
};

/** Shows the state, on a terminal over the last one of `drawn` lines; returns how many lines it printed. */
async function show(
  { args, io, out }: Context,
  store: OutboxStore,
  outbox: string,
  drawn: number,
): Promise<number> {
  const [listeners, now, workers] = await Promise.all([store.stats(), store.now(), seenWorkers(store)]);
  out.document({
    type: "outbox",
    ok: true,
    outbox,
    at: new Date(now).toISOString(),
    listeners,
    ...(workers && { workers: workers.map(workerFields) }),
  });
  const rows = listeners.map(({ listener, pending, inFlight, delivered, dead, oldestAgeMs }) => [
    listener,
    pending,
    inFlight,
    delivered,
    dead,
    pending === 0 ? "" : shownAge(oldestAgeMs),
  ]);
  const lines =
    rows.length === 0
      ? ["The outbox is empty."]
      : tableLines(["listener", "pending", "in flight", "delivered", "dead", "oldest"], rows);
  if (!out.json && drawn > 0 && io.stdout.isTTY) io.stdout.write(`\u001b[${drawn}A\u001b[J`);
  lines.push(...listeners.flatMap((one) => holdLines(one, now)));
  if (workers && workers.length > 0)
    lines.push(...tableLines(["worker", "running since", "last seen"], workers.map(workerRow)));
  for (const line of lines) out.line(line);
  if (!args.flag("watch") && listeners.some(({ dead }) => dead > 0))
    out.note(`next: ${nextStep(args, "hookproof outbox dead")}      why they could not be delivered`);
  return lines.length;
}

/** Why nothing is delivered to a listener, or slowly. */
function holdLines(
  { listener, paused, unknownSince, restsUntil, slowedMs }: ListenerStats,
  now: number,
): string[] {
  const lines: string[] = [];
  if (paused) {
    const why = paused.reason === undefined ? "" : `: ${paused.reason}`;
    lines.push(`${listener}  paused since ${shownTime(paused.since)}${why}`);
  }
  if (unknownSince !== undefined)
    lines.push(
      `${listener}  unknown since ${shownTime(unknownSince)}: a worker's function of listeners does not have it`,
    );
  if (restsUntil !== undefined && restsUntil > now)
    lines.push(`${listener}  rests until ${shownTime(restsUntil)}, as it asked for (Retry-After)`);
  if (slowedMs !== undefined)
    lines.push(
      `${listener}  claims slowed for ${shownAge(slowedMs)}: a transaction holds its snapshot, or vacuum does not come by`,
    );
  return lines;
}

/** Whether the time passed without an interruption. */
function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const stop = () => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve(true);
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

export const outboxAttempts: Command = {
  name: "outbox attempts",
  positionals: [{ name: "id", required: true, describe: "an event id" }],
  flags: OUTBOX_FLAGS,
  examples: [
    ["hookproof outbox attempts 0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10 --outbox app.db", "one event's history"],
    [
      "hookproof outbox attempts 0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10 --json | jq '.entries[].state'",
      "whether it has arrived, for a script",
    ],
  ],
  exits: [...OUTBOX_EXITS, [3, "the outbox has no such event"]],
  async run(context) {
    const { args, out } = context;
    const id = (args.text("id") ?? "").toLowerCase();
    requireEventId(args, id);
    const { store, close } = await openOutbox(context);
    try {
      const entries = await store.find(id);
      if (entries.length === 0) throw notInOutbox(id);
      out.document({ type: "attempts", ok: true, eventId: id, entries: entries.map(shown) });
      for (const entry of entries) {
        out.line(`${entry.listener}  ${entry.state}${entry.outcome === "duplicate" ? ", duplicate" : ""}`);
        out.line(field("enqueued", exactTime(entry.enqueuedAt)));
        if (entry.orderingKey !== undefined) out.line(field("key", entry.orderingKey));
        if (entry.waitsBehind) out.line(field("blocked", waitsBehindWords(entry)));
        else if (entry.dueAt !== undefined) out.line(field("due", exactTime(entry.dueAt)));
        for (const attempt of entry.attempts)
          out.line(field(`attempt ${attempt.number}`, attemptLine(attempt)));
      }
    } finally {
      await close();
    }
    return EXIT.ok;
  },
};

function shown(given: OutboxEntry): Record<string, unknown> {
  const { id: _id, enqueuedAt, dueAt, firstAttemptAt, waitsBehind, ...entry } = given;
  return {
    ...entry,
    ...(waitsBehind && { waitsBehind: waitsBehindFields(given) }),
    enqueuedAt: exactTime(enqueuedAt),
    ...(dueAt === undefined ? {} : { dueAt: exactTime(dueAt) }),
    ...(firstAttemptAt === undefined ? {} : { firstAttemptAt: exactTime(firstAttemptAt) }),
  };
}

function attemptLine({ startedAt, durationMs, status, code, answer }: OutboxAttempt): string {
  const result = [status ?? "no answer", code].filter(Boolean).join(" ");
  return `${exactTime(startedAt)}  ${durationMs} ms  ${result}${answer ? `  ${answer}` : ""}`;
}
