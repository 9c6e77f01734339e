// The commands that list, pause, resume and cancel what waits in an outbox.
import type { OutboxEntry } from "hookproof/outbox";
import type { EventFilter, OutboxStore } from "hookproof/outbox/store";
import { type Args, type Command, type Context, ROWS_FLAG } from "../command.js";
import { nextStep } from "../config/next-step.js";
import { EXIT, usageError } from "../failure.js";
import { notInOutbox, OUTBOX_EXITS, OUTBOX_FLAGS, openOutbox } from "../outbox/open-outbox.js";
import { unknownListener, warnOfUnknown } from "../outbox/unknown-listener.js";
import { waitsBehindFields, waitsBehindWords } from "../outbox/waits-behind.js";
import { requireEventId } from "../outbox/whole-event-id.js";
import { countOf } from "../output.js";
import { wordOf } from "../shell-word.js";
import { confirm } from "../terminal/ask.js";
import { briefTime } from "../terminal/brief-time.js";
import { exactTime, shownTime } from "../times.js";

const MAX_REASON_LENGTH = 200;

const LISTENER_FLAG = {
  listener: { type: "string", value: "<name>", describe: "only this listener's" },
} as const;
const LISTENER = {
  name: "listener",
  required: true,
  describe: "a listener's name",
  completes: "profile",
} as const;

export const outboxList: Command = {
  name: "outbox list",
  details: "Those that were enqueued first. Shows no bodies, and changes nothing.",
  flags: { ...OUTBOX_FLAGS, ...LISTENER_FLAG, ...ROWS_FLAG },
  examples: [
    ["hookproof outbox list --outbox app.db", "the first 50 that are not delivered yet"],
    ["hookproof outbox list --listener offboarding --json | jq '.events[].dueAt'", "for a script"],
  ],
  exits: OUTBOX_EXITS,
  async run(context) {
    const { args, out, global } = context;
    const limit = args.number("limit") ?? 50;
    const { store, close } = await openOutbox(context);
    try {
      const events = await store.pending({ listener: args.text("listener") }, limit);
      out.document({ type: "pending", ok: true, events: events.map(shown) });
      const [first] = events;
      if (out.isTerminal && global.verbose === 0) {
        briefTable(out, events);
        if (first) out.note(`next: ${nextStep(args, `hookproof outbox attempts ${wordOf(first.id)}`)}`);
      } else wholeTable(out, events);
      if (!first) {
        out.note("No event waits.");
        await warnOfUnknown(context, store);
      }
      if (events.length === limit) out.note(`${limit} shown; there may be more: --limit <n>`);
    } finally {
      await close();
    }
    return EXIT.ok;
  },
};

/** All that is known, for a program, a file or a wide terminal. */
function wholeTable(out: Context["out"], events: readonly OutboxEntry[]): void {
  const hasKeys = hasOrder(events);
  const rows = events.map((event) => [
    event.dueAt === undefined ? event.state : shownTime(event.dueAt),
    event.id,
    event.listener,
    event.attempts.length,
    lastAnswer(event),
    ...(hasKeys ? [event.orderingKey ?? "", waitsBehindWords(event)] : []),
  ]);
  const titles = ["due", "event id", "listener", "attempts", "last answer"];
  out.table(hasKeys ? [...titles, "ordering key", "waits behind"] : titles, rows);
}

/** What fits a terminal of 80 columns: what an event waits behind stands in the place of its last answer. */
function briefTable(out: Context["out"], events: readonly OutboxEntry[]): void {
  const hasKeys = hasOrder(events);
  const rows = events.map((event) => [
    event.dueAt === undefined ? event.state : briefTime(event.dueAt),
    out.short(event.id),
    event.listener,
    event.attempts.length,
    ...(hasKeys ? [event.orderingKey ?? ""] : []),
    waitsBehindWords(event, out.short) || lastAnswer(event),
  ]);
  out.table(["due", "event", "listener", "attempts", ...(hasKeys ? ["key"] : []), "last answer"], rows);
}

