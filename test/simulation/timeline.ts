import type { Plan } from "./plan.js";
import type { Trace, TraceLine } from "./trace.js";

const [WIDTH, LEFT, ROW, TOP] = [1_000, 110, 46, 60];
const COLORS = { good: "#2f7d4f", bad: "#b3402e", dim: "#8a8a8a", run: "#2457a6" };

/**
 * The timeline of a world as a picture: a row for each worker and one for the receiver; a line from a request's sending
 * to what its worker was told, a dot for each run, a cross for each crash, a bar for each pause.
 */
export function timeline(plan: Plan, { lines }: Trace): string {
  const shown = lines.filter(({ what }) =>
    /^(sends|is told|runs|crashes|starts|is stopped for|is healed)/.test(what),
  );
  const machines = plan.workers.map((_, index) => `w${index + 1}`);
  const rows = ["receiver", ...machines];
  const end = Math.max(1, ...shown.filter(({ what }) => what !== "starts").map(({ at }) => at));
  const x = (at: number) => (LEFT + (at / end) * (WIDTH - LEFT - 20)).toFixed(1);
  const y = (owner: string) => TOP + ROW * Math.max(0, rows.indexOf(owner.replace(/\..*/, "")));
  const height = TOP + ROW * rows.length;
  const parts = rows.map(
    (row) =>
      `<text x="10" y="${y(row) + 4}">${row}</text><path d="M${LEFT} ${y(row)}H${WIDTH - 20}" stroke="#d5d5d5"/>`,
  );
  for (const [index, line] of shown.entries()) parts.push(mark(line, shown.slice(index + 1), x, y));
  const ticks = Array.from({ length: 6 }, (_, tick) => (end * tick) / 5).map(
    (at) => `<text x="${x(at)}" y="30" text-anchor="middle">${(at / 1000).toFixed(1)} s</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="13">
<title>Seed ${plan.seed} of the ${plan.store} store</title>
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
${[...ticks, ...parts].filter((part) => part !== "").join("\n")}
</svg>
`;
}

function mark(
  { at, owner, what, words }: TraceLine,
  later: readonly TraceLine[],
  x: (at: number) => string,
  y: (owner: string) => number,
): string {
  const [listener, id, status] = words;
  const isSame = (one: TraceLine) => one.words[0] === listener && one.words[1] === id;
  if (what === "runs")
    return `<circle cx="${x(at)}" cy="${y("receiver")}" r="4" fill="${COLORS.run}"><title>${listener} ${id} runs</title></circle>`;
  if (what === "crashes")
    return `<path d="M${x(at)} ${y(owner)}m-6-6l12 12m-12 0l12-12" stroke="${COLORS.bad}" stroke-width="3"/>`;
  if (what === "is stopped for") {
    const until = x(at + Number(words[0]));
    return `<path d="M${x(at)} ${y(owner)}H${until}" stroke="#e0a63a" stroke-width="8" opacity=".6"/>`;
  }
  if (what === "is told") {
    const color = status === 200 || status === 409 ? COLORS.good : COLORS.bad;
    return `<circle cx="${x(at)}" cy="${y(owner)}" r="3" fill="${color}"/><text x="${x(at)}" y="${y(owner) + 18}" font-size="9" fill="${color}" text-anchor="middle">${status}</text>`;
  }
  if (what === "is healed")
    return `<path d="M${x(at)} 38V${y("w9") + 400}" stroke="${COLORS.dim}" stroke-dasharray="4"/>`;
  if (what !== "sends") return "";
  const told = later.find((one) => one.what === "is told" && one.owner === owner && isSame(one));
  const color = told ? COLORS.dim : COLORS.bad;
  const words2 = status === undefined ? "" : `: ${status}`;
  const arrival = later.find((one) => one.what === "runs" && isSame(one));
  const arrow =
    arrival && (!told || arrival.at <= told.at)
      ? `<path d="M${x(at)} ${y(owner)}L${x(arrival.at)} ${y("receiver")}" stroke="${COLORS.run}" opacity=".5"/>`
      : "";
  const until = told ? `H${x(told.at)}` : "h14";
  return `${arrow}<path d="M${x(at)} ${y(owner)}${until}" stroke="${color}" stroke-width="3"><title>${owner} sends ${listener} ${id}${words2}</title></path>`;
}
