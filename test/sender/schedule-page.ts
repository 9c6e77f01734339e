import { svgOf } from "../../bench/plot.mjs";
import { DEFAULT_RETRY_POLICY, nextAttempt } from "../../src/sender/retry-policy.js";
import { markdownTable } from "../kit/markdown.js";

/** An outbox tries until the window closes; the number of attempts is open. */
const POLICY = { ...DEFAULT_RETRY_POLICY, maxAttempts: Number.MAX_SAFE_INTEGER };
const ALMOST_1 = 1 - Number.EPSILON;
/** Attempts that the table names; after them each comes an hour after the one before, or up to an hour and a half. */
const SHOWN = 14;

/** When each attempt begins, in milliseconds after the first, if every answer comes at once. */
function schedule(random: number): number[] {
  const times = [0];
  for (;;) {
    const next = nextAttempt(
      POLICY,
      { attempts: times.length, firstAttemptAt: 0 },
      { now: times.at(-1) ?? 0, random },
    );
    if (next.at === undefined) return times;
    times.push(next.at);
  }
}

const earliest = schedule(0);
const latest = schedule(ALMOST_1);

/** docs/guides/retry-schedule.md, made of the policy of the code. */
export function schedulePage(): string {
  const rows = earliest.slice(0, SHOWN).map((at, index) => {
    const last = latest[index] ?? 0;
    return [String(index + 1), duration(at), duration(last)];
  });
  const lastRow = (times: number[]) => duration(times.at(-1) ?? 0);
  return `# The retry schedule

When a temporary failure is tried again: a time-out, a broken connection, 408, 425, 429 or 5xx ([what each answer means](retries.md#what-each-answer-means)). The table is made from the policy in the code.

\`send\` makes the first three attempts and gives up after 30 seconds; change that with \`retry\` and \`deadlineMs\`. An [outbox](outbox.md) goes on until the event's window closes, 6 days and 23 hours after the first attempt: the receiver remembers an event id for seven days, and a later attempt could run the automation twice.

Each wait is twice as long as the one before, at most an hour, and up to half of itself is added at random, so that many events do not come back in the same second. So an attempt begins between these two times after the first one, if every answer comes at once:

${markdownTable([["attempt", "at the earliest", "at the latest"], ...rows]).join("\n")}

From then on an hour to an hour and a half passes between two attempts. With the shortest waits the last one is attempt ${earliest.length}, after ${lastRow(earliest)}; with the longest it is attempt ${latest.length}, after ${lastRow(latest)}.

![When each attempt begins after the first one, at the earliest and at the latest](../images/retry-schedule.svg)

## What makes a wait longer

- **\`Retry-After\`**, in seconds or as a date, up to 24 hours. It is never made shorter than the schedule. In an outbox a 429 or 503 with \`Retry-After\` gives the listener a rest: no event goes to it before, from any worker.
- **The circuit breaker** of an outbox: while it is open, nothing is sent to that listener, and attempts are not counted ([operating](outbox-operating.md#what-happens-by-itself)).
- **A pause** of the listener, its \`rate\` and its \`concurrency\`.
- **An attempt that gets no answer** ends after 10 seconds; the wait begins then.

## Change it

\`\`\`ts
import { hmacSigner } from "hookproof";
import { createOutbox, memoryStore } from "hookproof/outbox";

export const outbox = createOutbox({
  store: memoryStore(),
  listeners: {
    offboarding: {
      url: "https://tenant.example.com/api/v1/webhooks/incoming/lst_offboarding",
      signer: hmacSigner({ secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" }),
      retry: {
        firstDelayMs: 5_000,
        maxDelayMs: 15 * 60_000, // at most a quarter of an hour
        maxAttempts: 100, // then it is a dead letter
      },
    },
  },
});
\`\`\`

\`windowMs\` can be shorter than the default and at most seven days. \`maxRetryAfterMs\` is the longest wait that a \`Retry-After\` can ask for, 24 hours by default; a longer one is cut to it. \`createSender\` takes the same fields as \`retry\`.
`;
}

/** The picture of the schedule. */
export function schedulePicture(): string {
  const inSeconds = (times: number[]) =>
    times.slice(1, SHOWN + 6).map((at, index): [number, number] => [index + 2, at / 1_000]);
  return svgOf({
    question: "When each attempt begins after the first one",
    x: { label: "attempt" },
    y: { label: "seconds after the first attempt", log: true },
    series: { "at the earliest": inSeconds(earliest), "at the latest": inSeconds(latest) },
  });
}

/** Such as `2 h 8 min`: the two greatest units. */
function duration(ms: number): string {
  if (ms === 0) return "0 s";
  const parts: string[] = [];
  let rest = ms;
  for (const [unit, length] of [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["min", 60_000],
    ["s", 1_000],
    ["ms", 1],
  ] as const) {
    const count = Math.floor(rest / length);
    rest -= count * length;
    if (count > 0) parts.push(`${count} ${unit}`);
  }
  return parts.slice(0, 2).join(" ");
}