const hasOrder = (events: readonly OutboxEntry[]) =>
  events.some(({ orderingKey }) => orderingKey !== undefined);

function shown(entry: OutboxEntry) {
  const { id, listener, state, enqueuedAt, dueAt, firstAttemptAt, attempts } = entry;
  return {
    eventId: id,
    listener,
    state,
    enqueuedAt: exactTime(enqueuedAt),
    dueAt: dueAt === undefined ? null : exactTime(dueAt),
    firstAttemptAt: firstAttemptAt === undefined ? null : exactTime(firstAttemptAt),
    orderingKey: entry.orderingKey ?? null,
    waitsBehind: waitsBehindFields(entry) ?? null,
    attempts,
  };
}

function lastAnswer({ attempts }: OutboxEntry): string {
  const last = attempts.at(-1);
  return last ? [last.status ?? "no answer", last.code, last.answer].filter(Boolean).join(" ") : "";
}

export const outboxPause: Command = {
  name: "outbox pause",
  details: "Every worker leaves it out from its next claim on; what is under way goes on. Its events wait.",
  positionals: [LISTENER],
  flags: {
    ...OUTBOX_FLAGS,
    reason: { type: "string", value: "<text>", describe: "why, for anyone who looks at outbox status" },
  },
  examples: [
    ["hookproof outbox pause offboarding --outbox app.db", "until it is resumed"],
    ['hookproof outbox pause offboarding --reason "their database moves, INC-4711"', "with the reason"],
  ],
  exits: OUTBOX_EXITS,
  async run(context) {
    const { args, out } = context;
    const listener = listenerOf(args);
    const reason = args.text("reason");
    if (reason !== undefined && !(isWritable(reason) && reason.length <= MAX_REASON_LENGTH))
      throw usageError(`--reason must be a text of 1 to ${MAX_REASON_LENGTH} characters.`);
    const { store, close } = await openOutbox(context);
    try {
      await store.pause(listener, reason);
      const stats = await store.stats();
      const { pending = 0, inFlight = 0 } = stats.find((one) => one.listener === listener) ?? {};
      out.document({ type: "pause", ok: true, listener, ...(reason && { reason }), pending, inFlight });
      out.line(`${listener}  paused, ${countOf(pending, "event")} waiting`);
      if (inFlight > 0) out.note(`${countOf(inFlight, "event")} under way: not stopped by the pause.`);
      if (pending + inFlight === 0)
        out.warn(
          unknownListener(
            listener,
            stats.map((one) => one.listener),
          ),
        );
      if (/^\w[\w.-]*$/.test(listener))
        out.note(`next: ${nextStep(args, `hookproof outbox resume ${listener}`)}`);
    } finally {
      await close();
    }
    return EXIT.ok;
  },
};

export const outboxResume: Command = {
  name: "outbox resume",
  positionals: [LISTENER],
  flags: OUTBOX_FLAGS,
  examples: [
    ["hookproof outbox resume offboarding --outbox app.db", "its events are due again at once"],
    ["hookproof outbox resume offboarding --json | jq .resumed", "whether it was paused, for a script"],
  ],
  exits: OUTBOX_EXITS,
  async run(context) {
    const { args, out } = context;
    const listener = listenerOf(args);
    const { store, close } = await openOutbox(context);
    try {
      // Counted first: a worker delivers them as soon as they may be.
      const { pending = 0 } = (await statsOf(store, listener)) ?? {};
      if (pending === 0) await warnOfUnknown(context, store);
      const resumed = await store.resume(listener);
      out.document({ type: "resume", ok: true, listener, resumed, pending });
      out.line(
        `${listener}  ${resumed ? "resumed" : "was not paused"}, ${countOf(pending, "event")} waiting`,
      );
    } finally {
      await close();
    }
    return EXIT.ok;
  },
};

