import type { OutboxStore } from "hookproof/outbox";
import type { Command, Context } from "../command.js";
import { EXIT, usageError } from "../failure.js";
import { OUTBOX_EXITS, OUTBOX_FLAGS, openOutbox } from "../outbox/open-outbox.js";
import { shownAge } from "../outbox/shown-age.js";
import { tableLines } from "../table.js";

export const outboxStatus: Command = {
  name: "outbox status",
  describe:
    "What an outbox holds for each listener. Changes nothing, and may run beside workers and producers.",
  flags: {
    ...OUTBOX_FLAGS,
    watch: { type: "boolean", describe: "again and again, until it is interrupted" },
    every: { type: "duration", value: "<dur>", default: "2s", describe: "how often, with --watch" },
  },
  examples: [
    ["hookproof outbox status --outbox app.db", "a SQLite file that another program fills"],
    ["hookproof outbox status --outbox postgres://db.internal/app --watch", "a database, as it goes"],
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

/** Shows the state, on a terminal in place of what was drawn before; gives how many lines it took. */
async function show(
  { args, io, out }: Context,
  store: OutboxStore,
  outbox: string,
  drawn: number,
): Promise<number> {
  const [stats, now] = await Promise.all([store.stats(), store.now()]);
  const listeners = stats.map(({ oldestEnqueuedAt, ...counts }) => ({
    ...counts,
    oldestAgeMs: oldestEnqueuedAt === undefined ? 0 : Math.max(0, now - oldestEnqueuedAt),
  }));
  out.document({ type: "outbox", ok: true, outbox, at: new Date(now).toISOString(), listeners });
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
  for (const line of lines) out.line(line);
  if (!args.flag("watch") && listeners.some(({ dead }) => dead > 0))
    out.note("next: hookproof outbox dead      why they were given up");
  return lines.length;
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
