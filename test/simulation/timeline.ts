import type { Plan } from "./plan.js";
import { type Request, Story } from "./story.js";
import type { Trace } from "./trace.js";

const [LEFT, RIGHT, TOP, ROW, FOOT] = [104, 28, 74, 104, 62];
const BAR = 26;

const STYLE = `svg { --back: #fff; --ink: #1f2328; --dim: #59636e; --line: #d1d9e0; --bad: #c2281d; --good: #1a7f37; --stop: #9a6700; --a: #0969da; --b: #8250df; --c: #0f766e; --d: #bc4c00; }
@media (prefers-color-scheme: dark) { svg { --back: #0d1117; --ink: #f0f6fc; --dim: #9198a1; --line: #3d444d; --bad: #ff7b72; --good: #56d364; --stop: #e3b341; --a: #58a6ff; --b: #bc8cff; --c: #39d0bd; --d: #ffa657; } }
text { fill: var(--ink); font: 13px system-ui, sans-serif; stroke: var(--back); stroke-width: 3px; paint-order: stroke; } .dim { fill: var(--dim); font-size: 11px; } .mid { text-anchor: middle; }
.bad { fill: var(--bad); } .good { fill: var(--good); } .stop { fill: var(--stop); } .x { stroke: var(--bad); stroke-width: 2.5; fill: none; }
.a { --own: var(--a); } .b { --own: var(--b); } .c { --own: var(--c); } .d { --own: var(--d); }
.lease { fill: var(--own); opacity: .2; } .way { stroke: var(--own); stroke-width: 2; fill: none; } .back { stroke-dasharray: 4 4; }
.run { fill: var(--own); } .name { fill: var(--own); font-weight: 600; } .on { fill: var(--back); font-weight: 600; font-size: 11px; stroke: none; }
.known { fill: var(--back); stroke: var(--own); stroke-width: 1.5; }`;

/**
 * The timeline of a world as a picture: above the receiver with its runs, below a row for each worker with its leases,
 * and between them requests and answers. Time is drawn by its logarithm from one moment to the next, so that a
 * request of some milliseconds is seen beside a pause of many seconds.
 */