export const outboxCancel: Command = {
  name: "outbox cancel",
  details:
    "Only those for which no attempt has begun. With an event id, asks if it waits for several listeners; without one, --listener is needed, and it always asks.",
  positionals: [{ name: "id", required: false, describe: "only this event" }],
  flags: {
    ...OUTBOX_FLAGS,
    ...LISTENER_FLAG,
    yes: { type: "boolean", describe: "do not ask" },
  },
  examples: [
    ["hookproof outbox cancel 0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10 --outbox app.db", "one event"],
    ["hookproof outbox cancel --listener offboarding --yes", "all that wait for it, without asking"],
  ],
  exits: [
    ...OUTBOX_EXITS,
    [7, "the event of this id was sent, or is being sent"],
    [130, "the answer was no"],
  ],
  async run(context) {
    const { args } = context;
    const id = args.text("id")?.toLowerCase();
    const listener = args.text("listener");
    if (id !== undefined) requireEventId(args, id);
    if (id === undefined && listener === undefined)
      throw usageError("Give an event id, or --listener <name> for all that wait for it.");
    const { store, close } = await openOutbox(context);
    try {
      return id === undefined
        ? await cancelListener(context, store, listener ?? "")
        : await cancelEvent(context, store, id, listener);
    } finally {
      await close();
    }
  },
};

async function cancelListener(context: Context, store: OutboxStore, listener: string): Promise<number> {
  const { out } = context;
  const { pending = 0 } = (await statsOf(store, listener)) ?? {};
  if (pending > 0) await confirmMany(context, pending, `for ${JSON.stringify(listener)}`);
  const { cancelled, tooLate } =
    pending > 0 ? await store.cancel({ listener }) : { cancelled: 0, tooLate: 0 };
  out.document({ type: "cancel", ok: true, cancelled, tooLate });
  out.line(`${countOf(cancelled, "event")} cancelled`);
  if (pending === 0) await warnOfUnknown(context, store);
  if (tooLate > 0)
    out.warn(`${countOf(tooLate, "event")} not cancelled, as an attempt has begun. Delivery goes on.`);
  return EXIT.ok;
}

async function cancelEvent(
  context: Context,
  store: OutboxStore,
  id: string,
  listener: string | undefined,
): Promise<number> {
  const { out } = context;
  const filter: EventFilter = { ids: [id], listener };
  const entries = async () =>
    (await store.find(id)).filter((entry) => listener === undefined || entry.listener === listener);
  const before = await entries();
  if (before.length === 0) throw notInOutbox(id, await store.find(id));
  const waiting = before.filter(({ state }) => state === "pending").length;
  if (waiting > 1) await confirmMany(context, waiting, `with the id ${id}, each for another listener`);
  const { cancelled } = await store.cancel(filter);
  const kept = (await entries()).filter(({ state }) => state !== "cancelled");
  out.document({ type: "cancel", ok: kept.length === 0, eventId: id, cancelled, tooLate: kept.length });
  out.line(`${countOf(cancelled, "event")} cancelled`);
  if (cancelled === 0 && kept.length === 0) out.note("It was cancelled before.");
  for (const entry of kept) out.warn(`${entry.listener}: not cancelled, ${whyNot(entry)}`);
  return kept.length === 0 ? EXIT.ok : EXIT.checkFailed;
}

function whyNot({ state }: OutboxEntry): string {
  if (state === "pending") return "as an attempt was made; it is tried again";
  return state === "in-flight"
    ? "as it is being sent"
    : `as it is ${state === "dead" ? "a dead letter" : state}`;
}

function confirmMany(context: Context, count: number, which: string): Promise<void> {
  return confirm(
    context,
    `Cancel up to ${countOf(count, "event")} ${which}? What is cancelled is never sent.`,
    `Up to ${countOf(count, "event")} ${which} would be cancelled, and never sent.`,
  );
}

async function statsOf(store: OutboxStore, listener: string) {
  return (await store.stats()).find((one) => one.listener === listener);
}

function listenerOf(args: Args): string {
  const listener = args.text("listener") ?? "";
  if (!isWritable(listener)) throw usageError(`${JSON.stringify(listener)} is no name of a listener.`);
  return listener;
}

/** Whether both databases can hold it. */
function isWritable(text: string): boolean {
  return text !== "" && text.isWellFormed() && !text.includes("\0");
}
