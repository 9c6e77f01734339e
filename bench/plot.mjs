// A line plot as SVG: axes with units, a logarithm where asked for, legible in light and dark.
import { amount } from "./reporting.mjs";

const WIDTH = 720;
const PLOT = { left: 76, right: 672, bottom: 330 };
const COLORS = 6;

const STYLE = `
  .page { fill: #ffffff } text { fill: #1f2328; font: 13px system-ui, sans-serif }
  .grid { stroke: #d1d9e0 } .axis { stroke: #59636e } .line { fill: none; stroke-width: 2 }
  .c0 { --c: #0969da } .c1 { --c: #bc4c00 } .c2 { --c: #1a7f37 } .c3 { --c: #8250df } .c4 { --c: #bf3989 } .c5 { --c: #59636e }
  .line { stroke: var(--c) } .dot { fill: var(--c) }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117 } text { fill: #f0f6fc } .grid { stroke: #30363d } .axis { stroke: #9198a1 }
    .c0 { --c: #4493f8 } .c1 { --c: #f0883e } .c2 { --c: #3fb950 } .c3 { --c: #ab7df8 } .c4 { --c: #db61a2 } .c5 { --c: #9198a1 }
  }`;

/**
 * @param {{ question: string, x: {label: string, log?: boolean}, y: {label: string, log?: boolean},
 *   series: Record<string, [number, number][]> }} plot
 */
export function svgOf({ question, x, y, series }) {
  const names = Object.keys(series);
  const points = Object.values(series).flat();
  const top = 54 + Math.ceil(names.length / 2) * 20;
  const across = scale(
    x,
    points.map(([value]) => value),
    PLOT.left,
    PLOT.right,
  );
  const up = scale(
    y,
    points.map(([, value]) => value),
    PLOT.bottom,
    top,
  );
  const legend = names.map((name, n) => {
    const [left, line] = [PLOT.left + (n % 2) * 320, 52 + Math.floor(n / 2) * 20];
    return `<g class="c${n % COLORS}"><circle class="dot" cx="${left + 5}" cy="${line - 4}" r="4"/><text x="${left + 16}" y="${line}">${escaped(name)}</text></g>`;
  });
  const grid = [
    ...across.ticks.map((value) => {
      const at = across.at(value);
      return `<line class="grid" x1="${at}" x2="${at}" y1="${top}" y2="${PLOT.bottom}"/><text x="${at}" y="${PLOT.bottom + 18}" text-anchor="middle">${amount(value)}</text>`;
    }),
    ...up.ticks.map((value) => {
      const at = up.at(value);
      return `<line class="grid" x1="${PLOT.left}" x2="${PLOT.right}" y1="${at}" y2="${at}"/><text x="${PLOT.left - 8}" y="${at + 4}" text-anchor="end">${amount(value)}</text>`;
    }),
  ];
  const lines = Object.values(series).map((all, n) => {
    const placed = all.map(([a, b]) => [across.at(a), up.at(b)]);
    const dots = placed.map(([a, b]) => `<circle class="dot" cx="${a}" cy="${b}" r="3"/>`).join("");
    return `<g class="c${n % COLORS}"><polyline class="line" points="${placed.join(" ")}"/>${dots}</g>`;
  });
  const height = PLOT.bottom + 48;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(question)}">
<style>${STYLE}
</style>
<rect class="page" width="${WIDTH}" height="${height}" rx="6"/>
<text x="${PLOT.left}" y="26" style="font-weight: 600">${escaped(question)}</text>
${legend.join("\n")}
${grid.join("\n")}
<path class="axis" fill="none" d="M${PLOT.left} ${top}V${PLOT.bottom}H${PLOT.right}"/>
<text x="${(PLOT.left + PLOT.right) / 2}" y="${PLOT.bottom + 38}" text-anchor="middle">${escaped(axisTitle(x))}</text>
<text transform="translate(18 ${(top + PLOT.bottom) / 2}) rotate(-90)" text-anchor="middle">${escaped(axisTitle(y))}</text>
${lines.join("\n")}
</svg>
`;
}

function axisTitle({ label, log }) {
  return log ? `${label} (logarithmic)` : label;
}

/** Where a value lies between two edges, and the values that get a line: powers of ten, or steps of 1, 2 or 5. */
function scale({ log }, values, from, to) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const ticks = log ? powersAround(low, high) : stepsUpTo(high);
  const position = log ? Math.log10 : (value) => value;
  const [first, last] = [position(ticks[0]), position(ticks.at(-1))];
  const at = (value) =>
    Math.round((from + ((position(value) - first) / (last - first)) * (to - from)) * 10) / 10;
  return { ticks, at };
}

function powersAround(low, high) {
  const first = Math.floor(Math.log10(low));
  const last = Math.max(first + 1, Math.ceil(Math.log10(high)));
  return Array.from({ length: last - first + 1 }, (_, n) => 10 ** (first + n));
}

function stepsUpTo(high) {
  const raw = high / 5;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= raw) ?? 10);
  return Array.from({ length: Math.ceil(high / step) + 1 }, (_, n) => n * step);
}

/** Text between the tags and in the attributes of an SVG. */
export function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