export function timeline(plan: Plan, trace: Trace): string {
  const story = new Story(plan, trace);
  const x = scaleOf(story.moments);
  const width = Math.ceil(x(Math.max(...story.moments)) + RIGHT + 40);
  const rows = ["receiver", ...story.machines];
  const y = (machine: string) => TOP + ROW * Math.max(0, rows.indexOf(machine));
  const height = TOP + ROW * (rows.length - 1) + FOOT + 50;
  const place = { x, y, end: width - RIGHT };
  const parts = [
    ...rows.map((row) => lane(row, place)),
    ...ticks(story.moments, place),
    ...story.pauses.map((one) => pause(one, place)),
    ...story.leases.map(({ machine, from, to, letter }) => {
      const [left, right] = [x(from) - 3, x(to) + 3];
      return `<rect class="lease ${tone(letter)}" x="${left}" y="${y(machine) - BAR / 2}" width="${Math.max(8, right - left)}" height="${BAR}" rx="5"/>`;
    }),
    ...story.requests.map((one, index) => request(one, labelY(index), place)),
    ...story.runs.map(
      ({ at, letter }) =>
        `<g class="${tone(letter)}"><circle class="run" cx="${x(at)}" cy="${y("receiver")}" r="10"/><text class="on mid" x="${x(at)}" y="${y("receiver") + 4}">${letter}</text></g>`,
    ),
    ...story.pauses.map(({ machine, from, to, what }) => {
      const middle = (x(from) + x(to)) / 2;
      return `<text class="stop mid" x="${middle}" y="${y(machine) + BAR / 2 + 22}" font-size="12">${what}</text>`;
    }),
    ...story.marks.map(({ at, machine, what, isBad }, index) => {
      const under = y(machine) + BAR / 2 + 15 + 14 * (index % 2);
      return `${isBad ? cross(x(at), y(machine)) : ""}<text class="${isBad ? "bad" : "good"} mid" x="${x(at)}" y="${under}" font-size="12">${what}</text>`;
    }),
    legend(height),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${story.title}">
<style>${STYLE}</style>
<defs><pattern id="stopped" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="3" height="8" style="fill: var(--stop)" opacity=".35"/></pattern></defs>
<rect width="${width}" height="${height}" style="fill: var(--back)"/>
<text x="16" y="26" font-weight="600">${story.title}</text>
${parts.filter((part) => part !== "").join("\n")}
</svg>
`;
}

interface Place {
  readonly x: (at: number) => number;
  readonly y: (machine: string) => number;
  readonly end: number;
}

const tone = (letter: string) => "abcd"[(letter.charCodeAt(0) - 65) % 4] ?? "a";
const seconds = (ms: number) => (ms / 1_000).toFixed(ms < 100_000 ? 2 : 0);

/** Where the moments are: further apart the longer the time between them, and never further than fits. */
function scaleOf(moments: readonly number[]): (at: number) => number {
  const places = new Map<number, number>();
  let [place, before] = [LEFT + 12, moments[0] ?? 0];
  for (const at of moments) {
    const gap = at - before;
    place += gap < 0.5 ? gap : 11 + 22 * Math.log10(1 + gap / 3);
    places.set(at, Math.round(place * 10) / 10);
    before = at;
  }
  return (at) => places.get(at) ?? place;
}

function lane(row: string, { y, end }: Place): string {
  const name = row === "receiver" ? "receiver" : `worker ${row.slice(1)}`;
  return `<path d="M${LEFT} ${y(row)}H${end}" style="stroke: var(--line)"/><text x="16" y="${y(row) + 4}">${name}</text>`;
}

/** The time of day at moments that have room for it. */
function ticks(moments: readonly number[], { x, y }: Place): string[] {
  let last = Number.NEGATIVE_INFINITY;
  return moments.flatMap((at) => {
    if (x(at) - last < 52) return [];
    last = x(at);
    return `<text class="dim mid" x="${x(at)}" y="${y("receiver") - 24}">${seconds(at)} s</text>`;
  });
}

function pause({ machine, from, to }: Story["pauses"][number], { x, y }: Place): string {
  const [left, top] = [x(from), y(machine) - BAR / 2 - 6];
  return `<rect x="${left}" y="${top}" width="${x(to) - left}" height="${BAR + 12}" rx="5" fill="url(#stopped)"/>`;
}

/** The way of a request to the receiver, and of its answer back. */
function request(
  { machine, letter, sentAt, arrivedAt, answer, told }: Request,
  label: number,
  { x, y }: Place,
): string {
  const [below, above] = [y(machine) - BAR / 2, y("receiver") + 11];
  const parts = [`<text class="name mid" x="${x(sentAt)}" y="${y(machine) + 5}">${letter}</text>`];
  if (arrivedAt === undefined) {
    const [toX, toY] = [x(sentAt) + 9, below - 30];
    parts.push(`<path class="way" d="M${x(sentAt)} ${below}L${toX} ${toY}"/>${cross(toX, toY)}`);
  } else parts.push(`<path class="way" d="M${x(sentAt)} ${below}L${x(arrivedAt)} ${above}"/>`);
  if (!answer) return group(letter, parts);
  if (answer.status === 409) {
    const ring = `<circle class="known" cx="${x(answer.at)}" cy="${y("receiver")}" r="9.5"/>`;
    parts.push(
      `${ring}<text class="name mid" x="${x(answer.at)}" y="${y("receiver") + 4}" font-size="11">${letter}</text>`,
    );
  }
  const isTold = told !== undefined && told.word === String(answer.status);
  const from = `M${x(answer.at)} ${above}`;
  const status = (at: number, text: string, kind: string) =>
    `<text class="${kind}" x="${at + 4}" y="${label}" font-size="11">${text}</text>`;
  if (isTold) {
    parts.push(`<path class="way back" d="${from}L${x(told.at)} ${below}"/>`);
    parts.push(
      status(x(answer.at), told.word, answer.status < 300 || answer.status === 409 ? "good" : "bad"),
    );
  } else {
    const [toX, toY] = [x(answer.at) + 7, above + 32];
    parts.push(`<path class="way back" d="${from}L${toX} ${toY}"/>${cross(toX, toY)}`);
    parts.push(status(toX + 4, `${answer.status}, lost`, "bad"));
  }
  return group(letter, parts);
}

/** Where the status of an answer is written: of neighbours at different heights. */
const labelY = (index: number) => TOP + 34 + 20 * (index % 2);

const group = (letter: string, parts: readonly string[]) =>
  `<g class="${tone(letter)}">${parts.join("")}</g>`;
const cross = (x: number, y: number) => `<path class="x" d="M${x} ${y}m-5 -5l10 10m-10 0l10 -10"/>`;

function legend(height: number): string {
  const y = height - 22;
  const items = [
    `<g class="a"><circle class="run" cx="8" cy="-4" r="7"/></g><text x="20" y="0" class="dim">runs</text>`,
    `<g class="a"><circle class="known" cx="64" cy="-4" r="7"/></g><text x="76" y="0" class="dim">is known: 409</text>`,
    `<g class="a"><rect class="lease" x="168" y="-12" width="26" height="16" rx="4"/></g><text x="200" y="0" class="dim">leased</text>`,
    `<g class="a"><path class="way" d="M254 -4h26"/></g><text x="286" y="0" class="dim">request</text>`,
    `<g class="a"><path class="way back" d="M346 -4h26"/></g><text x="378" y="0" class="dim">answer</text>`,
    `${cross(440, -4)}<text x="452" y="0" class="dim">lost, or too late</text>`,
    `<rect x="554" y="-12" width="26" height="16" rx="4" fill="url(#stopped)"/><text x="586" y="0" class="dim">stopped process</text>`,
    `<text x="690" y="0" class="dim">time is not to scale</text>`,
  ];
  return `<g transform="translate(16 ${y})">${items.join("")}</g>`;
}
